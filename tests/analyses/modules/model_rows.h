// Rows of a model's recording as a test writes them down: modules, operators with shapes, nodes of
// autograd's graph, gradients.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <tbtrace/trace.h>

#include "fixtures/trace_rows.h"
#include "trace/trace_builder.h"

namespace tbtrace::analyses {

class ModelRows {
 public:
  EventId module(std::string_view name, std::int64_t start, std::int64_t duration,
                 std::string_view path = {}) {
    EventRow row;
    row.start_ns = start;
    row.duration_ns = duration;
    row.flags = Events::kPythonFrame | Events::kModule;
    row.name = builder_.intern("nn.Module: " + std::string(name));
    row.track = fixtures::track(builder_, 1, 1);
    row.category = builder_.category(builder_.intern("python_function"));
    const EventId event = builder_.add_event(row);
    if (!path.empty()) text(event, Argument::module_path, path);
    return event;
  }

  /// `dims`: of its inputs, all of them floats.
  EventId op(std::string_view name, std::int64_t start, std::int64_t duration,
             std::int64_t sequence = -1, std::string_view dims = {}, std::int64_t thread = 1) {
    const EventId event = fixtures::add(
        builder_, {.name = name, .start = start, .duration = duration, .thread = thread});
    if (sequence >= 0) number(event, Argument::sequence_number, sequence);
    if (!dims.empty()) {
      text(event, Argument::input_dims, dims);
      text(event, Argument::input_types, R"(["float", "float", "float", "float"])");
    }
    return event;
  }

  /// A node of autograd's graph with autograd's range around it.
  EventId node(std::string_view name, std::int64_t start, std::int64_t duration,
               std::int64_t sequence, std::int64_t thread = 2) {
    const std::string around = "autograd::engine::evaluate_function: " + std::string(name);
    const EventId outer = op(around, start, duration, sequence, {}, thread);
    number(outer, Argument::forward_thread, 1);
    const EventId event = op(name, start, duration, sequence, {}, thread);
    number(event, Argument::forward_thread, 1);
    return event;
  }

  /// A gradient of this shape, such as `[4, 3]`, is added to a parameter.
  EventId gradient(std::string_view shape, std::int64_t start, std::int64_t thread = 2) {
    op("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", start, 2, -1, {},
       thread);
    return op("torch::autograd::AccumulateGrad", start, 2, -1, "[" + std::string(shape) + "]",
              thread);
  }

  void text(EventId event, Argument argument, std::string_view value) {
    builder_.add_argument(event, argument, builder_.intern(value));
  }
  void number(EventId event, Argument argument, std::int64_t value) {
    builder_.add_argument(event, argument, value);
  }

  TraceBuilder& builder() { return builder_; }
  Trace finished() { return fixtures::finished(builder_); }

 private:
  TraceBuilder builder_;
};

}  // namespace tbtrace::analyses
