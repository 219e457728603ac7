#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <proto/partial.pb.h>

#include "partials/message_parts.h"

namespace tbtrace::partials {
namespace {

/// Numbers as differences to the one before, which wrap.
class Differences {
 public:
  std::int64_t next(std::int64_t number) {
    const auto difference =
        static_cast<std::uint64_t>(number) - static_cast<std::uint64_t>(before_);
    before_ = number;
    return static_cast<std::int64_t>(difference);
  }

 private:
  std::int64_t before_ = 0;
};

void put_numbers(proto::PartialNumbers& message, std::span<const RankCollective> parts,
                 std::optional<std::int64_t> RankCollective::*member) {
  Differences values;
  std::uint32_t last_without = 0;
  for (std::uint32_t row = 0; row < parts.size(); ++row) {
    const std::optional<std::int64_t>& value = parts[row].*member;
    if (value) {
      message.add_values(values.next(*value));
    } else {
      message.add_without(row - last_without);
      last_without = row;
    }
  }
  if (message.values_size() > 0 || parts.empty()) return;
  message.clear_without();
  message.set_none(true);
}

void put_collectives(proto::PartialCollectives& message, const RankRecord& record) {
  const bool has_equals = record.recordings.front().hash_limit.has_value();
  Differences starts;
  for (const RankCollective& part : record.collectives) {
    message.add_kinds(static_cast<std::uint32_t>(part.kind));
    message.add_on_device(part.on_device);
    message.add_names(part.name);
    message.add_types(part.type);
    message.add_groups(part.group);
    message.add_streams(part.stream);
    message.add_starts_ns(starts.next(part.start_ns));
    message.add_durations_ns(part.end_ns - part.start_ns);
    message.add_exposed_ranges(part.exposed_ranges);
    std::int64_t at = part.start_ns;
    for (const ExposedRange& range :
         std::span(record.exposed).subspan(part.first_exposed, part.exposed_ranges)) {
      message.add_exposed_ns(range.start_ns - at);
      message.add_exposed_ns(range.end_ns - range.start_ns);
      at = range.end_ns;
    }
    if (!has_equals) continue;
    message.add_numbers_of_equals(part.number_of_equals);
    message.add_equals(part.equals);
  }
  put_numbers(*message.mutable_sequences(), record.collectives, &RankCollective::sequence);
  put_numbers(*message.mutable_bytes(), record.collectives, &RankCollective::bytes);
  put_numbers(*message.mutable_peers(), record.collectives, &RankCollective::peer);
  put_numbers(*message.mutable_steps(), record.collectives, &RankCollective::step);
}

void put_steps(proto::PartialRankSteps& message, const RankRecord& record) {
  Differences numbers;
  Differences starts;
  for (const RankStep& step : record.steps) {
    message.add_numbers(numbers.next(step.number));
    message.add_starts_ns(starts.next(step.start_ns));
    message.add_durations_ns(step.duration_ns());
    for (const std::int64_t ns : step.time_ns) message.add_times_ns(ns);
    message.add_kernels(step.kernels);
    message.add_silent_ns(step.silent_ns);
    message.add_launch_intervals_ns(step.launch_interval_ns);
    message.add_launch_intervals(step.launch_intervals);
    if (step.name != 0) message.add_names(step.name);
  }
}

void put_kernels(proto::PartialKernelSums& message, const RankRecord& record) {
  std::vector<std::uint64_t> keys;
  for (const KernelSum& sum : record.kernels) keys.push_back(sum.key);
  std::ranges::sort(keys);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  for (const std::uint64_t key : keys) message.add_keys(key);
  std::size_t next = 0;
  for (const RankStep& step : record.steps) {
    const std::size_t first = next;
    for (; next < record.kernels.size() && record.kernels[next].step == step.number; ++next) {
      const KernelSum& sum = record.kernels[next];
      const auto place = std::ranges::lower_bound(keys, sum.key);
      message.add_key_numbers(static_cast<std::uint32_t>(place - keys.begin()));
      message.add_counts(sum.count);
      message.add_totals_ns(sum.total_ns);
    }
    message.add_of_steps(static_cast<std::uint32_t>(next - first));
  }
}

void put_sample(proto::PartialSample& message, const RankRecording& recording) {
  if (recording.hash_limit) message.set_hash_limit(*recording.hash_limit);
  message.set_left_out(recording.left_out);
  message.set_has_messages(recording.has_messages);
  message.set_left_out_kernels(recording.left_out_kernels);
  message.set_left_out_kernels_ns(recording.left_out_kernels_ns);
}

}  // namespace

void put_rank(proto::PartialRank& message, const RankRecord& record) {
  message.set_start_ns(record.start_ns);
  message.set_end_ns(record.end_ns);
  if (record.device) message.set_device(*record.device);
  message.set_calls_without_kernel(record.calls_without_kernel);
  for (std::size_t text = 1; text < record.texts.size(); ++text) {
    message.add_texts(record.texts[text]);
  }
  for (std::size_t number = 1; number < record.groups.size(); ++number) {
    const ProcessGroup& group = record.groups[number];
    proto::PartialGroup& put = *message.add_groups();
    put.set_name(group.name);
    put.set_description(group.description);
    put.set_ranks(group.ranks_text);
    if (group.size) put.set_size(*group.size);
  }
  put_collectives(*message.mutable_collectives(), record);
  put_steps(*message.mutable_steps(), record);
  put_kernels(*message.mutable_kernels(), record);
  const RankRecording& recording = record.recordings.front();
  if (recording != RankRecording()) put_sample(*message.mutable_sample(), recording);
}

}  // namespace tbtrace::partials
