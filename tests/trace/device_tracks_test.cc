#include "trace/device_tracks.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tbtrace/trace.h>

#include "fixtures/chrome_text.h"
#include "fixtures/read_text.h"

namespace tbtrace {
namespace {

using fixtures::ChromeEvent;
using fixtures::in_quotes;
using fixtures::op;

TrackNames named(std::string_view process, std::string_view thread = {},
                 std::string_view process_id = {}) {
  return {process_id, process, thread};
}

TrackContent content(const TrackNames& names, Writer writer = Writer::unknown) {
  return place_of(names, writer).content;
}

TEST(DeviceTracks, AreKnownByTheNamesOfTheirWriters) {
  EXPECT_EQ(content(named("", "", "CUDA functions")), TrackContent::nested_work)
      << "torch.autograd.profiler up to torch 1.12";
  EXPECT_EQ(content(named("/device:GPU:0", "Stream #13(Kernel)")), TrackContent::work);
  EXPECT_EQ(content(named("/device:GPU:0")), TrackContent::work);
  for (const std::string_view line :
       {"Steps", "XLA Modules", "XLA Ops", "Framework Ops", "Framework Name Scope",
        "TensorFlow Ops", "Launch Stats", "Source code"}) {
    EXPECT_EQ(content(named("/device:GPU:1", line)), TrackContent::derived) << line;
  }
  EXPECT_EQ(content(named("/device:TPU:0", "XLA Ops")), TrackContent::tpu_work);
  EXPECT_EQ(content(named("/device:TPU:0", "XLA Modules")), TrackContent::derived);
}

TEST(DeviceTracks, AreOfTheHostOtherwise) {
  for (const TrackNames& names :
       {TrackNames(), named("python", "thread 1"), named("/host:CPU", "python"),
        named("CUDA functions"), named("", "/device:GPU:0", "0"), named("CANN", "Thread 1"),
        named("GPU0"), named("COPY"), named("", "Stream 7", "Device 0")}) {
    EXPECT_EQ(content(names), TrackContent::host) << names.process;
  }
}

TEST(DeviceTracks, OfAscendsFilesAreOfTheHostUnlessTheyAreHardware) {
  const std::vector<TrackNames> tracks = {named("CANN"), named("Ascend Hardware")};
  EXPECT_EQ(writer_of(tracks, {}), Writer::ascend);
  EXPECT_EQ(writer_of(std::vector{named("Ascend")}, {}), Writer::unknown);
  EXPECT_EQ(content(named("Ascend Hardware"), Writer::ascend), TrackContent::ascend_work);
  EXPECT_EQ(content(named("CANN"), Writer::ascend), TrackContent::ascend_host);
  EXPECT_EQ(content(named("Python"), Writer::ascend), TrackContent::host) << "torch's operators";
}

TEST(DeviceTracks, OfTensorFlow1CountOnce) {
  const TrackNames launches = named("/job:localhost/replica:0/task:0/device:GPU:0 Compute");
  const TrackNames all = named("/device:GPU:1/stream:all Compute");
  const TrackNames copies = named("/device:GPU:1/memcpy Compute");
  const TrackNames stream = named("/device:GPU:1/stream:14 Compute");
  const Writer once = writer_of(std::vector{launches, all, copies}, {});
  EXPECT_EQ(once, Writer::tensorflow);
  EXPECT_EQ(content(launches, once), TrackContent::host);
  EXPECT_EQ(content(all, once), TrackContent::work);
  EXPECT_EQ(content(copies, once), TrackContent::work);
  EXPECT_EQ(place_of(all, once).device, 1);
  const Writer twice = writer_of(std::vector{launches, all, copies, stream}, {});
  EXPECT_EQ(twice, Writer::tensorflow_streams);
  EXPECT_EQ(content(launches, twice), TrackContent::host);
  EXPECT_EQ(content(all, twice), TrackContent::derived);
  EXPECT_EQ(content(copies, twice), TrackContent::derived);
  EXPECT_EQ(content(stream, twice), TrackContent::work);
  // Names of TensorFlow before 1.3, and on the CPU only.
  EXPECT_EQ(writer_of(std::vector{named("/gpu:0/stream:all Compute")}, {}), Writer::tensorflow);
  EXPECT_EQ(writer_of(std::vector{named("/job:w/replica:0/task:0/device:CPU:0 Compute")}, {}),
            Writer::tensorflow);
}

TEST(DeviceTracks, OfRocmAreKnown) {
  for (const TrackNames& names : {named("CPU HIP API"), named("2 CPU HSA API"), named("GPU3"),
                                  named("1 GPU0"), named("CPU HIP API r3"), named("GPU0 r4")}) {
    EXPECT_EQ(writer_of(std::vector{names}, {}), Writer::rocm) << names.process;
  }
  EXPECT_EQ(content(named("CPU HIP API"), Writer::rocm), TrackContent::host);
  for (const std::string_view name : {"GPU12", "3 GPU12", "GPU12 r1"}) {
    EXPECT_EQ(content(named(name), Writer::rocm), TrackContent::work) << name;
    EXPECT_EQ(place_of(named(name), Writer::rocm).device, 12) << name;
  }
  EXPECT_EQ(content(named("0 COPY"), Writer::rocm), TrackContent::copies);
  EXPECT_EQ(content(named("Markers and Ranges"), Writer::rocm), TrackContent::annotations);
  for (const std::string_view name : {"GPU", "GPU0x", "my GPU0", "GPU99999999999999999999"}) {
    EXPECT_EQ(writer_of(std::vector{named(name)}, {}), Writer::unknown) << name;
  }
}

TEST(DeviceTracks, OfConvertersFromNsightAreKnown) {
  const std::vector<TrackNames> nsys = {named("", "NVTX Thread 7", "Device 2"),
                                        named("", "Stream 7", "Device 2")};
  EXPECT_EQ(writer_of(nsys, {}), Writer::nsys2json);
  EXPECT_EQ(content(nsys[0], Writer::nsys2json), TrackContent::annotations);
  EXPECT_EQ(content(nsys[1], Writer::nsys2json), TrackContent::work);
  EXPECT_EQ(place_of(nsys[1], Writer::nsys2json).device, 2);
  const std::vector<TrackNames> nvprof = {named("", "Compute", "[1:1] Overview"),
                                          named("", "gemm", "[1:1] Compute"),
                                          named("", "Thread 5: Runtime API", "[77] Process")};
  EXPECT_EQ(writer_of(nvprof, {}), Writer::nvprof2json);
  EXPECT_EQ(content(nvprof[0], Writer::nvprof2json), TrackContent::work);
  EXPECT_EQ(content(nvprof[1], Writer::nvprof2json), TrackContent::derived);
  EXPECT_EQ(content(nvprof[2], Writer::nvprof2json), TrackContent::host);
}

TEST(DeviceTracks, GiveRangesACategory) {
  EXPECT_EQ(category_on(TrackContent::work, "gemm"), "kernel");
  for (const std::string_view name : {"Memcpy HtoD", "MemcpyD2H", "memcpy", "MEMCPY"}) {
    EXPECT_EQ(category_on(TrackContent::work, name), "gpu_memcpy") << name;
  }
  EXPECT_EQ(category_on(TrackContent::work, "Memset"), "gpu_memset");
  EXPECT_EQ(category_on(TrackContent::work, "my memcpy"), "kernel");
  EXPECT_EQ(category_on(TrackContent::work, "mem"), "kernel");
  EXPECT_EQ(category_on(TrackContent::host, "gemm"), "");
  EXPECT_EQ(category_on(TrackContent::work, "CopyHostToDevice"), "gpu_memcpy") << "ROCm";
  EXPECT_EQ(category_on(TrackContent::work, "FillBufferAligned"), "gpu_memset") << "ROCm";
  EXPECT_EQ(category_on(TrackContent::copies, "hipMemcpyAsync"), "gpu_memcpy");
}

ChromeEvent label(std::string_view what, std::string_view pid, std::string_view tid,
                  std::string_view name) {
  ChromeEvent event;
  event.with("ph", "\"M\"").with("name", in_quotes(what)).with("pid", pid).with("tid", tid);
  return event.arg("name", in_quotes(name));
}

/// The kinds and devices of ranges `name` on (process, thread), none of which has a category.
using Place = std::pair<EventKind, DeviceType>;

std::vector<Place> places(std::vector<ChromeEvent> events) {
  for (ChromeEvent& event : events) event.without("cat");
  const Trace trace = fixtures::read(fixtures::trace_text(std::move(events)));
  EXPECT_EQ(fixtures::issue_counts(trace), "");
  std::vector<Place> places;
  for (std::size_t row = 0; row < trace.events().size(); ++row) {
    const Category& category = trace.category(static_cast<EventId>(row));
    places.emplace_back(category.kind, category.device);
  }
  return places;
}

ChromeEvent on(std::string_view pid, std::string_view tid, std::string_view name) {
  return op(name).with("pid", pid).with("tid", tid);
}

constexpr Place kOperator = {EventKind::cpu_op, DeviceType::cpu};
constexpr Place kKernel = {EventKind::kernel, DeviceType::cuda};

TEST(DeviceTracks, OfLegacyAutogradAreRead) {
  EXPECT_EQ(places({on("\"CPU functions\"", "0", "mm"), on("\"CUDA functions\"", "0", "mm")}),
            (std::vector<Place>{kOperator, kKernel}));
}

ChromeEvent lasting(ChromeEvent event, std::string_view ts, std::string_view dur) {
  return event.with("ts", ts).with("dur", dur);
}

TEST(DeviceTracks, OfLegacyAutogradCountNestedRowsOnce) {
  constexpr Place kDerived = {EventKind::device_other, DeviceType::cuda};
  const auto row = [](std::string_view tid, std::string_view ts, std::string_view dur) {
    return lasting(on("\"CUDA functions\"", tid, "aten::f"), ts, dur);
  };
  EXPECT_EQ(places({row("0", "10", "100"), row("0", "11", "98"), row("0", "12", "50"),
                    row("0", "65", "30"), row("1", "12", "50")}),
            (std::vector<Place>{kDerived, kDerived, kKernel, kKernel, kKernel}))
      << "those on another device are not inside";
  EXPECT_EQ(places({row("0", "13", "10"), row("0", "10", "100")}),
            (std::vector<Place>{kDerived, kKernel}))
      << "a small part inside";
}

TEST(DeviceTracks, OfJaxOnGpusAreReadThoughTheirLabelsComeLast) {
  const std::vector<Place> found =
      places({on("1", "10", "gemm"), on("1", "10", "MemcpyH2D"), on("1", "10", "Memset"),
              on("1", "11", "jit_f"), on("701", "2", "PjitFunction"),
              label("process_name", "1", "0", "/device:GPU:0"),
              label("process_name", "701", "0", "/host:CPU"),
              label("thread_name", "1", "10", "Stream #13(Compute)"),
              label("thread_name", "1", "11", "XLA Modules")});
  EXPECT_EQ(found, (std::vector<Place>{kKernel,
                                       {EventKind::gpu_memcpy, DeviceType::cuda},
                                       {EventKind::gpu_memset, DeviceType::cuda},
                                       {EventKind::device_other, DeviceType::cuda},
                                       kOperator}));
}

TEST(DeviceTracks, OfJaxOnTpusAreRead) {
  const std::vector<Place> found = places({label("process_name", "1", "0", "/device:TPU:0"),
                                           label("thread_name", "1", "3", "XLA Ops"),
                                           label("thread_name", "1", "2", "XLA Modules"),
                                           on("1", "3", "fusion.1"), on("1", "2", "jit_f")});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].first, EventKind::kernel);
  EXPECT_EQ(found[1].first, EventKind::device_other);
}

TEST(DeviceTracks, OfAscendAreRead) {
  const std::vector<Place> found =
      places({on("1", "2", "aten::add"), on("2", "2", "AscendCL@aclnnAdd"), on("3", "5", "Add"),
              label("process_name", "1", "0", "Python"), label("process_name", "2", "0", "CANN"),
              label("process_name", "3", "0", "Ascend Hardware")});
  EXPECT_EQ(found, (std::vector<Place>{kOperator,
                                       {EventKind::other, DeviceType::cpu},
                                       {EventKind::kernel, DeviceType::privateuse1}}));
}

TEST(DeviceTracks, OfAscendHaveWaitsAndStepsBesideWork) {
  for (const std::string_view name :
       {"NOTIFY_WAIT", "NOTIFY_WAIT_SQE", "EVENT_WAIT", "Iteration 1", "Iteration Time",
        "FP_BP Time 1", "Iteration Refresh 1", "Data_aug Bound 2", "Reduce", "Reduce_1_0"}) {
    EXPECT_EQ(category_on(TrackContent::ascend_work, name), "device_line") << name;
  }
  for (const std::string_view name : {"MatMulV2", "ReduceSum", "MEMCPY_ASYNC", ""}) {
    EXPECT_EQ(category_on(TrackContent::ascend_work, name), "ascend_hardware") << name;
  }
}

TEST(DeviceTracks, DoNotOverrideACategory) {
  const Trace trace =
      fixtures::read(fixtures::trace_text({label("process_name", "1", "0", "/device:GPU:0"),
                                           op("aten::add"), op("own").with("cat", "\"mine\"")}));
  EXPECT_EQ(trace.kind(EventId{0}), EventKind::cpu_op);
  EXPECT_EQ(trace.kind(EventId{1}), EventKind::other);
}

TEST(DeviceTracks, TellWhichDeviceWasRecorded) {
  const Trace trace = fixtures::read(fixtures::trace_text(
      {label("process_name", "1", "0", "/device:GPU:0"), on("1", "10", "gemm").without("cat")}));
  EXPECT_EQ(trace.device(), DeviceType::cuda);
}

/// The kinds of ranges with categories that torch does not write, and the issues of the file.
std::string kinds(std::vector<ChromeEvent> events) {
  const Trace trace = fixtures::read(fixtures::array_text(events, fixtures::Layout::minified));
  std::string kinds;
  for (std::size_t row = 0; row < trace.events().size(); ++row) {
    const EventKind kind = trace.kind(static_cast<EventId>(row));
    kinds += kind == EventKind::kernel       ? "kernel "
             : kind == EventKind::gpu_memcpy ? "memcpy "
             : is_host_range(kind)           ? "host "
                                             : "other ";
  }
  for (const Issue& issue : trace.issues()) {
    kinds += std::string(issue.id) + ' ' + std::to_string(issue.count);
  }
  return kinds;
}

TEST(Writers, TheirCategoriesMakeWayForTheirTracks) {
  EXPECT_EQ(kinds({on("7", "0", "MatMul").with("cat", "\"Op\""),
                   on("3", "0", "MatMul").with("cat", "\"Op\""),
                   on("5", "0", "MEMCPYHtoD").with("cat", "\"Op\""),
                   label("process_name", "7", "0", "/job:w/task:0/device:GPU:0 Compute"),
                   label("process_name", "3", "0", "/device:GPU:0/stream:all Compute"),
                   label("process_name", "5", "0", "/device:GPU:0/memcpy Compute")}),
            "host kernel memcpy ");
  EXPECT_EQ(kinds({on("\"Device 0\"", "\"Stream 7\"", "gemm").with("cat", "\"cuda\""),
                   on("\"Device 0\"", "\"NVTX Thread 1\"", "step").with("cat", "\"nvtx\"")}),
            "kernel host ");
  EXPECT_EQ(kinds({on("5", "1", "model_run").with("cat", "\"Session\""),
                   on("5", "1", "MatMul_kernel_time").with("cat", "\"Node\""),
                   on("5", "2", "ampere_sgemm").with("cat", "\"Kernel\""),
                   on("5", "2", "MemcpyHostToDevice").with("cat", "\"Kernel\"")}),
            "host host kernel memcpy ");
}

TEST(Writers, DevicesAreThoseOfTheNames) {
  const auto devices = [](std::vector<ChromeEvent> events) {
    const Trace trace = fixtures::read(fixtures::array_text(events, fixtures::Layout::minified));
    std::vector<std::int64_t> found;
    for (std::size_t row = 0; row < trace.events().size(); ++row) {
      found.push_back(trace.track(trace.events().track(static_cast<EventId>(row))).device);
    }
    return found;
  };
  const std::vector<ChromeEvent> one = {on("6", "0", "gemm").without("cat"),
                                        on("1", "0", "CopyHostToDevice").without("cat"),
                                        on("2", "7", "hipLaunchKernel").without("cat"),
                                        label("process_name", "6", "0", "GPU3"),
                                        label("process_name", "1", "0", "COPY"),
                                        label("process_name", "2", "0", "CPU HIP API")};
  EXPECT_EQ(devices(one), (std::vector<std::int64_t>{3, 3, -1})) << "rocprof";
  std::vector<ChromeEvent> two = one;
  two.push_back(label("process_name", "7", "0", "GPU4"));
  two.push_back(on("7", "0", "gemm").without("cat"));
  EXPECT_EQ(devices(two), (std::vector<std::int64_t>{3, 0, -1, 4})) << "nothing says whose copy";
  EXPECT_EQ(devices({on("300", "1", "MatMul").with("cat", "\"Node\""),
                     on("300", "1", "ampere_sgemm").with("cat", "\"Kernel\"")}),
            (std::vector<std::int64_t>{0, 0}))
      << "ONNX Runtime";
}

TEST(DeviceNumber, IsThatOfTheNamesElseTheProcess) {
  Track track;
  track.process.number = 4;
  track.thread.number = 7;
  EXPECT_EQ(device_number(track), 4);
  track.device = 2;
  EXPECT_EQ(device_number(track), 2);
  track.device = -1;
  track.process = {.text = StringId{1}};
  EXPECT_EQ(device_number(track), 7) << "torch.autograd.profiler";
}

TEST(Writers, ThatAreNotKnownAreSaid) {
  EXPECT_EQ(kinds({on("1", "1", "f").with("cat", "\"FEE\""), on("1", "1", "g").without("cat")}),
            "host host writer_unknown 2")
      << "VizTracer";
  EXPECT_EQ(kinds({on("1", "1", "RunTask").with("cat", "\"disabled-by-default-devtools\"")}),
            "host writer_unknown 1");
  // One row of torch is enough, as for files that were joined.
  EXPECT_EQ(kinds({on("1", "1", "f").with("cat", "\"FEE\""), on("1", "1", "aten::add")}),
            "host host ");
  EXPECT_EQ(kinds({on("1", "1", "f").without("cat"), label("process_name", "1", "0", "/host:CPU")}),
            "host ")
      << "JAX on a CPU";
  EXPECT_EQ(kinds({label("process_name", "1", "0", "python")}), "") << "no ranges";
}

}  // namespace
}  // namespace tbtrace
