// The kinds of problems that an input can have, and the count of those that were met.
// To add one: an IssueId and its row in kIssueTable: what is wrong; what to do about it.
// An IssueLog is not synchronised; each thread that reads has its own, and they are merged in
// order. Nothing is repaired without being counted here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <tbtrace/trace.h>

namespace tbtrace {

enum class IssueId : std::uint8_t {
  input_truncated,
  input_damaged,
  event_unreadable,
  event_too_large,
  member_unreadable,
  event_incomplete,
  time_unreadable,
  negative_duration,
  phase_unsupported,
  unescaped_text,
  invalid_utf8,
  repeated_key,
  too_many_categories,
  too_many_tracks,
  count,
};

struct IssueRow {
  std::string_view id;
  Severity severity;
  std::string_view sentence;
};

inline constexpr std::array<IssueRow, static_cast<std::size_t>(IssueId::count)> kIssueTable = {{
    {"input_truncated", Severity::data_loss,
     "the file ends too early and everything before the cut was read; record or copy it again"},
    {"input_damaged", Severity::data_loss,
     "the compressed data are damaged and everything before the damage was read; copy the file "
     "again"},
    {"event_unreadable", Severity::data_loss,
     "events that are no JSON were left out; look at the file there, something wrote into it or "
     "cut "
     "it"},
    {"event_too_large", Severity::data_loss,
     "events or members of more than 32 MiB were left out; look there for what is no event"},
    {"member_unreadable", Severity::data_loss,
     "top-level members that are no JSON were left out; the events are not affected"},
    {"event_incomplete", Severity::data_loss,
     "events without a phase, a name or a time were left out; record again, the writer did not "
     "finish them"},
    {"time_unreadable", Severity::data_loss,
     "events whose time is no number, or more than 146 years away, were left out; correct their "
     "`ts` and `dur`"},
    {"negative_duration", Severity::info,
     "durations below 0 were taken as 0; the writer's clock went back, so doubt times near them"},
    {"phase_unsupported", Severity::data_loss,
     "events of phases other than X, i, s, t, f and M were left out; see docs/formats/"
     "chrome_json.md"},
    {"unescaped_text", Severity::info,
     "names or stacks hold unescaped quotes and were read by this writer's line layout; other "
     "programs may refuse the file"},
    {"invalid_utf8", Severity::info,
     "texts that are no UTF-8 were kept with U+FFFD in place of the bad bytes; look for them under "
     "these names"},
    {"repeated_key", Severity::info,
     "events name an argument twice and the last value was taken; most readers do the same"},
    {"too_many_categories", Severity::info,
     "there are more than 65,000 categories and the rest were taken together as one; look at "
     "`cat`"},
    {"too_many_tracks", Severity::info,
     "there are more than 67,000,000 threads and the rest were taken together as one; look at "
     "`tid`"},
}};

class IssueLog {
 public:
  /// Offsets beyond the first few are counted and not kept.
  static constexpr std::size_t kKeptOffsets = 5;

  void add(IssueId id, std::uint64_t offset) {
    Count& count = counts_[static_cast<std::size_t>(id)];
    ++count.count;
    if (count.offsets.size() < kKeptOffsets) count.offsets.push_back(offset);
  }

  /// Adds what another log holds, with `shift` added to its offsets, and empties it.
  void take(IssueLog& other, std::uint64_t shift);

  bool empty() const;

  /// The kinds that were met, in the order of the table.
  std::vector<Issue> list() const;

 private:
  struct Count {
    std::uint64_t count = 0;
    std::vector<std::uint64_t> offsets;
  };
  std::array<Count, static_cast<std::size_t>(IssueId::count)> counts_;
};

}  // namespace tbtrace
