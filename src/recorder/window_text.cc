#include "recorder/window_text.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

#include "base/host_name.h"
#include "recorder/collective.h"
#include "recorder/inputs.h"
#include "recorder/storage_key.h"
#include "wire/json_strict.h"
#include "wire/json_text.h"

namespace tbtrace::recorder {

namespace {

constexpr std::size_t kPiece = std::size_t{64} << 10;

/// Kineto's: the start of a period of a quarter of a year, counted from 1970.
std::int64_t base_time_ns(std::int64_t time_ns) {
  constexpr std::int64_t kPeriod = std::int64_t{7'889'238} * 1'000'000'000;
  return time_ns / kPeriod * kPeriod;
}

}  // namespace

WindowText::WindowText(std::shared_ptr<const Window> window)
    : window_(std::move(window)),
      process_(::getpid()),
      base_ns_(base_time_ns(window_->start_ns())),
      lines_(text_, base_ns_) {
  const DeviceActivity* const activity = window_->device_activity();
  if (activity == nullptr) return;
  // Readers take a file whose ids are the calls' correlations for one of Kineto's faulty ones.
  for (const DeviceCall& call : activity->calls) {
    first_id_ = std::max<std::uint64_t>(first_id_, std::uint64_t{call.correlation} + 1);
  }
  devices_.emplace(*window_, lines_, process_, first_id_, program_name());
}

Result<std::size_t> WindowText::read(std::span<char> buffer) {
  if (taken_ == text_.size()) {
    text_.clear();
    taken_ = 0;
    while (text_.size() < kPiece && part_ != Part::end) append_some();
  }
  const std::size_t size = std::min(buffer.size(), text_.size() - taken_);
  std::memcpy(buffer.data(), text_.data() + taken_, size);
  taken_ += size;
  position_ += size;
  return size;
}

void WindowText::append_some() {
  switch (part_) {
    case Part::head:
      append_head();
      append_names();
      part_ = Part::events;
      break;
    case Part::events:
      append_event();
      break;
    case Part::devices:
      if (!devices_ || !devices_->append_next()) part_ = Part::arrows;
      break;
    case Part::arrows:
      if (next_arrow_ < window_->arrows().size()) {
        append_arrow(next_arrow_++);
      } else {
        part_ = Part::foot;
      }
      break;
    case Part::foot:
      append_foot();
      part_ = Part::end;
      break;
    case Part::end:
      break;
  }
}

/// Frames of modules, ranges and memory in the order of time; of two that begin at once, the outer
/// one first.
void WindowText::append_event() {
  constexpr std::uint64_t kNone = ~std::uint64_t{0};
  const auto ranges = window_->ranges();
  const auto memory = window_->memory();
  const auto& modules = window_->modules().frames;
  const std::uint64_t range = next_range_ < ranges.size() ? ranges[next_range_].start_ticks : kNone;
  const std::uint64_t module =
      next_module_ < modules.size() ? modules[next_module_].start_ticks : kNone;
  const std::uint64_t event =
      next_memory_ < memory.size() ? memory[next_memory_].event.ticks : kNone;
  if (std::min({range, module, event}) == kNone) {
    part_ = Part::devices;
  } else if (module <= range && module <= event) {
    append_module(next_module_++);
  } else if (range <= event) {
    append_range(next_range_++);
  } else {
    append_memory(next_memory_++);
  }
}

void WindowText::append_head() {
  const Recording& recording = window_->recording();
  const RecordingOptions& options = recording.options();
  text_ += "{\"schemaVersion\": 1,\n\"deviceProperties\": ";
  const DeviceActivity* const devices = window_->device_activity();
  text_ += devices == nullptr ? "[]" : device_properties_json(devices->devices);
  text_ += ",\n";
  const auto member = [&](std::string_view key, std::string_view json) {
    wire::append_json_string(text_, key);
    text_.append(": ").append(json).append(",\n");
  };
  const auto own_member = [&](const char* key, std::string_view json) {
    if (!recording.metadata().contains(key)) member(key, json);
  };
  for (const auto& [key, json] : recording.metadata()) {
    // What is no JSON would make the whole text none; it is told as a text of its own.
    std::string value;
    if (!wire::append_strict_json(value, json, true)) wire::append_json_string(value, json);
    member(key, value);
  }
  for (const auto& [key, is_on] : {std::pair("profile_memory", options.profile_memory),
                                   std::pair("record_shapes", options.record_shapes),
                                   std::pair("with_flops", options.with_flops),
                                   std::pair("with_modules", options.with_modules),
                                   std::pair("with_stack", options.with_stack)}) {
    if (is_on) own_member(key, "1");
  }
  if (recording.lost() > 0) member("tbtrace_lost_records", std::to_string(recording.lost()));
  if (devices != nullptr) {
    const auto number = [&](const char* key, std::uint64_t value) {
      if (value > 0) own_member(key, std::to_string(value));
    };
    number("cupti_version", devices->interface_version);
    number("cuda_runtime_version", static_cast<std::uint64_t>(devices->runtime_version));
    number("cuda_driver_version", static_cast<std::uint64_t>(devices->driver_version));
    number("tbtrace_lost_device_records", devices->lost);
    number("tbtrace_untimed_device_records", devices->untimed);
    const DeviceLinks& links = window_->device_links();
    if (links.checked > 0) {
      own_member("tbtrace_launch_check", fmt::format(R"({{"calls": {}, "different": {}}})",
                                                     links.checked, links.different));
    }
    if (!devices->problem.empty()) {
      std::string problem;
      wire::append_json_string(problem, devices->problem);
      own_member("tbtrace_device_tracing", problem);
    }
  }
  std::string host;
  wire::append_json_string(host, host_name());
  own_member("host_name", host);
  own_member("trace_id", fmt::format("\"{}\"", recording.trace_id()));
  lines_.add("\"displayTimeUnit\": \"ms\",\n\"baseTimeNanoseconds\": {},\n\"traceEvents\": [",
             base_ns_);
}

void WindowText::append_place(std::uint32_t log) {
  lines_.add("\"pid\": {}, \"tid\": {}", process_,
             window_->recording().logs()[log]->identity().system_id);
}

void WindowText::append_times(std::uint64_t start_ticks, std::uint64_t end_ticks) {
  lines_.add_times(window_->unix_ns(start_ticks), window_->unix_ns(end_ticks));
}

std::string WindowText::program_name() const {
  for (const auto& log : window_->recording().logs()) {
    if (log->identity().system_id == process_) return log->identity().name;
  }
  return "process";
}

void WindowText::append_names() {
  const auto named = [&](std::string_view kind, std::int64_t thread, std::string_view what,
                         std::string_view value_json) {
    lines_.begin_event();
    lines_.add(R"({{"ph": "M", "name": "{}", )", kind);
    lines_.add_time("ts", window_->start_ns());
    lines_.add(R"(, "pid": {}, "tid": {}, "args": {{"{}": {}}}}})", process_, thread, what,
               value_json);
  };
  const auto quoted = [](std::string_view text) {
    std::string json;
    wire::append_json_string(json, text);
    return json;
  };
  named("process_name", 0, "name", quoted(program_name()));
  named("process_labels", 0, "labels", "\"CPU\"");
  named("process_sort_index", 0, "sort_index", std::to_string(process_));
  for (const auto& log : window_->recording().logs()) {
    const ThreadIdentity& thread = log->identity();
    named("thread_name", thread.system_id, "name",
          quoted(fmt::format("thread {} ({})", thread.system_id, thread.name)));
    named("thread_sort_index", thread.system_id, "sort_index", std::to_string(thread.system_id));
  }
  if (devices_) devices_->append_names();
}

void WindowText::append_range(std::size_t row) {
  const Window::Range& range = window_->ranges()[row];
  const BeginRecord record = begin_record(range.record);
  if (record.scope == Scope::module) return;  // it is a frame
  lines_.begin_event();
  lines_.add(R"({{"ph": "X", "cat": "{}", "name": )",
             record.scope == Scope::user ? "user_annotation" : "cpu_op");
  lines_.add_quoted(record.name->text);
  text_ += ", ";
  append_place(range.log);
  append_times(range.start_ticks, range.end_ticks);
  lines_.add(R"(, "args": {{"External id": {}, "Record function id": 0)", first_id_ + row);
  const BeginRecord numbers = range.numbers == range.record ? record : begin_record(range.numbers);
  if (numbers.sequence_number >= 0) {
    lines_.add(R"(, "Sequence number": {}, "Fwd thread id": {})", numbers.sequence_number,
               numbers.forward_thread);
  }
  if (record.inputs != nullptr && record.inputs_size > 0) {
    InputTexts texts;
    append_input_texts({record.inputs, record.inputs_size},
                       window_->recording().options().element_types, texts);
    lines_.add(
        R"(, "Concrete Inputs": {}, "Input type": {}, "Input Strides": {}, "Input Dims": {})",
        texts.concrete, texts.types, texts.strides, texts.dims);
  }
  if (record.script_modules != nullptr) {
    lines_.add_text("Module Hierarchy", record.script_modules->text);
  }
  if (record.name->collective != nullptr) append_collective(lines_, *record.name->collective);
  if (range.stack != 0) lines_.add_text("Call stack", window_->call_stack(range));
  if (range.is_open) text_ += R"(, "finished": "false")";
  if (range.is_async) text_ += R"(, "asynchronous": "true")";
  lines_.add(", \"Ev Idx\": {}}}}}", next_event_++);
}

void WindowText::append_module(std::size_t row) {
  const ModuleFrame& frame = window_->modules().frames[row];
  const Module& module = window_->modules().modules[frame.module];
  lines_.begin_event();
  text_ += R"({"ph": "X", "cat": "python_function", "name": )";
  wire::append_json_string(text_,
                           fmt::format("nn.Module: {}_{}", module.class_name, module.number));
  text_ += ", ";
  append_place(frame.log);
  append_times(frame.start_ticks, frame.end_ticks);
  lines_.add(R"(, "args": {{"Python id": {}, "Python parent id": {}, "Python module id": {})",
             row + 1, frame.parent < 0 ? "null" : std::to_string(frame.parent + 1), module.number);
  if (!module.path.empty()) lines_.add_text("Module path", module.path);
  lines_.add(", \"Ev Idx\": {}}}}}", next_event_++);
}

void WindowText::append_memory(std::size_t row) {
  const Window::Memory& memory = window_->memory()[row];
  const MemoryEvent& event = memory.event;
  lines_.begin_event();
  text_ += R"({"ph": "i", "cat": "cpu_instant_event", "s": "t", )";
  text_ += memory.is_out_of_memory ? R"("name": "[OutOfMemory]", )" : R"("name": "[memory]", )";
  append_place(memory.log);
  text_ += ", ";
  lines_.add_time("ts", window_->unix_ns(event.ticks));
  // Of types of devices, torch numbers CUDA as 1.
  lines_.add(R"(, "args": {{"Device Type": {}, "Device Id": {}, )", memory.device.is_cuda() ? 1 : 0,
             memory.device.index());
  if (!memory.is_out_of_memory) lines_.add(R"("Addr": {}, )", address_of(event.address));
  lines_.add(R"("Bytes": {}, "Total Allocated": {}, "Total Reserved": {}, "Ev Idx": {}}}}})",
             event.bytes, memory.total_allocated, memory.total_reserved, next_event_++);
}

void WindowText::append_arrow(std::size_t row) {
  const Window::Arrow& arrow = window_->arrows()[row];
  for (const bool is_start : {true, false}) {
    const Window::Range& range = window_->ranges()[is_start ? arrow.forward : arrow.backward];
    lines_.begin_event();
    lines_.add(R"({{"ph": "{}", "id": {}, )", is_start ? 's' : 'f', row + 1);
    append_place(range.log);
    text_ += ", ";
    lines_.add_time("ts", window_->unix_ns(range.start_ticks));
    lines_.add(R"(, "cat": "fwdbwd", "name": "fwdbwd"{}}})", is_start ? "" : R"(, "bp": "e")");
  }
}

void WindowText::append_foot() {
  lines_.begin_event();
  text_ += R"json({"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", )json"
           R"("pid": "Spans", "tid": "PyTorch Profiler", )";
  lines_.add_time("ts", window_->start_ns());
  const std::int64_t length = window_->end_ns() - window_->start_ns();
  lines_.add(R"(, "dur": {}.{:03}, "args": {{"Op count": {}}}}})", length / 1000, length % 1000,
             window_->ranges().size());
  lines_.begin_event();
  text_ += R"({"ph": "M", "name": "process_sort_index", )";
  lines_.add_time("ts", window_->start_ns());
  text_ += R"(, "pid": "Spans", "tid": 0, "args": {"sort_index": 536870912}})";
  lines_.begin_event();
  text_ += R"({"ph": "i", "s": "g", "name": "Iteration Start: PyTorch Profiler", )"
           R"("pid": "Traces", "tid": "Trace PyTorch Profiler", )";
  lines_.add_time("ts", window_->start_ns());
  text_ += '}';
  lines_.begin_event();
  text_ += R"({"ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": "", )";
  lines_.add_time("ts", window_->end_ns());
  text_ += "}\n]}\n";
}

}  // namespace tbtrace::recorder
