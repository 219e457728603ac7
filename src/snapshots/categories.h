// What memory was for, by where it was allocated and freed. The rules are in
// docs/formats/memory_snapshot.md.
// Refers to what it is made with. One thread.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "snapshots/origins.h"
#include "snapshots/replay.h"

namespace tbtrace::snapshots {

class Categories {
 public:
  Categories(const DeviceReplay& replay, Origins& origins);

  /// `unknown` if nothing shows it.
  std::string_view of(const Allocation& allocation);

 private:
  std::string_view by_stack(const Allocation& allocation);
  std::string_view of_backward(const Allocation& allocation);
  std::string_view of_forward(const Allocation& allocation);

  const DeviceReplay& replay_;
  Origins& origins_;
  std::vector<std::uint32_t> backward_;  // places of entries in a backward
  /// The last one in a backward or an optimizer that is over, plus 1.
  std::uint32_t last_of_step_ = 0;
  bool has_steps_ = false;
};

}  // namespace tbtrace::snapshots
