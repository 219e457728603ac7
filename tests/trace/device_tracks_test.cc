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

TEST(DeviceTracks, AreKnownByTheNamesOfTheirWriters) {
  const auto content = [](const TrackNames& names) { return content_of(names, false); };
  EXPECT_EQ(content(named("", "", "CUDA functions")), TrackContent::nested_work)
      << "torch.autograd.profiler up to torch 1.12";
  EXPECT_EQ(content(named("/device:GPU:0", "Stream #13(Kernel)")), TrackContent::work);
  EXPECT_EQ(content(named("/device:GPU:0")), TrackContent::work);
  for (const std::string_view line :
       {"Steps", "XLA Modules", "XLA Ops", "Framework Ops", "Framework Name Scope",
        "TensorFlow Ops", "Launch Stats", "Source code"}) {
    EXPECT_EQ(content(named("/device:GPU:1", line)), TrackContent::derived) << line;
  }
  EXPECT_EQ(content(named("/job:localhost/replica:0/task:0/device:GPU:0 stream:all Compute")),
            TrackContent::derived)
      << "TensorFlow 1 lists each kernel under its stream, too";
  EXPECT_EQ(content(named("/device:TPU:0", "XLA Ops")), TrackContent::tpu_work);
  EXPECT_EQ(content(named("/device:TPU:0", "XLA Modules")), TrackContent::derived);
  EXPECT_EQ(content(named("Ascend Hardware")), TrackContent::ascend_work);
}

TEST(DeviceTracks, AreOfTheHostOtherwise) {
  for (const TrackNames& names :
       {TrackNames(), named("python", "thread 1"), named("/host:CPU", "python"),
        named("CUDA functions"), named("", "/device:GPU:0", "0"), named("CANN", "Thread 1")}) {
    EXPECT_EQ(content_of(names, false), TrackContent::host) << names.process;
  }
}

TEST(DeviceTracks, OfAscendsFilesAreOfTheHostUnlessTheyAreHardware) {
  EXPECT_TRUE(is_of_ascend("Ascend Hardware"));
  EXPECT_FALSE(is_of_ascend("Ascend"));
  EXPECT_EQ(content_of(named("Ascend Hardware"), true), TrackContent::ascend_work);
  EXPECT_EQ(content_of(named("CANN"), true), TrackContent::ascend_host);
  EXPECT_EQ(content_of(named("Python"), true), TrackContent::host) << "torch's own operators";
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

}  // namespace
}  // namespace tbtrace
