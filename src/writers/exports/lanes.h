// Ranges of one track on lanes on which they nest: a range that crosses another one goes to the
// next lane. Owns its memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tbtrace::writers {

class Lanes {
 public:
  /// Takes the ranges of one track by start, the longer first. Calls `end(lane, time)` for the
  /// ranges of the lane that are over, the inner one first. Returns the lane.
  template <typename End>
  std::size_t place(std::int64_t start_ns, std::int64_t end_ns, End&& end) {
    for (std::size_t lane = 0; lane < open_.size(); ++lane) {
      std::vector<std::int64_t>& ends = open_[lane];
      while (!ends.empty() && ends.back() <= start_ns) {
        end(lane, ends.back());
        ends.pop_back();
      }
      if (!ends.empty() && ends.back() < end_ns) continue;
      ends.push_back(end_ns);
      return lane;
    }
    open_.push_back({end_ns});
    return open_.size() - 1;
  }

  /// Ends all ranges that are open.
  template <typename End>
  void finish(End&& end) {
    for (std::size_t lane = 0; lane < open_.size(); ++lane) {
      for (; !open_[lane].empty(); open_[lane].pop_back()) end(lane, open_[lane].back());
    }
  }

  std::size_t size() const { return open_.size(); }

 private:
  std::vector<std::vector<std::int64_t>> open_;  // by lane: the ends, the outer one first
};

}  // namespace tbtrace::writers
