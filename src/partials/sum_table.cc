#include "partials/sum_table.h"

#include <algorithm>
#include <limits>

namespace tbtrace::partials {
namespace {

constexpr WideInteger kMost = ~(WideInteger{1} << 127);

/// Saturates. Only sums of squares, which have no negative terms, can become so large: so the order
/// of the terms does not matter.
WideInteger sum_of(WideInteger one, WideInteger two) {
  WideInteger sum = 0;
  if (!__builtin_add_overflow(one, two, &sum) && sum != -kMost - 1) return sum;
  return one > 0 ? kMost : -kMost;
}

}  // namespace

std::uint64_t Figure::count() const {
  return static_cast<std::uint64_t>(
      std::clamp<WideInteger>(value(), 0, std::numeric_limits<std::uint64_t>::max()));
}

void Figure::fold_in(Fold fold, Figure other) {
  if (!other.is_known()) return;
  if (!is_known()) {
    value_ = other.value_;
    return;
  }
  switch (fold) {
    case Fold::sum:
      value_ = sum_of(value_, other.value_);
      break;
    case Fold::least:
      value_ = std::min(value_, other.value_);
      break;
    case Fold::most:
      value_ = std::max(value_, other.value_);
      break;
  }
}

const report::DurationSketch& SumTable::durations(std::size_t row) const {
  static const report::DurationSketch kNone;
  return shape_->has_durations ? durations_[row] : kNone;
}

void SumTable::add(std::span<const std::uint32_t> key, std::span<const Figure> figures,
                   const report::DurationSketch& durations) {
  const std::size_t row =
      row_of_key_.intern({reinterpret_cast<const char*>(key.data()), key.size_bytes()}) - 1;
  if (row == rows_) {
    ++rows_;
    keys_.insert(keys_.end(), key.begin(), key.end());
    figures_.insert(figures_.end(), figures.begin(), figures.end());
    if (shape_->has_durations) durations_.push_back(durations);
    return;
  }
  Figure* const sums = figures_.data() + row * figures.size();
  for (std::size_t figure = 0; figure < figures.size(); ++figure) {
    sums[figure].fold_in(shape_->figures[figure].fold, figures[figure]);
  }
  if (shape_->has_durations) durations_[row].add(durations);
}

void SumTable::add(const SumTable& other, std::span<const std::uint32_t> text_of) {
  std::vector<std::uint32_t> key;
  for (std::size_t row = 0; row < other.size(); ++row) {
    key.clear();
    for (const std::uint32_t text : other.key(row)) key.push_back(text_of[text]);
    add(key, other.figures(row), other.durations(row));
  }
}

}  // namespace tbtrace::partials
