// The kinds of problems that an input can have, and a count of each.
// To add one, add an IssueId and its row in kIssueTable: what is wrong, and what to do about it.
// An IssueLog is not synchronised; each reading thread has its own, and they are merged in order.
// Every repair is counted here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
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
  too_many_events,
  trailing_text,
  id_unreadable,
  argument_unreadable,
  counter_unreadable,
  range_not_ended,
  range_end_unmatched,
  events_replaced,
  comma_misplaced,
  writer_unknown,
  pickle_damaged,
  snapshot_row_unreadable,
  count,
};

struct IssueRow {
  std::string_view id;
  Severity severity;
  std::string_view sentence;
};

inline constexpr std::array<IssueRow, static_cast<std::size_t>(IssueId::count)> kIssueTable = {{
    {"input_truncated", Severity::data_loss,
     "the file ends too early; everything before the cut was read; record it or copy it again"},
    {"input_damaged", Severity::data_loss,
     "the compressed data is damaged; everything before the damage was read; copy the file again"},
    {"event_unreadable", Severity::data_loss,
     "these events are not valid JSON and were skipped; the file may have been overwritten there: "
     "record or copy it again"},
    {"event_too_large", Severity::data_loss,
     "these events or members are longer than 1 GiB and were skipped; look there for text that is "
     "not an event"},
    {"member_unreadable", Severity::data_loss,
     "these top-level members are not valid JSON and were skipped; the events are not affected"},
    {"event_incomplete", Severity::data_loss,
     "these events have no phase, name or time and were skipped; the program may have been stopped "
     "while it wrote them"},
    {"time_unreadable", Severity::data_loss,
     "these events have a time that is not a number, or more than 146 years away, and were "
     "skipped; correct their `ts` and `dur`"},
    {"negative_duration", Severity::info,
     "negative durations were read as 0; the clock of the recording machine went back, so times "
     "near them may be wrong"},
    {"phase_unsupported", Severity::data_loss,
     "events of phases other than X, B, E, i, C, s, t, f and M were skipped; see docs/formats/"
     "chrome_json.md"},
    {"unescaped_text", Severity::info,
     "some texts contain unescaped quotes, backslashes or control characters, or lack quotes, and "
     "were read by the line breaks around them; other programs may reject the file"},
    {"invalid_utf8", Severity::info,
     "some texts are not valid UTF-8 or contain half a surrogate pair; each such place was "
     "replaced by U+FFFD"},
    {"repeated_key", Severity::info,
     "these events name a key twice; the last value was taken, as most readers do"},
    {"too_many_categories", Severity::data_loss,
     "the file has more than 65,000 categories; the rest were merged into one; check `cat`"},
    {"too_many_tracks", Severity::data_loss,
     "the file has more than 16,777,216 threads; the rest were merged into one; check `tid`"},
    {"too_many_events", Severity::data_loss,
     "the file has more than 4,294,967,295 ranges; the rest were skipped; split it"},
    {"trailing_text", Severity::data_loss,
     "text after the end of the document was not read; if two traces were joined, give them as two "
     "files"},
    {"id_unreadable", Severity::data_loss,
     "ids that are not whole numbers were ignored, so these events may not be linked; write ids as "
     "integers"},
    {"argument_unreadable", Severity::info,
     "these arguments do not have the type that PyTorch writes and were left out; results that "
     "need them do not include these events"},
    {"counter_unreadable", Severity::info,
     "these counters have no name, a time or values that are not numbers, or no values; what "
     "cannot "
     "be drawn was left out of the timeline; write `args` as numbers by name"},
    {"range_not_ended", Severity::info,
     "these `B` events have no `E` event and were extended to the end of the recording; the "
     "program may have been stopped while it wrote the file"},
    {"range_end_unmatched", Severity::data_loss,
     "these `E` events have no `B` event before them on their thread and were skipped; the "
     "recording may have started inside these ranges"},
    {"events_replaced", Severity::data_loss,
     "the file names `traceEvents` twice; only the last array was read, as JSON readers do"},
    {"comma_misplaced", Severity::info,
     "commas between events or members are missing or doubled; everything was read, but other "
     "programs may reject the file"},
    {"writer_unknown", Severity::info,
     "the writer of this trace is not known; all its rows were taken for host ranges, so work of a "
     "GPU in it would count as CPU time; record with torch.profiler, or see docs/formats/"
     "chrome_json.md for the writers that are known"},
    {"pickle_damaged", Severity::data_loss,
     "the pickle makes no sense from here on; everything before was read; copy the file again"},
    {"snapshot_row_unreadable", Severity::data_loss,
     "these entries, blocks or segments have an action, address or size that is missing or "
     "unknown, and were skipped; see docs/formats/memory_snapshot.md"},
}};

/// A stretch of the input that was not read for an issue.
struct Loss {
  IssueId id = IssueId::count;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
};

/// Stretches that were not read, in the order of the input. Of very many, only the first are kept.
struct Losses {
  static constexpr std::size_t kMost = 10'000;

  void add(const Loss& loss);

  std::vector<Loss> kept;
  std::uint64_t others = 0;
  std::uint64_t others_bytes = 0;
};

class IssueLog {
 public:
  /// Only the first few offsets are kept; further ones are counted.
  static constexpr std::size_t kKeptOffsets = 5;

  void add(IssueId id, std::uint64_t offset) {
    Count& count = counts_[static_cast<std::size_t>(id)];
    ++count.count;
    if (count.offsets.size() < kKeptOffsets) count.offsets.push_back(offset);
  }

  /// The same, and the input from there to `end` was not read.
  void add_lost(IssueId id, std::uint64_t offset, std::uint64_t end);
  /// The same until end_loss() says where that ends.
  void begin_loss(IssueId id, std::uint64_t offset);
  /// Does nothing if no loss has begun.
  void end_loss(std::uint64_t end);
  /// The last loss goes on to `end`.
  void extend_loss(std::uint64_t end);
  /// A loss that was counted already, in place of those inside it.
  void replace_losses(const Loss& loss);
  const Losses& losses() const { return losses_; }

  /// An issue without a single place in the input.
  void add_anywhere(IssueId id, std::uint64_t times = 1) {
    counts_[static_cast<std::size_t>(id)].count += times;
  }

  /// Adds another log's issues, with `shift` added to their offsets, and empties it.
  void take(IssueLog& other, std::uint64_t shift);

  std::uint64_t count(IssueId id) const { return counts_[static_cast<std::size_t>(id)].count; }
  bool empty() const;

  /// The kinds that occurred, in the order of the table.
  std::vector<Issue> list() const;

 private:
  struct Count {
    std::uint64_t count = 0;
    std::vector<std::uint64_t> offsets;
  };
  std::array<Count, static_cast<std::size_t>(IssueId::count)> counts_;
  Losses losses_;
  std::optional<Loss> begun_;
};

}  // namespace tbtrace
