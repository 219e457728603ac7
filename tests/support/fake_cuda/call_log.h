// Which functions of a faked library were called how often, and which calls are to fail.
// Any thread. The names are the caller's; the last of them may be functions that only look
// something up, which all calls together do not count.
// The name of a function that there is not ends the program with a sentence.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

namespace tbtrace::fake_cuda {

class CallLog {
 public:
  static constexpr std::size_t kMostFunctions = 32;

  /// Functions from number `lookups` on only look something up.
  CallLog(std::span<const std::string_view> names, std::size_t lookups)
      : names_(names), lookups_(lookups) {}

  /// What the call answers instead of doing its work; 0: it does it.
  int enter(std::size_t function) {
    const std::uint64_t count = ++counts_[function];
    const std::uint64_t total = function < lookups_ ? ++total_ : 0;
    const int own_code = codes_[function];
    const std::uint64_t own_turn = turns_[function];
    if (own_code != 0 && (own_turn == 0 || own_turn == count)) return own_code;
    return total != 0 && total == total_turn_ ? total_code_.load() : 0;
  }

  void fail(const char* name, std::uint64_t nth, int code) {
    const std::size_t function = number(name);
    turns_[function] = nth;
    codes_[function] = code;
  }

  void fail_call(std::uint64_t nth, int code) {
    total_code_ = code;
    total_turn_ = nth;
  }

  std::uint64_t calls(const char* name) const {
    return name == nullptr ? total_.load() : counts_[number(name)].load();
  }

  void reset() {
    for (std::size_t function = 0; function < kMostFunctions; ++function) {
      counts_[function] = 0;
      turns_[function] = 0;
      codes_[function] = 0;
    }
    total_ = 0;
    total_turn_ = 0;
    total_code_ = 0;
  }

 private:
  std::size_t number(std::string_view name) const {
    for (std::size_t function = 0; function < names_.size(); ++function) {
      if (names_[function] == name) return function;
    }
    const std::string line = "the fake library has no function " + std::string(name) + "\n";
    static_cast<void>(std::fputs(line.c_str(), stderr));
    std::abort();
  }

  const std::span<const std::string_view> names_;
  const std::size_t lookups_;
  std::array<std::atomic<std::uint64_t>, kMostFunctions> counts_ = {};
  std::array<std::atomic<std::uint64_t>, kMostFunctions> turns_ = {};
  std::array<std::atomic<int>, kMostFunctions> codes_ = {};
  std::atomic<std::uint64_t> total_ = 0;
  std::atomic<std::uint64_t> total_turn_ = 0;
  std::atomic<int> total_code_ = 0;
};

}  // namespace tbtrace::fake_cuda
