#include "recorder/window/rows.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "recorder/log/inputs.h"
#include "recorder/log/record.h"
#include "recorder/window/device_rows.h"
#include "recorder/window/head.h"
#include "recorder/window/row_batch.h"

namespace tbtrace::recorder {

namespace {

class WindowRows {
 public:
  WindowRows(const Window& window, EventSink& sink)
      : window_(window),
        options_(window.recording().options()),
        process_(::getpid()),
        first_id_(first_external_id(window)),
        batch_(sink, base_time_ns(window)),
        operators_(batch_.category("cpu_op")),
        annotations_(batch_.category("user_annotation")),
        frames_(batch_.category("python_function")) {
    for (const auto& log : window.recording().logs()) {
      tracks_.push_back(batch_.track(process_, log->identity().system_id));
    }
  }

  void pass() {
    const std::string program = program_name(window_, process_);
    batch_.name_process(process_, program);
    for (const auto& log : window_.recording().logs()) {
      const ThreadIdentity& thread = log->identity();
      batch_.name_thread(process_, thread.system_id,
                         fmt::format("thread {} ({})", thread.system_id, thread.name));
    }
    if (window_.device_trace() != nullptr) name_devices(window_, program, batch_);
    add_events();
    if (window_.device_trace() != nullptr) {
      add_device_rows(window_, process_, first_id_, batch_);
    }
    for (std::size_t row = 0; row < window_.arrows().size(); ++row) add_forward_backward_flow(row);
    add_window();
    batch_.pass_on();
  }

 private:
  using InputIds = std::array<StringId, 3>;

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
          add_module(frames[next_frame++]);
        } else if (!frame_is_next && has_memory &&
                   (is_end || memory[next_memory].event.ticks < ticks)) {
          add_memory(memory[next_memory++]);
        } else {
          return;
        }
      }
    };
    for (std::size_t row = 0; row < window_.ranges().size(); ++row) {
      add_until(window_.ranges()[row].start_ticks, false);
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
    row.name = name_of(window_.name(range));
    row.track = tracks_[range.log];
    row.category = record.scope == Scope::user ? annotations_ : operators_;
    if (range.is_open) row.flags |= Events::kUnfinished;
    if (range.is_async) row.flags |= Events::kAsynchronous;
    const BeginRecord numbers =
        range.numbers == range.record ? record : begin_record(range.numbers);
    if (numbers.sequence_number >= 0) {
      batch_.add_argument(Argument::sequence_number, numbers.sequence_number);
      batch_.add_argument(Argument::forward_thread,
                          static_cast<std::int64_t>(numbers.forward_thread));
    }
    if (record.inputs != nullptr && record.inputs_size > 0) {
      add_inputs({record.inputs, record.inputs_size});
    }
    if (range.stack != 0) batch_.add_argument(Argument::call_stack, stack_of(range));
    batch_.add_range(row, window_.unix_ns(range.start_ticks), window_.unix_ns(range.end_ticks));
  }

  /// Most operators have the inputs of one before, whose texts are made once.
  void add_inputs(std::string_view bytes) {
    const auto [known, is_new] = inputs_.try_emplace(bytes);
    if (is_new) {
      InputTexts texts;
      append_input_texts(bytes, options_.element_types, texts);
      known->second = {batch_.text(texts.dims), batch_.text(texts.types),
                       batch_.text(texts.concrete)};
    }
    const auto [dims, types, concrete] = known->second;
    batch_.add_argument(Argument::input_dims, dims);
    batch_.add_argument(Argument::input_types, types);
    batch_.add_argument(Argument::concrete_inputs, concrete);
  }

  void add_module(const ModuleFrame& frame) {
    const Module& module = window_.modules().modules[frame.module];
    EventRow row;
    row.rank = ++events_;
    row.name = batch_.text(fmt::format("nn.Module: {}_{}", module.class_name, module.number));
    row.track = tracks_[frame.log];
    row.category = frames_;
    row.flags = Events::kPythonFrame | Events::kModule;
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
      batch_.add_flow(end);
    }
  }

  /// Kineto's range of the whole recording.
  void add_window() {
    EventRow row;
    row.name = batch_.text("PyTorch Profiler (0)");
    row.track = batch_.track(
        {.process = {0, batch_.text("Spans")}, .thread = {0, batch_.text("PyTorch Profiler")}});
    row.category = batch_.category("Trace");
    batch_.add_range(row, window_.start_ns(), window_.end_ns());
    batch_.note_time(window_.start_ns());
  }

  StringId name_of(const Name& name) {
    const auto [known, is_new] = names_.try_emplace(&name, StringId::empty);
    if (is_new) {
      known->second =
          batch_.text(name.overload.empty() ? name.text : name.text + "." + name.overload);
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
  std::int64_t process_;
  std::uint64_t first_id_;
  RowBatch batch_;
  CategoryId operators_;
  CategoryId annotations_;
  CategoryId frames_;
  std::uint32_t events_ = 0;      // number of those with an `Ev Idx`, which is one less than a rank
  std::vector<TrackId> tracks_;   // by log
  std::vector<StringId> stacks_;  // by number; empty: not looked up yet
  std::unordered_map<const Name*, StringId> names_;        // with overloads
  std::unordered_map<std::string_view, InputIds> inputs_;  // by the bytes in the log
};

}  // namespace

void pass_rows(const Window& window, EventSink& sink) { WindowRows(window, sink).pass(); }

}  // namespace tbtrace::recorder
