#include "trace_text.h"

#include <algorithm>
#include <array>
#include <iterator>

#include <fmt/compile.h>
#include <fmt/format.h>

namespace tbtrace::benchmarks {
namespace {

constexpr std::int64_t kProcess = 104'729;
constexpr std::int64_t kBackwardThread = 105'361;
constexpr std::int64_t kDevice = 0;
constexpr std::int64_t kProcessors = 80;  // of the device
constexpr std::int64_t kStartNs = 1'669'783'687'000'000'000;
constexpr std::int64_t kBaseNs = 1'664'625'708'000'000'000;

std::int64_t stream_id(Stream stream) { return stream == Stream::compute ? 7 : 14; }

std::int64_t thread_id(Thread thread) {
  return thread == Thread::main ? kProcess : kBackwardThread;
}

template <typename Format, typename... Values>
void append(std::string& text, const Format& format, const Values&... values) {
  fmt::format_to(std::back_inserter(text), format, values...);
}

/// `numerator` by `denominator` with up to four decimals.
std::string ratio(std::int64_t numerator, std::int64_t denominator) {
  const std::int64_t scaled = numerator * 10'000 / denominator;
  std::string text = fmt::format("{}.{:04}", scaled / 10'000, scaled % 10'000);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

struct InputTexts {
  std::string_view dims;
  std::string_view strides;
  std::string_view types;
  std::string_view concrete;
};

/// By Inputs; {0} are the rows and {1} the columns of the first input.
constexpr std::array<InputTexts, 9> kInputTexts = {{
    {},
    {"[{0}, {1}]", "[{1}, 1]", R"("float")", R"("")"},
    {"[{0}, {1}], [{0}, {1}], []", "[{1}, 1], [{1}, 1], []", R"("float", "float", "Scalar")",
     R"("", "", "1")"},
    {"[{0}, {1}], [{1}, {1}]", "[{1}, 1], [1, {1}]", R"("float", "float")", R"("", "")"},
    {"[{1}], [{0}, {1}], [{1}, {1}], [], []", "[1], [{1}, 1], [1, {1}], [], []",
     R"("float", "float", "float", "Scalar", "Scalar")", R"("", "", "", "1", "1")"},
    {"[{0}, {1}], []", "[{1}, 1], []", R"("float", "ScalarList")", R"("", "[-1, {0}]")"},
    {"[{0}, {1}], [], [], []", "[{1}, 1], [], [], []",
     R"("float", "ScalarList", "ScalarList", "Scalar")", R"("", "[{1}, {0}]", "[1, {1}]", "0")"},
    {"[{0}, {1}], []", "[{1}, 1], []", R"("float", "Scalar")", R"("", "0")"},
    {"[], [], [], [], [], []", "[], [], [], [], [], []",
     R"("ScalarList", "Scalar", "Scalar", "Scalar", "Scalar", "")",
     R"("[{0}, {1}]", "6", "0", "", "False", "")"},
}};

}  // namespace

void TraceText::time(std::int64_t ns) {
  if (shapes_) {
    const std::int64_t since_base = kStartNs - kBaseNs + ns;
    append(text_, FMT_COMPILE("{}.{:03}"), since_base / 1000, since_base % 1000);
  } else {
    append(text_, FMT_COMPILE("{}"), (kStartNs + ns) / 1000);
  }
}

void TraceText::span(std::int64_t start_ns, std::int64_t end_ns) {
  text_ += "\n    \"ts\": ";
  time(start_ns);
  if (shapes_) {
    const std::int64_t duration = end_ns - start_ns;
    append(text_, FMT_COMPILE(", \"dur\": {}.{:03},"), duration / 1000, duration % 1000);
  } else {
    append(text_, FMT_COMPILE(", \"dur\": {},"), end_ns / 1000 - start_ns / 1000);
  }
  text_ += "\n    \"args\": {\n      ";
}

void TraceText::range(std::string_view category, std::string_view name, std::int64_t process,
                      std::int64_t thread) {
  append(text_,
         FMT_COMPILE("  {{\n    \"ph\": \"X\", \"cat\": \"{}\", \"name\": \"{}\", \"pid\": {}, "
                     "\"tid\": {},"),
         category, name, process, thread);
}

void TraceText::flow(char phase, std::string_view category, std::int64_t id, std::int64_t process,
                     std::int64_t thread, std::int64_t time_ns) {
  append(text_,
         FMT_COMPILE("  {{\n    \"ph\": \"{}\", \"id\": {}, \"pid\": {}, \"tid\": {}, \"ts\": "),
         phase, id, process, thread);
  time(time_ns);
  append(text_, FMT_COMPILE(",\n    \"cat\": \"{}\", \"name\": \"{}\"{}\n  }},\n"), category,
         category, phase == 'f' ? ", \"bp\": \"e\"" : "");
}

void TraceText::inputs(const Operator& row) {
  const InputTexts& texts = kInputTexts[static_cast<std::size_t>(row.inputs)];
  const auto list = [&](std::string_view key, std::string_view values) {
    append(text_, FMT_COMPILE("\"{}\": ["), key);
    fmt::format_to(std::back_inserter(text_), fmt::runtime(values), row.rows, row.columns);
    text_ += "], ";
  };
  list("Concrete Inputs", texts.concrete);
  list("Input type", texts.types);
  list("Input Strides", texts.strides);
  list("Input Dims", texts.dims);
}

void TraceText::one_operator(const Operator& row) {
  const std::string step = fmt::format("ProfilerStep#{}", row.step);
  range(row.annotation ? "user_annotation" : "cpu_op", row.step < 0 ? row.name : step, kProcess,
        thread_id(row.thread));
  span(row.start_ns, row.end_ns);
  append(text_, FMT_COMPILE("\"External id\": {},"), row.external_id);
  const int forward_thread = row.thread == Thread::backward ? 1 : 0;
  if (shapes_) {
    if (row.sequence_number != 0) {
      append(text_, FMT_COMPILE("\"Sequence number\": {}, \"Fwd thread id\": {}, "),
             row.sequence_number, forward_thread);
    }
    text_ += "\"Record function id\": 0, ";
    if (row.inputs != Inputs::none) inputs(row);
    append(text_, FMT_COMPILE("\"Ev Idx\": {}"), event_rank_);
  } else {
    append(text_, FMT_COMPILE("\"Ev Idx\": {}"), event_rank_);
    if (row.sequence_number != 0) {
      append(text_, FMT_COMPILE(", \"Fwd thread id\": {}, \"Sequence number\": {}"), forward_thread,
             row.sequence_number);
    }
  }
  ++event_rank_;
  text_ += "\n    }\n  },\n";
}

void TraceText::operators(const StepRows& rows) {
  for (const Operator& row : rows.operators) {
    one_operator(row);
    if (row.linked) {
      flow(row.thread == Thread::main ? 's' : 'f', "fwdbwd", row.sequence_number, kProcess,
           thread_id(row.thread), row.start_ns);
    }
  }
}

void TraceText::memory(const StepRows& rows) {
  for (const MemoryChange& row : rows.memory) {
    append(text_,
           FMT_COMPILE(
               "  {{\n    \"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"s\": \"t\", \"name\": "
               "\"[memory]\",\n    \"pid\": {}, \"tid\": {},\n    \"ts\": "),
           kProcess, thread_id(row.thread));
    time(row.time_ns);
    append(text_,
           FMT_COMPILE(
               ",\n    \"args\": {{\n      \"Ev Idx\": {}, \"Device Type\": 1, \"Device Id\": {}, "
               "\"Addr\": {}, \"Bytes\": {}, \"Total Allocated\": {}, \"Total Reserved\": "
               "{}\n    }}\n  }},\n"),
           event_rank_++, kDevice, row.address, row.bytes, row.total_bytes,
           TrainingRun::kReservedBytes);
  }
}

void TraceText::device_work(const Launch& row) {
  const std::int64_t external_id = shapes_ ? row.external_id : row.correlation;
  const bool kernel = row.work == Launch::Work::kernel;
  const bool copy = row.work == Launch::Work::copy;
  range(kernel ? "kernel"
        : copy ? "gpu_memcpy"
               : "gpu_memset",
        kernel ? row.kernel
        : copy ? "Memcpy DtoD (Device -> Device)"
               : "Memset (Device)",
        kDevice, stream_id(row.stream));
  span(row.work_start_ns, row.work_end_ns);
  append(text_,
         FMT_COMPILE("\"External id\": {},\n      {}\"device\": {}, \"context\": 1,\n      "
                     "\"stream\": {}, \"correlation\": {},\n"),
         external_id, kernel ? "\"queued\": 0, " : "", kDevice, stream_id(row.stream),
         row.correlation);
  if (kernel) {
    const std::int64_t blocks = std::int64_t{row.grid[0]} * row.grid[1] * row.grid[2];
    const std::int64_t warps = std::int64_t{row.block[0]} * row.block[1] * row.block[2] / 32;
    const std::int64_t occupancy =
        std::min<std::int64_t>(100, blocks * warps * 100 / (kProcessors * 64));
    append(text_,
           FMT_COMPILE("      \"registers per thread\": {},\n      \"shared memory\": {},\n      "
                       "\"blocks per SM\": {},\n      \"warps per SM\": {},\n      "
                       "\"grid\": [{}, {}, {}],\n      \"block\": [{}, {}, {}],\n      "
                       "\"est. achieved occupancy %\": {}"),
           16 + row.kernel.size() % 64, row.kernel.size() % 3 * 256, ratio(blocks, kProcessors),
           ratio(blocks * warps, kProcessors), row.grid[0], row.grid[1], row.grid[2], row.block[0],
           row.block[1], row.block[2], occupancy);
  } else {
    append(text_, FMT_COMPILE("      \"bytes\": {}, \"memory bandwidth (GB/s)\": {}"), row.bytes,
           ratio(row.bytes, row.work_end_ns - row.work_start_ns));
  }
  text_ += "\n    }\n  },\n";
  flow('f', "ac2g", row.correlation, kDevice, stream_id(row.stream), row.work_start_ns);
}

void TraceText::launches(const StepRows& rows) {
  for (const Launch& row : rows.launches) {
    const bool works = row.work != Launch::Work::none;
    if (works) device_work(row);
    range("cuda_runtime", row.name, kProcess, thread_id(row.thread));
    span(row.start_ns, row.end_ns);
    append(text_,
           FMT_COMPILE(
               "\"External id\": {},\n      \"cbid\": {}, \"correlation\": {}\n    }}\n  }},\n"),
           shapes_ ? row.external_id : row.correlation, row.callback_id, row.correlation);
    flow(works ? 's' : 'f', "ac2g", row.correlation, kProcess, thread_id(row.thread), row.start_ns);
  }
}

void TraceText::name_row(std::string_view what, std::int64_t process, std::int64_t thread,
                         std::string_view key, std::string_view value) {
  append(text_, FMT_COMPILE("  {{\n    \"name\": \"{}\", \"ph\": \"M\", \"ts\": "), what);
  time(0);
  append(text_,
         FMT_COMPILE(
             ", \"pid\": {}, \"tid\": {},\n    \"args\": {{\n      \"{}\": {}\n    }}\n  }},\n"),
         process, thread, key, value);
}

void TraceText::names() {
  for (const std::int64_t process : {kProcess, kDevice}) {
    name_row("process_name", process, 0, "name", "\"python\"");
    name_row("process_labels", process, 0, "labels", process == kDevice ? "\"GPU 0\"" : "\"CPU\"");
    name_row("process_sort_index", process, 0, "sort_index",
             process == kDevice ? "5000000" : fmt::to_string(kProcess));
  }
  for (const std::int64_t thread : {kProcess, kBackwardThread}) {
    name_row("thread_name", kProcess, thread, "name",
             fmt::format("\"thread {} (python)\"", thread));
    name_row("thread_sort_index", kProcess, thread, "sort_index", fmt::to_string(thread));
  }
  for (const std::int64_t stream : {stream_id(Stream::compute), stream_id(Stream::all_reduce)}) {
    name_row("thread_name", kDevice, stream, "name", fmt::format("\"stream {}\"", stream));
    name_row("thread_sort_index", kDevice, stream, "sort_index", fmt::to_string(stream));
  }
}

void TraceText::begin() {
  text_ +=
      "\n{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n    {\n"
      "      \"id\": 0, \"name\": \"Tesla V100-SXM2-32GB\", \"totalGlobalMem\": 34089730048,\n"
      "      \"computeMajor\": 7, \"computeMinor\": 0,\n"
      "      \"maxThreadsPerBlock\": 1024, \"maxThreadsPerMultiprocessor\": 2048,\n"
      "      \"regsPerBlock\": 65536, \"regsPerMultiprocessor\": 65536, \"warpSize\": 32,\n"
      "      \"sharedMemPerBlock\": 49152, \"sharedMemPerMultiprocessor\": 98304,\n"
      "      \"numSms\": 80, \"sharedMemPerBlockOptin\": 98304\n    }\n  ],\n"
      "  \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 0, \"world_size\": 2},\n"
      "  \"profile_memory\": 1,\n";
  if (shapes_) {
    append(text_,
           FMT_COMPILE("  \"record_shapes\": 1,\n  \"displayTimeUnit\": \"ms\",\n"
                       "  \"baseTimeNanoseconds\": {},\n"),
           kBaseNs);
  }
  text_ += "  \"traceEvents\": [\n";
}

void TraceText::end(std::int64_t end_ns) {
  names();
  text_ +=
      "  {\n    \"ph\": \"X\", \"cat\": \"Trace\", \"name\": \"PyTorch Profiler (0)\", \"pid\": "
      "\"Spans\", "
      "\"tid\": \"PyTorch Profiler\",";
  span(0, end_ns);
  text_ +=
      "\"Op count\": 0\n    }\n  },\n  {\n    \"name\": \"Iteration Start: PyTorch Profiler\", "
      "\"ph\": \"i\", "
      "\"s\": \"g\",\n    \"pid\": \"Traces\", \"tid\": \"Trace PyTorch Profiler\", \"ts\": ";
  time(0);
  text_ +=
      "\n  },\n  {\n    \"name\": \"Record Window End\", \"ph\": \"i\", \"s\": \"g\",\n"
      "    \"pid\": \"\", \"tid\": \"\", \"ts\": ";
  time(end_ns);
  text_ += "\n  }\n  ],\n  \"traceName\": \"trace.json\"\n}\n";
}

}  // namespace tbtrace::benchmarks
