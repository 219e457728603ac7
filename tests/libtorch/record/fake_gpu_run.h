// What programs have in common that record GPUs which are not there: some of their steps are
// recorded, and what the GPUs did in those is printed for whoever reads the recording.
#pragma once

#include <cstdint>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <tbtrace/profiler.h>

namespace tbtrace::testing {

/// How often, and how much in all.
struct Truth {
  std::uint64_t calls = 0;
  std::uint64_t total = 0;
};
using Truths = std::map<std::string, Truth>;

inline void count(Truths& truths, const std::string& name, std::uint64_t amount) {
  ++truths[name].calls;
  truths[name].total += amount;
}

/// A member of a JSON object, with a comma behind it.
inline void print(const char* name, const Truths& truths) {
  std::cout << '"' << name << "\": {";
  const char* comma = "";
  for (const auto& [key, truth] : truths) {
    std::cout << comma << '"' << key << "\": [" << truth.calls << ", " << truth.total << ']';
    comma = ", ";
  }
  std::cout << "}, ";
}

inline constexpr int kFirst = 2;   // recorded step
inline constexpr int kActive = 3;  // so many are

/// Calls `step(whether it is recorded)` six times; false if the profiler warns, or cannot write.
inline bool record_steps(ProfilerOptions options, const std::function<void(Profiler&)>& prepare,
                         const std::function<void(bool)>& step) {
  bool is_fine = true;
  options.activities = {Activity::cpu, Activity::cuda};
  options.schedule = schedule({.wait = 1, .warmup = 1, .active = kActive, .repeat = 1});
  options.experimental.check_launches = true;
  options.experimental.on_warning = [&](std::string_view sentence) {
    std::cerr << sentence << '\n';
    is_fine = false;
  };
  Profiler profiler(std::move(options));
  prepare(profiler);
  {
    const auto recording = profiler.record();
    for (int number = 0; number < kFirst + kActive + 1; ++number) {
      step(number >= kFirst && number < kFirst + kActive);
      profiler.step();
    }
  }
  const Status written = profiler.wait_for_exports();
  if (!written.ok()) std::cerr << written.message() << '\n';
  return is_fine && written.ok();
}

}  // namespace tbtrace::testing
