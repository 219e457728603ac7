#include "analyses/torch/nesting.h"

#include <algorithm>
#include <vector>

namespace tbtrace::analyses {

namespace {

using Row = TorchRows::Row;

constexpr auto kNotRemoved = static_cast<std::uint8_t>(~TorchRows::kRemoved);
constexpr auto kKeepsKernels = static_cast<std::uint8_t>(~TorchRows::kLosesKernels);

}  // namespace

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

bool nest_rows(TorchRows& list, std::size_t threads) {
  struct Open {
    std::uint32_t row;
    NameId name;
    double end_us;
    bool has_child = false;
    std::uint32_t duplicate = TorchRows::kNone;  // the only child so far, if it has the same name
  };
  std::vector<std::vector<Open>> open(threads);
  std::size_t duplicates = 0;
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
    if (!stack.empty()) {
      Open& parent = stack.back();
      row.parent = parent.row;
      if (!parent.has_child && parent.name == row.name) {
        parent.duplicate = number;
        row.flags |= TorchRows::kRemoved;
        list.rows[parent.row].flags |= TorchRows::kLosesKernels;
        ++duplicates;
      } else if (parent.duplicate != TorchRows::kNone) {
        list.rows[parent.duplicate].flags &= kNotRemoved;
        list.rows[parent.row].flags &= kKeepsKernels;
        parent.duplicate = TorchRows::kNone;
        --duplicates;
      }
      parent.has_child = true;
    }
    stack.push_back({.row = number, .name = row.name, .end_us = end_us});
  }
  return duplicates > 0;
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
