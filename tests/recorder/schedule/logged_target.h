// A double of what a profiler drives: it writes down what is asked of it, a word a call.
// n: make, p: prepare, s: start, x: stop, e: renew, d: drop,
// r<step>: ready, o<step>: open, c<step>: close, w<text>.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "recorder/schedule/cycle.h"

namespace tbtrace::recorder {

class LoggedTarget final : public CycleTarget {
 public:
  void make() override { add("n"); }
  void prepare() override { add("p"); }
  void start() override { add("s"); }
  void stop() override { add("x"); }
  void renew() override { add("e"); }
  void drop() override { add("d"); }
  void ready(std::int64_t step) override {
    add("r" + std::to_string(step));
    if (on_ready) on_ready();
  }
  void open_step(std::int64_t step) override { add("o" + std::to_string(open_ = step)); }
  void close_step() override { add("c" + std::to_string(open_)); }
  void warn(std::string_view sentence) override { add("w" + std::string(sentence)); }
  bool device_stopped() override { return device_stops; }

  /// What was asked since the last call, words apart by blanks.
  std::string taken() { return std::exchange(log_, {}); }

  bool device_stops = false;
  std::function<void()> on_ready;

 private:
  void add(const std::string& word) { log_ += (log_.empty() ? "" : " ") + word; }

  std::string log_;
  std::int64_t open_ = -1;
};

}  // namespace tbtrace::recorder
