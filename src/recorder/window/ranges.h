// The ranges of a window, in 16 bytes each, and more for the few that need it: a window may have
// many millions.
// Its ranges point into the logs of the recording, which must outlive it. One writer, or any number
// of readers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <unordered_map>
#include <vector>

#include "base/column.h"

namespace tbtrace::recorder {

struct Range {
  const std::uint64_t* record;   ///< of its begin; begin_record() reads it
  const std::uint64_t* numbers;  ///< the record that has its sequence number and forward thread
  std::uint64_t start_ticks;
  std::uint64_t end_ticks;  ///< the recording's end where it was open then
  std::uint32_t log;        ///< the thread that it began on
  std::uint32_t stack;      ///< for Window::call_stack()
  bool is_open;
  bool is_async;
  bool ends_elsewhere;  ///< on another thread
};

class Ranges {
 public:
  /// All ticks are less than 2^55 from `started`.
  Ranges(std::uint64_t started, std::uint64_t ended) : started_(started), ended_(ended) {}

  std::size_t size() const { return rows_.size(); }
  bool empty() const { return rows_.empty(); }
  Range operator[](std::size_t number) const;
  /// The start alone, which costs less.
  std::uint64_t start_ticks(std::size_t number) const { return start_of(rows_[number]); }

  class Iterator {
   public:
    using difference_type = std::ptrdiff_t;
    using value_type = Range;

    Iterator() = default;
    Iterator(const Ranges& ranges, std::size_t row) : ranges_(&ranges), row_(row) {}
    Range operator*() const { return (*ranges_)[row_]; }
    Iterator& operator++() {
      ++row_;
      return *this;
    }
    Iterator operator++(int) {
      const Iterator before = *this;
      ++row_;
      return before;
    }
    bool operator==(const Iterator&) const = default;

   private:
    const Ranges* ranges_ = nullptr;
    std::size_t row_ = 0;
  };
  using const_iterator = Iterator;
  using value_type = Range;
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }

  /// An open one.
  void add(const std::uint64_t* record, std::uint32_t log);
  void set_end(std::size_t number, std::uint64_t ticks);
  void set_late_end(std::size_t number, std::uint64_t ticks, bool is_elsewhere);
  void set_numbers(std::size_t number, const std::uint64_t* numbers);
  /// To be called for all rows in their order, or for none. Rows without one yet have 0.
  void add_stack(std::uint32_t stack) { stacks_.push_back(stack); }
  /// Removes those that had ended before, and those that began later.
  void keep_between(std::uint64_t from, std::uint64_t to);
  /// Rows change, unless the ranges were in this order. Equal starts keep their order.
  void sort_by_start();

 private:
  struct Row {
    const std::uint64_t* record;
    std::uint32_t length;  // ticks, or kLong
    std::uint32_t log : 28;
    std::uint32_t is_open : 1;
    std::uint32_t is_async : 1;
    std::uint32_t ends_elsewhere : 1;
    std::uint32_t has_numbers : 1;  // of another record
  };
  static_assert(sizeof(Row) == 16);
  static constexpr std::uint32_t kLong = 0xffffffff;

  std::uint64_t start_of(const Row& row) const;

  std::uint64_t started_;
  std::uint64_t ended_;
  Column<Row> rows_;
  std::vector<std::uint32_t> stacks_;
  // By record.
  std::unordered_map<const std::uint64_t*, std::uint64_t> long_ends_;
  std::unordered_map<const std::uint64_t*, const std::uint64_t*> numbers_;
};

}  // namespace tbtrace::recorder
