// Rows of a made-up training run as Kineto writes them.
// Appends to a string that must outlive it and that the caller may empty at any time.
// Two dialects: that of 2022 (whole microseconds; `External id` repeats the correlation) and, with
// shapes, that of torch 2.x (decimals since a base; `External id` names the operator).
#pragma once

#include <cstdint>
#include <string>

#include "trace_model.h"

namespace tbtrace::benchmarks {

class TraceText {
 public:
  TraceText(std::string& text, bool shapes) : text_(text), shapes_(shapes) {}

  // In this order; the three in the middle for each step.
  void begin();
  void operators(const StepRows& rows);
  void memory(const StepRows& rows);
  void launches(const StepRows& rows);
  void end(std::int64_t end_ns);

 private:
  void time(std::int64_t ns);
  void span(std::int64_t start_ns, std::int64_t end_ns);
  void range(std::string_view category, std::string_view name, std::int64_t process,
             std::int64_t thread);
  void flow(char phase, std::string_view category, std::int64_t id, std::int64_t process,
            std::int64_t thread, std::int64_t time_ns);
  void one_operator(const Operator& row);
  void inputs(const Operator& row);
  void device_work(const Launch& row);
  void names();
  void name_row(std::string_view what, std::int64_t process, std::int64_t thread,
                std::string_view key, std::string_view value);

  std::string& text_;
  bool shapes_;
  std::int64_t event_rank_ = 0;  // `Ev Idx`
};

}  // namespace tbtrace::benchmarks
