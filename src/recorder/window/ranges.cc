#include "recorder/window/ranges.h"

#include <algorithm>
#include <utility>

#include "recorder/log/record.h"
#include "recorder/log/ticks.h"

namespace tbtrace::recorder {

std::uint64_t Ranges::start_of(const Row& row) const {
  return nearest_ticks(*row.record >> record_detail::kKindBits, started_);
}

Range Ranges::operator[](std::size_t number) const {
  const Row& row = rows_[number];
  const std::uint64_t start = start_of(row);
  const auto end = [&] {
    // A thread may begin a range while its recording ends.
    if (row.is_open != 0) return std::max(ended_, start);
    return row.length == kLong ? long_ends_.at(row.record) : start + row.length;
  };
  return {.record = row.record,
          .numbers = row.has_numbers != 0 ? numbers_.at(row.record) : row.record,
          .start_ticks = start,
          .end_ticks = end(),
          .log = row.log,
          .stack = number < stacks_.size() ? stacks_[number] : 0,
          .is_open = row.is_open != 0,
          .is_async = row.is_async != 0,
          .ends_elsewhere = row.ends_elsewhere != 0};
}

void Ranges::add(const std::uint64_t* record, std::uint32_t log) {
  rows_.push_back({.record = record,
                   .length = 0,
                   .log = log,
                   .is_open = 1,
                   .is_async = 0,
                   .ends_elsewhere = 0,
                   .has_numbers = 0});
}

void Ranges::set_end(std::size_t number, std::uint64_t ticks) {
  Row& row = rows_[number];
  row.is_open = 0;
  const std::uint64_t length = ticks - start_of(row);  // huge if the clock went back
  row.length = length < kLong ? static_cast<std::uint32_t>(length) : kLong;
  if (row.length == kLong) long_ends_[row.record] = ticks;
}

void Ranges::set_late_end(std::size_t number, std::uint64_t ticks, bool is_elsewhere) {
  set_end(number, ticks);
  rows_[number].is_async = 1;
  rows_[number].ends_elsewhere = is_elsewhere ? 1 : 0;
}

void Ranges::set_numbers(std::size_t number, const std::uint64_t* numbers) {
  rows_[number].has_numbers = 1;
  numbers_[rows_[number].record] = numbers;
}

void Ranges::keep_between(std::uint64_t from, std::uint64_t to) {
  Column<Row> kept;
  for (std::size_t number = 0; number < rows_.size(); ++number) {
    const Range range = (*this)[number];
    if (range.end_ticks >= from && range.start_ticks <= to) kept.push_back(rows_[number]);
  }
  rows_ = std::move(kept);
}

void Ranges::sort_by_start() {
  const auto by_start = [this](const Row& a, const Row& b) { return start_of(a) < start_of(b); };
  Row* const first = rows_.data();
  if (std::is_sorted(first, first + rows_.size(), by_start)) return;
  std::stable_sort(first, first + rows_.size(), by_start);
}

}  // namespace tbtrace::recorder
