#include "analyses/torch_nesting.h"

#include <algorithm>
#include <vector>

namespace tbtrace::analyses {

using Row = TorchRows::Row;

void sort_rows(TorchRows& list, std::size_t events) {
  const auto before = [&](const Row& a, const Row& b) {
    const double a_start = list.start_us(a);
    const double b_start = list.start_us(b);
    if (a_start != b_start) return a_start < b_start;
    return list.end_us(a) > list.end_us(b);
  };
  Row* const events_end = list.rows.begin() + events;
  for (Row* first = list.rows.begin(); first != events_end;) {
    const double start_us = list.start_us(*first);
    Row* last = first + 1;
    while (last != events_end && list.start_us(*last) == start_us) ++last;
    if (last - first > 1) std::stable_sort(first, last, before);
    first = last;
  }
  std::inplace_merge(list.rows.begin(), events_end, list.rows.end(), before);
}

void nest_rows(TorchRows& list, std::size_t threads) {
  struct Open {
    std::uint32_t row;
    double end_us;
  };
  std::vector<std::vector<Open>> open(threads);
  for (std::uint32_t number = 0; number < list.rows.size(); ++number) {
    Row& row = list.rows[number];
    if (!row.in_tree()) continue;
    const double start_us = list.start_us(row);
    const double end_us = list.end_us(row);
    std::vector<Open>& stack = open[index(row.track)];
    while (!stack.empty()) {
      const Open& top = stack.back();
      if (start_us < top.end_us && end_us <= top.end_us) break;
      stack.pop_back();
    }
    if (!stack.empty()) row.parent = stack.back().row;
    stack.push_back({number, end_us});
  }
}

void remove_duplicates(TorchRows& list) {
  constexpr std::uint8_t kSeveral = 2;
  const std::size_t size = list.rows.size();
  Column<std::uint8_t> children;  // none, one or several
  children.resize(size, 0);
  bool any = false;
  for (const Row& row : list.rows) {
    if (row.parent == TorchRows::kNone) continue;
    if (children[row.parent] < kSeveral) ++children[row.parent];
    any = any || list.rows[row.parent].name == row.name;
  }
  if (!any) return;
  // torch repeats the pass until nothing changes. Parents come before children and each step takes
  // effect at once, so what it enables comes later in the same pass: one pass is enough.
  any = false;
  for (std::uint32_t number = 0; number < size; ++number) {
    Row& row = list.rows[number];
    const std::uint32_t direct = row.parent;
    while (row.parent != TorchRows::kNone && list.rows[row.parent].has(TorchRows::kRemoved)) {
      row.parent = list.rows[row.parent].parent;
    }
    const std::uint32_t parent = row.parent;
    if (parent == TorchRows::kNone || children[parent] != 1) continue;
    if (list.rows[parent].name != row.name) continue;
    row.flags |= TorchRows::kRemoved;
    list.rows[direct].flags |= TorchRows::kLosesKernels;
    children[parent] = children[number];
    any = true;
  }
  if (any) list.drop_removed();
}

void add_up_children(TorchRows& list) {
  list.children_us = SparseColumn<double>(list.rows.size());
  for (const Row& row : list.rows) {
    if (row.parent != TorchRows::kNone) list.children_us.mark(row.parent);
  }
  list.children_us.settle();
  for (const Row& row : list.rows) {
    if (row.parent != TorchRows::kNone) list.children_us[row.parent] += list.elapsed_us(row);
  }
}

}  // namespace tbtrace::analyses
