#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <proto/partial.pb.h>

#include "jobs/collectives/ranks.h"
#include "jobs/collectives/sample.h"
#include "partials/message_parts.h"
#include "partials/rank_parts.h"
#include "trace/times.h"

namespace tbtrace::partials {
namespace {

using google::protobuf::RepeatedField;

// Each takes what is right and says whether all was.

/// Undoes the differences of put_rank().
class Sums {
 public:
  std::int64_t next(std::int64_t difference) {
    sum_ += static_cast<std::uint64_t>(difference);
    return static_cast<std::int64_t>(sum_);
  }

 private:
  std::uint64_t sum_ = 0;
};

/// Not negative, and so short that what begins near to 0 ends without an overflow.
bool is_duration(std::int64_t ns) { return ns >= 0 && ns < 2 * (kFarthestNs - 1); }

template <typename... Column>
bool have_rows(std::size_t rows, const Column&... columns) {
  return (std::cmp_equal(columns.size(), rows) && ...);
}

bool take_numbers(const proto::PartialNumbers& message, std::vector<RankCollective>& parts,
                  std::optional<std::int64_t> RankCollective::*member) {
  const std::size_t rows = parts.size();
  const auto values = static_cast<std::size_t>(message.values_size());
  const auto without = static_cast<std::size_t>(message.without_size());
  if (message.none()) return rows > 0 && values == 0 && without == 0;
  if (values + without != rows || (rows > 0 && values == 0)) return false;
  Sums sums;
  int next = 0;
  int next_without = 0;
  std::size_t row_without = 0;
  const auto find_without = [&] {
    if (next_without == message.without_size()) {
      row_without = rows;
    } else {
      row_without += message.without(next_without);
    }
  };
  find_without();
  for (std::size_t row = 0; row < rows; ++row) {
    if (row == row_without) {
      ++next_without;
      if (next_without < message.without_size() && message.without(next_without) == 0) return false;
      find_without();
      continue;
    }
    if (next == message.values_size()) return false;
    parts[row].*member = sums.next(message.values(next++));
  }
  return next == message.values_size() && next_without == message.without_size();
}

/// Texts and groups, each once.
bool take_names(const proto::PartialRank& message, RankRecord& record) {
  for (const std::string& text : message.texts()) {
    if (text.empty()) return false;
    record.texts.push_back(text);
  }
  std::vector<std::string> sorted = record.texts;
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end()) return false;
  for (const proto::PartialGroup& group : message.groups()) {
    ProcessGroup one;
    one.name = group.name();
    one.description = group.description();
    one.ranks_text = group.ranks();
    one.ranks = jobs::ranks_in_list(one.ranks_text);
    if (group.has_size()) one.size = group.size();
    if (std::ranges::find(record.groups, one) != record.groups.end()) return false;
    record.groups.push_back(std::move(one));
  }
  return true;
}

/// Texts are numbered as they are used.
bool take_text(std::uint32_t number, std::uint32_t& used, std::uint32_t& text) {
  if (number > used + 1) return false;
  used = std::max(used, number);
  text = number;
  return true;
}

bool take_exposed(const proto::PartialCollectives& message, int row, int& next,
                  RankCollective& part, RankRecord& record) {
  part.first_exposed = static_cast<std::uint32_t>(record.exposed.size());
  part.exposed_ranges = message.exposed_ranges(row);
  std::int64_t at = part.start_ns;
  for (std::uint32_t range = 0; range < part.exposed_ranges; ++range) {
    if (message.exposed_ns_size() - next < 2) return false;
    const std::int64_t gap = message.exposed_ns(next++);
    const std::int64_t length = message.exposed_ns(next++);
    // One after the other, within the collective.
    if (gap < 0 || gap > part.end_ns - at) return false;
    const std::int64_t start = at + gap;
    if (length <= 0 || length > part.end_ns - start) return false;
    record.exposed.push_back({start, at = start + length});
  }
  return true;
}

bool take_collectives(const proto::PartialCollectives& message, bool has_equals,
                      RankRecord& record) {
  const auto rows = static_cast<std::size_t>(message.kinds_size());
  const jobs::SampleLimits limits;
  const std::size_t equals = has_equals ? rows : 0;
  if (rows > limits.collectives ||
      !have_rows(rows, message.on_device(), message.names(), message.types(), message.groups(),
                 message.streams(), message.starts_ns(), message.durations_ns(),
                 message.exposed_ranges()) ||
      !have_rows(equals, message.numbers_of_equals(), message.equals()) ||
      std::cmp_greater(message.exposed_ns_size(), 2 * limits.exposed_ranges)) {
    return false;
  }
  Sums starts;
  std::uint32_t used = 0;
  int exposed = 0;
  for (int row = 0; std::cmp_less(row, rows); ++row) {
    RankCollective& part = record.collectives.emplace_back();
    if (message.kinds(row) > static_cast<std::uint32_t>(CollectiveKind::other)) return false;
    part.kind = static_cast<CollectiveKind>(message.kinds(row));
    part.on_device = message.on_device(row);
    part.group = message.groups(row);
    part.stream = message.streams(row);
    if (!take_text(message.names(row), used, part.name) ||
        !take_text(message.types(row), used, part.type) || part.group >= record.groups.size()) {
      return false;
    }
    part.start_ns = starts.next(message.starts_ns(row));
    if (!is_clock_time(part.start_ns) || !is_duration(message.durations_ns(row))) return false;
    part.end_ns = part.start_ns + message.durations_ns(row);
    const bool is_sorted =
        row == 0 || record.collectives[static_cast<std::size_t>(row) - 1].start_ns <= part.start_ns;
    if (!is_clock_time(part.end_ns) || !is_sorted) return false;
    if (!take_exposed(message, row, exposed, part, record)) return false;
    if (!has_equals) continue;
    part.number_of_equals = message.numbers_of_equals(row);
    part.equals = message.equals(row);
    if (part.number_of_equals >= part.equals) return false;
  }
  return exposed == message.exposed_ns_size() && used + 1 == record.texts.size() &&
         take_numbers(message.sequences(), record.collectives, &RankCollective::sequence) &&
         take_numbers(message.bytes(), record.collectives, &RankCollective::bytes) &&
         take_numbers(message.peers(), record.collectives, &RankCollective::peer) &&
         take_numbers(message.steps(), record.collectives, &RankCollective::step);
}

bool take_steps(const proto::PartialRankSteps& message, RankRecord& record) {
  const auto rows = static_cast<std::size_t>(message.numbers_size());
  if (!have_rows(rows, message.starts_ns(), message.durations_ns(), message.kernels(),
                 message.silent_ns(), message.launch_intervals_ns(), message.launch_intervals()) ||
      !have_rows(rows * kRankTimes, message.times_ns()) ||
      !have_rows(message.names().empty() ? 0 : rows, message.names())) {
    return false;
  }
  Sums numbers;
  Sums starts;
  for (int row = 0; std::cmp_less(row, rows); ++row) {
    RankStep step;
    step.number = numbers.next(message.numbers(row));
    if (row > 0 && step.number <= record.steps.back().number) return false;
    step.start_ns = starts.next(message.starts_ns(row));
    const std::int64_t duration = message.durations_ns(row);
    if (!is_clock_time(step.start_ns) || duration == 0 || !is_duration(duration)) return false;
    step.end_ns = step.start_ns + duration;
    if (!is_clock_time(step.end_ns)) return false;
    for (std::size_t kind = 0; kind < kRankTimes; ++kind) {
      const std::int64_t ns =
          message.times_ns(row * static_cast<int>(kRankTimes) + static_cast<int>(kind));
      if (!is_duration(ns)) return false;
      step.time_ns[kind] = ns;
    }
    step.kernels = message.kernels(row);
    step.silent_ns = message.silent_ns(row);
    step.launch_interval_ns = message.launch_intervals_ns(row);
    step.launch_intervals = message.launch_intervals(row);
    if (!message.names().empty()) step.name = message.names(row);
    if (!is_duration(step.silent_ns) || !is_duration(step.launch_interval_ns)) return false;
    record.steps.push_back(step);
  }
  return true;
}

bool take_kernels(const proto::PartialKernelSums& message, RankRecord& record) {
  const auto rows = static_cast<std::size_t>(message.key_numbers_size());
  const jobs::SampleLimits limits;
  if (rows > limits.kernel_sums || !have_rows(rows, message.counts(), message.totals_ns()) ||
      !have_rows(record.steps.size(), message.of_steps())) {
    return false;
  }
  const RepeatedField<std::uint64_t>& keys = message.keys();
  if (std::ranges::adjacent_find(keys, std::ranges::greater_equal()) != keys.end()) return false;
  std::vector<bool> is_used(static_cast<std::size_t>(keys.size()), false);
  int next = 0;
  for (int step = 0; step < message.of_steps_size(); ++step) {
    const int first = next;
    for (std::uint32_t sum = 0; sum < message.of_steps(step); ++sum, ++next) {
      if (next == message.key_numbers_size()) return false;
      const std::uint32_t key = message.key_numbers(next);
      const bool is_sorted = next == first || message.key_numbers(next - 1) < key;
      if (key >= is_used.size() || !is_sorted || message.counts(next) == 0 ||
          message.totals_ns(next) < 0) {
        return false;
      }
      is_used[key] = true;
      record.kernels.push_back({.step = record.steps[static_cast<std::size_t>(step)].number,
                                .key = keys[static_cast<int>(key)],
                                .count = message.counts(next),
                                .total_ns = message.totals_ns(next)});
    }
  }
  return std::cmp_equal(next, rows) && std::ranges::find(is_used, false) == is_used.end();
}

bool take_sample(const proto::PartialSample& message, RankRecording& recording) {
  if (message.has_hash_limit()) recording.hash_limit = message.hash_limit();
  recording.left_out = message.left_out();
  recording.has_messages = message.has_messages();
  recording.left_out_kernels = message.left_out_kernels();
  recording.left_out_kernels_ns = message.left_out_kernels_ns();
  const bool leaves_out = recording.left_out > 0;
  return recording.hash_limit.has_value() == leaves_out &&
         (leaves_out || !recording.has_messages) && recording.left_out_kernels_ns >= 0 &&
         (recording.left_out_kernels > 0 || recording.left_out_kernels_ns == 0) &&
         recording != RankRecording();
}

}  // namespace

bool take_rank(const proto::PartialRank& message, RankRecord& record) {
  record.start_ns = message.start_ns();
  record.end_ns = message.end_ns();
  if (!is_clock_time(record.start_ns) || !is_clock_time(record.end_ns)) return false;
  if (message.has_device()) record.device = message.device();
  record.calls_without_kernel = message.calls_without_kernel();
  RankRecording& recording = record.recordings.front();
  if (message.has_sample() && !take_sample(message.sample(), recording)) return false;
  return take_names(message, record) &&
         take_collectives(message.collectives(), recording.hash_limit.has_value(), record) &&
         take_steps(message.steps(), record) && take_kernels(message.kernels(), record);
}

}  // namespace tbtrace::partials
