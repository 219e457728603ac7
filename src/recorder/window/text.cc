#include "recorder/window/text.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

#include "recorder/log/inputs.h"
#include "recorder/log/storage_key.h"
#include "recorder/window/collective_lines.h"
#include "recorder/window/head.h"
#include "wire/json_text.h"

namespace tbtrace::recorder {

namespace {

constexpr std::size_t kPiece = std::size_t{64} << 10;

}  // namespace

WindowText::WindowText(std::shared_ptr<const Window> window, bool with_overloads)
    : window_(std::move(window)),
      with_overloads_(with_overloads),
      process_(::getpid()),
      base_ns_(base_time_ns(*window_)),
      first_id_(first_external_id(*window_)),
      lines_(text_, base_ns_) {
  if (window_->device_trace() == nullptr) return;
  devices_.emplace(*window_, lines_, process_, first_id_, program_name(*window_, process_));
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
  text_ += '{';
  for (const auto& [key, json] : trace_members(*window_)) {
    wire::append_json_string(text_, key);
    text_.append(": ").append(json).append(",\n");
  }
  text_ += "\"traceEvents\": [";
}

void WindowText::append_place(std::uint32_t log) {
  lines_.add("\"pid\": {}, \"tid\": {}", process_,
             window_->recording().logs()[log]->identity().system_id);
}

void WindowText::append_times(std::uint64_t start_ticks, std::uint64_t end_ticks) {
  lines_.add_times(window_->unix_ns(start_ticks), window_->unix_ns(end_ticks));
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
  named("process_name", 0, "name", quoted(program_name(*window_, process_)));
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
  const Name& name = window_->name(range);
  if (with_overloads_ && !name.overload.empty()) {
    lines_.add_quoted(name.text + "." + name.overload);
  } else {
    lines_.add_quoted(name.text);
  }
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
  if (record.script_modules != NameNumber::none) {
    lines_.add_text("Module Hierarchy", window_->text(range, record.script_modules).text);
  }
  if (name.collective != nullptr) append_collective(lines_, *name.collective);
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
  if (module.parameters >= 0) lines_.add(R"(, "Module parameters": {})", module.parameters);
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
