#include "snapshots/data.h"

#include <algorithm>
#include <array>

#include "base/hash.h"

namespace tbtrace::snapshots {
namespace {

constexpr auto kActions = std::to_array<std::string_view>(
    {"alloc", "free_requested", "free_completed", "segment_alloc", "segment_free", "segment_map",
     "segment_unmap", "snapshot", "oom", "annotate"});

std::uint64_t hash_of(std::span<const std::uint32_t> numbers) {
  return hash_bytes({reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()},
                    kProcessSeed.value);
}

}  // namespace

std::optional<Action> action_named(std::string_view name) {
  const auto* const found = std::ranges::find(kActions, name);
  if (found == kActions.end()) return std::nullopt;
  return static_cast<Action>(found - kActions.begin());
}

std::string_view action_name(Action action) { return kActions[static_cast<std::size_t>(action)]; }

void RowList::add(std::uint32_t row) {
  if (parts_.empty() || parts_.back().rows.end != row) parts_.push_back({{row, row}, size_});
  ++parts_.back().rows.end;
  ++size_;
}

std::uint32_t RowList::operator[](std::size_t place) const {
  const auto after =
      std::upper_bound(parts_.begin(), parts_.end(), place,
                       [](std::size_t wanted, const Part& part) { return wanted < part.before; });
  const Part& part = *(after - 1);
  return part.rows.first + static_cast<std::uint32_t>(place - part.before);
}

SnapshotData::SnapshotData() {
  stack_ends_.push_back(0);
  pool_number(0, 0);
}

std::uint32_t SnapshotData::frame_number(const Frame& frame) {
  const std::array<std::uint32_t, 3> key = {frame.file, frame.name,
                                            static_cast<std::uint32_t>(frame.line)};
  const std::uint64_t hash = hash_of(key);
  const auto [first, last] = frame_numbers_.equal_range(hash);
  for (auto each = first; each != last; ++each) {
    if (frames[each->second] == frame) return each->second;
  }
  const auto number = static_cast<std::uint32_t>(frames.size());
  frames.push_back(frame);
  frame_numbers_.emplace(hash, number);
  return number;
}

std::uint32_t SnapshotData::stack_number(std::span<const std::uint32_t> some_frames) {
  if (some_frames.empty()) return 0;
  const std::uint64_t hash = hash_of(some_frames);
  const auto [first, last] = stack_numbers_.equal_range(hash);
  for (auto each = first; each != last; ++each) {
    if (std::ranges::equal(stack(each->second), some_frames)) return each->second;
  }
  stack_frames_.append(some_frames);
  stack_ends_.push_back(stack_frames_.size());
  const auto number = static_cast<std::uint32_t>(stack_ends_.size() - 1);
  stack_numbers_.emplace(hash, number);
  return number;
}

std::uint32_t SnapshotData::stream_number(std::int64_t stream) {
  const auto [found, is_new] =
      stream_numbers_.try_emplace(stream, static_cast<std::uint32_t>(streams.size()));
  if (is_new) streams.push_back(stream);
  return found->second;
}

std::uint32_t SnapshotData::pool_number(std::int64_t first, std::int64_t second) {
  const std::pair pool(first, second);
  const auto [found, is_new] =
      pool_numbers_.try_emplace(pool, static_cast<std::uint32_t>(pools.size()));
  if (is_new) pools.push_back(pool);
  return found->second;
}

}  // namespace tbtrace::snapshots
