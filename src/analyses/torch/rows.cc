#include "analyses/torch/rows.h"

#include <algorithm>

namespace tbtrace::analyses {

void TorchRows::set_times(Row& row, Times times) {
  row.flags |= kOtherTimes;
  other_times_at_.insert(row.number, static_cast<std::uint32_t>(other_times_.size()));
  other_times_.push_back(times);
}

TorchRows::Times TorchRows::other_times_of(const Row& row) const {
  if (!row.has(kMemory)) return other_times_[other_times_at_.find(row.number)];
  const std::int64_t time_ns = leftovers[row.number].time_ns;
  return {time_ns, time_ns};
}

void TorchRows::drop_removed() {
  std::size_t kernel_count = 0;
  for (const Kernel& kernel : kernels) {
    if (!rows[kernel.row].has(kLosesKernels)) kernels[kernel_count++] = kernel;
  }
  kernels.resize(kernel_count, {});
  // Rows only move to the front, and parents come before children.
  Column<std::uint32_t> place;  // old row -> new row, or that of the parent that it is merged into
  place.reserve(rows.size());
  std::uint32_t size = 0;
  for (const Row& row : rows) {
    const std::uint32_t parent = row.parent == kNone ? kNone : place[row.parent];
    const bool stays = !row.has(kRemoved);
    place.push_back(stays ? size : parent);
    if (!stays) continue;
    rows[size] = row;
    rows[size++].parent = parent;
  }
  rows.resize(size, {});
  for (Kernel& kernel : kernels) kernel.row = place[kernel.row];
  const auto before = [](const Kernel& a, const Kernel& b) { return a.row < b.row; };
  if (!std::is_sorted(kernels.begin(), kernels.end(), before)) {
    std::stable_sort(kernels.begin(), kernels.end(), before);
  }
}

}  // namespace tbtrace::analyses
