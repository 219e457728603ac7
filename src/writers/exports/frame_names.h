// Numbers for the names of ranges, the same number for equal names of several traces.
// Owns the names. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <tbtrace/trace.h>

#include "base/utf8.h"

namespace tbtrace::writers {

class FrameNames {
 public:
  /// The number of a name. Bytes that are not UTF-8 become U+FFFD.
  std::uint32_t number(std::string_view name) {
    std::string text = to_utf8(name);
    const auto found = numbers_.find(text);
    if (found != numbers_.end()) return found->second;
    const auto added = static_cast<std::uint32_t>(names_.size());
    names_.push_back(std::move(text));
    numbers_.emplace(names_.back(), added);
    return added;
  }

  const std::deque<std::string>& names() const { return names_; }

 private:
  std::deque<std::string> names_;
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
};

/// The same for the ranges of one trace, without looking at a text twice.
class FramesOfTrace {
 public:
  FramesOfTrace(const Trace& trace, FrameNames& names) : trace_(trace), names_(names) {}

  std::uint32_t operator()(EventId event) {
    const auto name = static_cast<std::size_t>(trace_.events().name(event));
    if (name >= numbers_.size()) numbers_.resize(name + 1 + name / 2, kNone);
    if (numbers_[name] == kNone) numbers_[name] = names_.number(trace_.name(event));
    return numbers_[name];
  }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  const Trace& trace_;
  FrameNames& names_;
  std::vector<std::uint32_t> numbers_;
};

}  // namespace tbtrace::writers
