#include "analyses/torch_nesting.h"

#include <algorithm>
#include <type_traits>
#include <vector>

namespace tbtrace::analyses {

using Row = TorchRows::Row;

void TorchRows::keep(std::span<const std::uint32_t> kept,
                     std::span<const std::uint32_t> kernels_of) {
  Column<std::uint32_t> place;  // old row -> new row
  Column<std::uint32_t> owner;  // old row -> new row that gets its kernels
  place.resize(rows.size(), kNone);
  owner.resize(rows.size(), kNone);
  for (std::uint32_t row = 0; row < kept.size(); ++row) {
    place[kept[row]] = row;
    owner[kernels_of[kept[row]]] = row;
  }
  // Rows only move to the front.
  for (std::uint32_t row = 0; row < kept.size(); ++row) {
    rows[row] = rows[kept[row]];
    if (rows[row].parent != kNone) rows[row].parent = place[rows[row].parent];
  }
  rows.resize(kept.size(), {});
  std::size_t memory_count = 0;
  for (RowMemory entry : memory) {
    entry.row = place[entry.row];
    if (entry.row != kNone) memory[memory_count++] = entry;
  }
  memory.resize(memory_count, {});
  std::size_t kernel_count = 0;
  for (Kernel kernel : kernels) {
    kernel.row = owner[kernel.row];
    if (kernel.row != kNone) kernels[kernel_count++] = kernel;
  }
  kernels.resize(kernel_count, {});
  const auto before = [](const Kernel& a, const Kernel& b) { return a.row < b.row; };
  if (!std::is_sorted(kernels.begin(), kernels.end(), before)) {
    std::stable_sort(kernels.begin(), kernels.end(), before);
  }
}

void sort_rows(TorchRows& list, std::size_t events) {
  const auto before = [](const Row& a, const Row& b) {
    if (a.start_us != b.start_us) return a.start_us < b.start_us;
    return a.end_us > b.end_us;
  };
  Row* const events_end = list.rows.begin() + events;
  for (Row* first = list.rows.begin(); first != events_end;) {
    Row* last = first + 1;
    while (last != events_end && last->start_us == first->start_us) ++last;
    if (last - first > 1) std::stable_sort(first, last, before);
    first = last;
  }
  std::inplace_merge(list.rows.begin(), events_end, list.rows.end(), before);
}

void nest_rows(TorchRows& list, std::size_t threads) {
  std::vector<std::vector<std::uint32_t>> open(threads);
  for (std::uint32_t number = 0; number < list.rows.size(); ++number) {
    Row& row = list.rows[number];
    if (!row.in_tree()) continue;
    std::vector<std::uint32_t>& stack = open[index(row.track)];
    while (!stack.empty()) {
      const Row& top = list.rows[stack.back()];
      if (row.start_us < top.end_us && row.end_us <= top.end_us) break;
      stack.pop_back();
    }
    if (!stack.empty()) row.parent = stack.back();
    stack.push_back(number);
  }
}

void remove_duplicates(TorchRows& list) {
  const std::size_t size = list.rows.size();
  Column<std::uint32_t> children;
  children.resize(size, 0);
  bool any = false;
  for (const Row& row : list.rows) {
    if (row.parent == TorchRows::kNone) continue;
    ++children[row.parent];
    any = any || list.rows[row.parent].name == row.name;
  }
  if (!any) return;
  Column<std::uint8_t> removed;
  Column<std::uint32_t> kernels_of;
  removed.resize(size, 0);
  for (std::uint32_t row = 0; row < size; ++row) kernels_of.push_back(row);
  // torch repeats the pass until nothing changes. Parents come before children and each step takes
  // effect at once, so what it enables comes later in the same pass: one pass is enough.
  for (std::uint32_t number = 0; number < size; ++number) {
    Row& row = list.rows[number];
    while (row.parent != TorchRows::kNone && removed[row.parent] != 0) {
      row.parent = list.rows[row.parent].parent;
    }
    const std::uint32_t parent = row.parent;
    if (parent == TorchRows::kNone || children[parent] != 1) continue;
    if (list.rows[parent].name != row.name) continue;
    removed[number] = 1;
    children[parent] = children[number];
    kernels_of[parent] = kernels_of[number];
  }
  Column<std::uint32_t> kept;
  for (std::uint32_t row = 0; row < size; ++row) {
    if (removed[row] == 0) kept.push_back(row);
  }
  if (kept.size() < size) list.keep(kept.view(), kernels_of.view());
}

void add_up_children(TorchRows& list) {
  list.children_us.resize(list.rows.size(), 0);
  for (const Row& row : list.rows) {
    if (row.parent != TorchRows::kNone) list.children_us[row.parent] += row.elapsed_us();
  }
}

}  // namespace tbtrace::analyses
