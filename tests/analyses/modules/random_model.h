// Random recordings of a model: modules, operators with shapes, backward passes that name their
// forward operators, kernels, memory, steps, Python frames. Small and full of ties.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <tbtrace/trace.h>

#include "fixtures/random_choices.h"
#include "fixtures/trace_rows.h"
#include "trace/trace_builder.h"

namespace tbtrace::analyses {

class RandomModel {
 public:
  explicit RandomModel(unsigned seed, std::int64_t most_records = 7)
      : random_(seed), most_records_(most_records) {}

  Trace make() {
    has_paths_ = random_.below(3) == 0;
    has_stacks_ = random_.below(2) == 0;
    for (std::int64_t step = 0, count = random_.below(4); step < count; ++step) {
      add("user_annotation", kSteps[static_cast<std::size_t>(step)], 30 * step,
          random_.below(3) == 0 ? 35 : 30);
    }
    for (std::int64_t root = 1 + random_.below(4); root > 0; --root) {
      const std::int64_t start = random_.below(60);
      nest(random_.below(3), start, start + random_.below(50), 4);
    }
    for (std::int64_t more = random_.below(6); more > 0; --more) {
      add_range(random_.below(3), random_.below(90), random_.below(20));
    }
    for (std::int64_t kernel = random_.below(10); kernel > 0; --kernel) add_kernel();
    for (std::int64_t record = random_.below(most_records_ + 1); record > 0; --record) add_memory();
    return fixtures::finished(builder_);
  }

 private:
  static constexpr std::array<std::string_view, 4> kSteps = {"ProfilerStep#3", "ProfilerStep#4",
                                                             "ProfilerStep#5", "ProfilerStep#6"};

  void nest(std::int64_t thread, std::int64_t start, std::int64_t end, int depth) {
    add_range(thread, start, end - start);
    for (std::int64_t child = depth > 0 ? random_.below(4) : 0, at = start; child > 0; --child) {
      const std::int64_t from = at + random_.below(end - at + 1) / 2;
      const std::int64_t to = from + random_.below(end - from + 1);
      nest(thread, from, to, depth - 1);
      at = to;
    }
  }

  EventId add(std::string_view category, std::string_view name, std::int64_t start,
              std::int64_t duration, std::int64_t thread = 0, std::uint8_t flags = 0) {
    EventRow row;
    row.start_ns = start;
    row.duration_ns = duration;
    row.flags = flags;
    row.external_id = category == "cpu_op" ? ++ids_ : 0;
    row.name = builder_.intern(name);
    row.track = fixtures::track(builder_, 1, thread);
    row.category = builder_.category(builder_.intern(category));
    return builder_.add_event(row);
  }

  void add_range(std::int64_t thread, std::int64_t start, std::int64_t duration) {
    if (random_.below(6) == 0) duration = 0;
    switch (random_.below(7)) {
      case 0:
      case 1:
        return add_module(thread, start, duration);
      case 2:
        return add_frame(thread, start, duration);
      case 3:
        return add_backward(thread, start, duration);
      case 4:
        add("cuda_runtime", "cudaLaunchKernel", start, duration, thread);
        return;
      default:
        return add_operator(thread, start, duration);
    }
  }

  void add_module(std::int64_t thread, std::int64_t start, std::int64_t duration) {
    constexpr std::array<std::string_view, 4> kNames = {
        "nn.Module: Net_0", "nn.Module: Linear_0", "nn.Module: Linear_1", "nn.Module: Block_0"};
    constexpr std::array<std::string_view, 3> kPaths = {"net", "net.fc", "net.blocks.0"};
    const EventId event = add("python_function", random_.one_of(kNames), start, duration, thread,
                              Events::kPythonFrame | Events::kModule);
    if (has_paths_ && random_.below(2) == 0) {
      text(event, Argument::module_path, random_.one_of(kPaths));
    }
  }

  void add_frame(std::int64_t thread, std::int64_t start, std::int64_t duration) {
    constexpr std::array<std::string_view, 5> kFrames = {
        "model.py(3): forward", "model.py(9): loss", "train.py(1): main",
        "torch/nn/functional.py(7): linear", "<built-in method relu>"};
    if (has_stacks_) return add_operator(thread, start, duration);
    const EventId event = add("python_function", random_.one_of(kFrames), start, duration, thread,
                              Events::kPythonFrame);
    constexpr std::array<std::string_view, 3> kCallers = {"model.py:5", "train.py:2", "odd"};
    if (random_.below(3) == 0) text(event, Argument::call_from, random_.one_of(kCallers));
  }

  void add_operator(std::int64_t thread, std::int64_t start, std::int64_t duration) {
    constexpr std::array<std::string_view, 3> kNames = {"aten::mm", "aten::add", "aten::linear"};
    constexpr std::array<std::string_view, 4> kStacks = {
        "model.py(4): forward;train.py(2): main;", "train.py(2): main;",
        "torch/x.py(1): __enter__;train.py(2): main;", "<built-in method relu>;"};
    const EventId event = add("cpu_op", random_.one_of(kNames), start, duration, thread);
    if (random_.below(2) == 0) number(event, Argument::sequence_number, random_.below(6));
    if (has_stacks_ && random_.below(3) > 0)
      text(event, Argument::call_stack, random_.one_of(kStacks));
    if (random_.below(2) == 0) {
      text(event, Argument::input_dims, "[[2, 3], [3, 4]]");
      text(event, Argument::input_types, R"(["float", "float"])");
    }
  }

  void add_backward(std::int64_t thread, std::int64_t start, std::int64_t duration) {
    if (random_.below(3) == 0) {
      const EventId event =
          add("cpu_op", "torch::autograd::AccumulateGrad", start, duration, thread);
      constexpr std::array<std::string_view, 3> kDims = {"[[4]]", "[[2, 3]]", "[[3, 2]]"};
      text(event, Argument::input_dims, random_.one_of(kDims));
      text(event, Argument::input_types, R"(["float"])");
      return;
    }
    constexpr std::array<std::string_view, 2> kNames = {
        "autograd::engine::evaluate_function: MmBackward0", "MmBackward0"};
    const EventId event = add("cpu_op", random_.one_of(kNames), start, duration, thread);
    if (random_.below(4) > 0) number(event, Argument::sequence_number, random_.below(6));
    if (random_.below(4) > 0) number(event, Argument::forward_thread, 1 + random_.below(2));
  }

  void add_kernel() {
    EventRow row;
    row.start_ns = random_.below(100);
    row.duration_ns = random_.below(15);
    row.external_id = random_.below(3) == 0 ? 0 : 1 + random_.below(ids_ + 1);
    row.name = builder_.intern("gemm");
    row.track = fixtures::track(builder_, 0, 7);
    row.category = builder_.category(builder_.intern("kernel"));
    builder_.add_event(row);
  }

  void add_memory() {
    constexpr std::array kDevices = {DeviceType::cpu, DeviceType::cuda};
    MemoryRecord record;
    record.time_ns = random_.below(110);
    record.bytes = random_.below(200) - 60;
    record.device_type = kDevices[static_cast<std::size_t>(random_.below(2))];
    record.track = fixtures::track(builder_, 1, random_.below(3));
    record.out_of_memory = random_.below(8) == 0;
    if (random_.below(3) == 0) record.total_allocated_bytes = random_.below(300);
    builder_.add_memory(record);
    if (random_.below(6) > 0) builder_.add_memory_argument(Argument::address, random_.below(3));
  }

  void text(EventId event, Argument argument, std::string_view value) {
    builder_.add_argument(event, argument, builder_.intern(value));
  }
  void number(EventId event, Argument argument, std::int64_t value) {
    builder_.add_argument(event, argument, value);
  }

  fixtures::RandomChoices random_;
  std::int64_t most_records_;
  TraceBuilder builder_;
  bool has_paths_ = false;
  bool has_stacks_ = false;
  std::int64_t ids_ = 0;
};

}  // namespace tbtrace::analyses
