// A memory snapshot in columns: docs/formats/memory_snapshot.md.
// Owns its data. One writer, or any number of readers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/column.h"
#include "base/string_pool.h"
#include "trace/issues.h"

namespace tbtrace::snapshots {

inline constexpr std::uint32_t kNone = 0xffffffff;

enum class Action : std::uint8_t {
  alloc,
  free_requested,
  free_completed,
  segment_alloc,
  segment_free,
  segment_map,
  segment_unmap,
  snapshot,
  oom,
  annotate,
};
/// nullopt for a name that there is not.
std::optional<Action> action_named(std::string_view name);
std::string_view action_name(Action action);

/// A column of which most files have no value: it takes no memory until one is set.
class OptionalColumn {
 public:
  std::uint32_t operator[](std::size_t row) const {
    return row < values_.size() ? values_[row] : 0;
  }
  void set(std::size_t row, std::uint32_t value) {
    if (value == 0) return;
    values_.resize(row + 1, 0);
    values_[row] = value;
  }

 private:
  Column<std::uint32_t> values_;
};

/// The rows `first` to `end` - 1.
struct RowRange {
  std::uint32_t first = 0;
  std::uint32_t end = 0;
};

/// Rows in the order of a list.
class RowList {
 public:
  void add(std::uint32_t row);
  std::size_t size() const { return size_; }
  std::uint32_t operator[](std::size_t place) const;
  template <typename Take>
  void for_each(const Take& take) const {
    for (const Part& part : parts_) {
      for (std::uint32_t row = part.rows.first; row < part.rows.end; ++row) take(row);
    }
  }

 private:
  struct Part {
    RowRange rows;
    std::size_t before = 0;
  };
  std::vector<Part> parts_;
  std::size_t size_ = 0;
};

struct Frame {
  std::uint32_t file = 0;  // texts
  std::uint32_t name = 0;
  std::int32_t line = 0;

  bool operator==(const Frame&) const = default;
};

/// Entries of a trace; texts, stacks, streams and pools are numbers, 0: none.
struct Entries {
  Column<Action> action;
  Column<std::uint64_t> address;  ///< of `oom`: what the device had free
  Column<std::int64_t> size;
  Column<std::int64_t> time_us;
  Column<std::uint32_t> stack;
  Column<std::uint32_t> stream;
  OptionalColumn pool;
  OptionalColumn context;   ///< compiled region
  OptionalColumn metadata;  ///< of the user
  OptionalColumn forward;   ///< stack of the forward operator
  OptionalColumn category;  ///< number in the list of the file, plus 1

  std::size_t count() const { return action.size(); }
};

enum class BlockState : std::uint8_t { allocated, pending, inactive };

struct Block {
  std::uint64_t address = 0;
  std::int64_t size = 0;
  std::int64_t requested = 0;
  std::uint32_t stack = 0;
  BlockState state = BlockState::inactive;
  bool has_address = false;
};

struct Segment {
  std::uint64_t address = 0;
  std::int64_t size = 0;
  std::int64_t device = 0;
  std::uint32_t stream = 0;
  std::uint32_t pool = 0;
  std::uint32_t stack = 0;
  bool is_small = false;
  bool is_expandable = false;
  RowList blocks;
};

struct Annotation {
  std::uint32_t name = 0;
  bool is_end = false;
  std::int64_t device = 0;
  std::int64_t time_us = 0;
};

struct SnapshotData {
  SnapshotData();

  StringPool texts;
  Column<Frame> frames;
  Entries entries;
  Column<Block> blocks;
  std::vector<Segment> segments;
  Column<Annotation> annotations;
  std::vector<std::pair<std::int64_t, std::int64_t>> pools = {{0, 0}};  // 0: unknown
  std::vector<std::int64_t> streams = {0};                              // 0: unknown
  std::vector<std::string> categories;
  std::vector<std::pair<std::string, std::string>> settings;
  std::vector<RowList> traces;  ///< by device
  bool has_segments = false;
  bool has_traces = false;
  bool is_cut = false;  ///< it ends before its end
  std::uint64_t bytes = 0;
  IssueLog issues;

  std::span<const std::uint32_t> stack(std::uint32_t number) const {
    const std::uint64_t begin = stack_ends_[number - (number > 0 ? 1 : 0)];
    const std::uint64_t count = number == 0 ? 0 : stack_ends_[number] - begin;
    return {stack_frames_.data() + begin, static_cast<std::size_t>(count)};
  }
  std::size_t stack_count() const { return stack_ends_.size(); }

  std::uint32_t frame_number(const Frame& frame);
  /// Innermost first. The same number for the same frames.
  std::uint32_t stack_number(std::span<const std::uint32_t> some_frames);
  std::uint32_t stream_number(std::int64_t stream);
  std::uint32_t pool_number(std::int64_t first, std::int64_t second);

  static constexpr std::uint32_t kDefaultPool = 1;

 private:
  std::unordered_multimap<std::uint64_t, std::uint32_t> frame_numbers_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> stack_numbers_;
  std::unordered_map<std::int64_t, std::uint32_t> stream_numbers_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> pool_numbers_;
  Column<std::uint32_t> stack_frames_;
  Column<std::uint64_t> stack_ends_;
};

}  // namespace tbtrace::snapshots
