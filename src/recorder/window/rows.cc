#include "recorder/window/rows.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "recorder/log/inputs.h"
#include "recorder/log/range_arguments.h"
#include "recorder/log/record.h"
#include "recorder/log/storage_key.h"
#include "recorder/window/collective_arguments.h"
#include "recorder/window/device_rows.h"
#include "recorder/window/head.h"
#include "recorder/window/row_batch.h"
#include "trace/memory_names.h"

namespace tbtrace::recorder {

namespace {

class WindowRows {
 public:
  WindowRows(const Window& window, const RowRequest& request, EventSink& sink)
      : window_(window),
        options_(window.recording().options()),
        has_overloads_(request.overloads),
        process_(window.recording().other_process() == nullptr
                     ? ::getpid()
                     : window.recording().other_process()->id),
        first_id_(first_external_id(window)),
        batch_(sink, base_time_ns(window), window.start_ns(), request),
        operators_(batch_.category("cpu_op")),
        annotations_(batch_.category("user_annotation")),
        frames_(batch_.category("python_function")) {
    for (const auto& log : window.recording().logs()) {
      tracks_.push_back(batch_.track(process_, log->identity().system_id));
    }
  }

  void pass() {
    const std::string program = program_name(window_, process_);
    batch_.name_process(process_, program, "CPU", process_);
    for (const auto& log : window_.recording().logs()) {
      const ThreadIdentity& thread = log->identity();
      batch_.name_thread(process_, thread.system_id,
                         fmt::format("thread {} ({})", thread.system_id, thread.name));
    }
    if (window_.device_trace() != nullptr) name_devices(window_, program, batch_);
    add_events();
    for (const Window::Mark& mark : window_.marks()) add_mark(mark);
    if (window_.device_trace() != nullptr) {
      add_device_rows(window_, process_, first_id_, batch_);
    }
    for (std::size_t row = 0; row < window_.arrows().size(); ++row) add_forward_backward_flow(row);
    add_window();
    batch_.pass_on();
  }

 private:
  struct InputIds {
    StringId concrete;
    StringId types;
    StringId strides;
    StringId dims;
  };

  /// Module frames, ranges and memory records by time; of two that begin at once, in this order.
  void add_events() {
    const auto& frames = window_.modules().frames;
    const auto memory = window_.memory();
    std::size_t next_frame = 0;
    std::size_t next_memory = 0;
    const auto add_until = [&](std::uint64_t ticks, bool is_end) {
      for (;;) {
        const bool has_frame = next_frame < frames.size();
        const bool has_memory = next_memory < memory.size();
        const bool frame_is_next =
            has_frame &&
            (!has_memory || frames[next_frame].start_ticks <= memory[next_memory].event.ticks);
        if (frame_is_next && (is_end || frames[next_frame].start_ticks <= ticks)) {
          add_module(next_frame++);
        } else if (!frame_is_next && has_memory &&
                   (is_end || memory[next_memory].event.ticks < ticks)) {
          add_memory(memory[next_memory++]);
        } else {
          return;
        }
      }
    };
    for (std::size_t row = 0; row < window_.ranges().size(); ++row) {
      add_until(window_.ranges().start_ticks(row), false);
      add_range(row);
    }
    add_until(0, true);
  }

  void add_range(std::size_t number) {
    const Window::Range& range = window_.ranges()[number];
    const BeginRecord record = begin_record(range.record);
    if (record.scope == Scope::module) return;  // it is a frame
    EventRow row;
    row.external_id = static_cast<std::int64_t>(first_id_ + number);
    row.rank = ++events_;
    const Name& name = window_.name(range);
    row.name = name_of(name);
    row.track = tracks_[range.log];
    row.category = record.scope == Scope::user ? annotations_ : operators_;
    if (range.is_open) row.flags |= Events::kUnfinished;
    if (range.is_async) row.flags |= Events::kAsynchronous;
    batch_.argument(Argument::external_id, row.external_id);
    batch_.argument("Record function id", 0);
    const BeginRecord numbers =
        range.numbers == range.record ? record : begin_record(range.numbers);
    if (numbers.sequence_number >= 0) {
      batch_.argument(Argument::sequence_number, numbers.sequence_number);
      batch_.argument(Argument::forward_thread, numbers.forward_thread);
    }
    if (record.inputs != nullptr && record.inputs_size > 0) {
      add_inputs({record.inputs, record.inputs_size});
    }
    if (record.script_modules != NameNumber::none && !has_script_frame(number)) {
      batch_.argument(Argument::module_hierarchy,
                      batch_.text(window_.text(range, record.script_modules).text));
    }
    if (name.collective != nullptr) add_collective(batch_, *name.collective);
    if (range.stack != 0) batch_.argument(Argument::call_stack, stack_of(range));
    add_arguments(record.arguments);
    if (range.is_open) batch_.argument_json(Argument::finished, "\"false\"");
    if (range.is_async) batch_.argument_json(Argument::asynchronous, "\"true\"");
    batch_.argument(Argument::event_index, row.rank - 1);
    batch_.add_range(row, window_.unix_ns(range.start_ticks), window_.unix_ns(range.end_ticks));
  }

  /// Most operators have the inputs of one before, whose texts are made once.
  void add_inputs(std::string_view bytes) {
    const auto [known, is_new] = inputs_.try_emplace(bytes);
    if (is_new) {
      InputTexts texts;
      append_input_texts(bytes, options_.element_types, texts);
      known->second = {.concrete = batch_.text(texts.concrete),
                       .types = batch_.text(texts.types),
                       .strides = batch_.text(texts.strides),
                       .dims = batch_.text(texts.dims)};
    }
    batch_.argument(Argument::concrete_inputs, known->second.concrete);
    batch_.argument(Argument::input_types, known->second.types);
    batch_.argument(Argument::input_strides, known->second.strides);
    batch_.argument(Argument::input_dims, known->second.dims);
  }

  /// Its modules are frames, then.
  bool has_script_frame(std::size_t number) const {
    const auto& has_frame = window_.modules().has_script_frame;
    return number < has_frame.size() && has_frame[number];
  }

  /// What the program says of a range, as one member: its keys are any texts, those that readers
  /// know among them.
  void add_arguments(std::string_view bytes) {
    if (bytes.empty()) return;
    const std::string json = range_arguments_json(bytes);
    if (!json.empty()) batch_.argument(Argument::range_arguments, batch_.text(json));
  }

  void add_mark(const Window::Mark& mark) {
    const TrackId track = tracks_[mark.log];
    const std::int64_t unix_ns = window_.unix_ns(mark.ticks());
    const StringId name = name_of_mark(window_.name(mark).text);
    if (const auto* const counter = std::get_if<CounterRecord>(&mark.record)) {
      batch_.argument_json("value", number_json(counter->value));
      batch_.add_counter(name, track, unix_ns, counter->value);
    } else {
      const std::string json = range_arguments_json(std::get<InstantRecord>(mark.record).arguments);
      if (!json.empty()) {
        batch_.argument_json(argument_row(Argument::range_arguments).keys[0], json);
      }
      batch_.add_thread_instant(name, track, unix_ns, json);
    }
  }

  /// Readers know records of memory by the names of instants.
  StringId name_of_mark(const std::string& name) {
    return batch_.text(is_memory_name(name) ? name + " (instant)" : name);
  }

  void add_module(std::size_t number) {
    const ModuleFrame& frame = window_.modules().frames[number];
    const Module& module = window_.modules().modules[frame.module];
    EventRow row;
    row.rank = ++events_;
    row.name = batch_.text(fmt::format("nn.Module: {}_{}", module.class_name, module.number));
    row.track = tracks_[frame.log];
    row.category = frames_;
    row.flags = Events::kPythonFrame | Events::kModule;
    batch_.argument(Argument::python_id, number + 1);
    if (frame.parent < 0) {
      batch_.argument_json(Argument::python_parent_id, "null");
    } else {
      batch_.argument(Argument::python_parent_id, frame.parent + 1);
    }
    batch_.argument(Argument::python_module_id, module.number);
    if (!module.path.empty()) batch_.argument(Argument::module_path, batch_.text(module.path));
    if (module.parameters >= 0) batch_.argument(Argument::module_parameters, module.parameters);
    batch_.argument(Argument::event_index, row.rank - 1);
    batch_.add_range(row, window_.unix_ns(frame.start_ticks), window_.unix_ns(frame.end_ticks));
  }

  void add_memory(const Window::Memory& memory) {
    MemoryRecord record;
    record.time_ns = batch_.time(window_.unix_ns(memory.event.ticks));
    record.bytes = memory.event.bytes;
    record.total_allocated_bytes = std::max<std::int64_t>(memory.total_allocated, -1);
    record.track = tracks_[memory.log];
    record.event_rank = ++events_;
    record.device_type = memory.device.is_cuda() ? DeviceType::cuda : DeviceType::cpu;
    record.device_id = static_cast<std::int16_t>(memory.device.index());
    record.out_of_memory = memory.is_out_of_memory;
    batch_.argument(Argument::allocation_device_type,
                    static_cast<std::int64_t>(record.device_type));
    batch_.argument(Argument::allocation_device_id, memory.device.index());
    if (!memory.is_out_of_memory) {
      batch_.argument(Argument::address, address_of(memory.event.address));
    }
    batch_.argument(Argument::allocated_bytes, memory.event.bytes);
    batch_.argument(Argument::total_allocated, memory.total_allocated);
    batch_.argument(Argument::total_reserved, memory.total_reserved);
    batch_.argument(Argument::event_index, record.event_rank - 1);
    batch_.add_memory(record);
  }

  void add_forward_backward_flow(std::size_t number) {
    const Window::Arrow& arrow = window_.arrows()[number];
    for (const std::uint32_t row : {arrow.forward, arrow.backward}) {
      const Window::Range& range = window_.ranges()[row];
      FlowEnd end;
      end.type = FlowEnd::Type::forward_backward;
      end.id = static_cast<std::int64_t>(number + 1);
      end.time_ns = batch_.time(window_.unix_ns(range.start_ticks));
      end.track = tracks_[range.log];
      end.start = row == arrow.forward;
      batch_.add_flow(end, "fwdbwd");
    }
  }

  /// Kineto's range of the whole recording, and what stands at its ends.
  void add_window() {
    EventRow row;
    row.name = batch_.text("PyTorch Profiler (0)");
    const EventBatch::Track spans = batch_.text_track("Spans", "PyTorch Profiler");
    row.track = batch_.track(spans);
    row.category = batch_.category("Trace");
    batch_.argument("Op count", window_.ranges().size());
    batch_.add_range(row, window_.start_ns(), window_.end_ns());
    batch_.add_label("process_sort_index", {.process = spans.process, .thread = {}}, "sort_index",
                     "536870912");
    batch_.add_instant("Iteration Start: PyTorch Profiler", "Traces", "Trace PyTorch Profiler",
                       window_.start_ns());
    batch_.add_instant("Record Window End", "", "", window_.end_ns());
  }

  StringId name_of(const Name& name) {
    const auto [known, is_new] = names_.try_emplace(&name, StringId::empty);
    if (is_new) {
      const bool has_overload = has_overloads_ && !name.overload.empty();
      known->second = batch_.text(has_overload ? name.text + "." + name.overload : name.text);
    }
    return known->second;
  }

  StringId stack_of(const Window::Range& range) {
    if (stacks_.size() <= range.stack) stacks_.resize(std::size_t{range.stack} + 1);
    StringId& stack = stacks_[range.stack];
    if (stack == StringId::empty) stack = batch_.text(window_.call_stack(range));
    return stack;
  }

  const Window& window_;
  const RecordingOptions& options_;
  bool has_overloads_;
  std::int64_t process_;
  std::uint64_t first_id_;
  RowBatch batch_;
  CategoryId operators_;
  CategoryId annotations_;
  CategoryId frames_;
  std::uint32_t events_ = 0;      // number of those with an `Ev Idx`, which is one less than a rank
  std::vector<TrackId> tracks_;   // by log
  std::vector<StringId> stacks_;  // by number; empty: not looked up yet
  std::unordered_map<const Name*, StringId> names_;
  std::unordered_map<std::string_view, InputIds> inputs_;  // by the bytes in the log
};

}  // namespace

void pass_rows(const Window& window, const RowRequest& request, EventSink& sink) {
  WindowRows(window, request, sink).pass();
}

}  // namespace tbtrace::recorder
