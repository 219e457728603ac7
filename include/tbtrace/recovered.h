// What is known of the end of a process whose recording was recovered from its journal: the member
// `tbtrace_recovered` of the file, and the ranges that did not end.
// Results own their texts; plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tbtrace/export.h>
#include <tbtrace/trace.h>

namespace TBTRACE_EXPORT tbtrace {

/// The ranges of a thread that were open at the last sign of life, each inside the one before.
struct UnfinishedThread {
  std::string thread;  ///< `thread 4711 (main)`
  /// The outermost first. Of more than 12 the outermost 3 and the innermost 9.
  std::vector<std::string> ranges;
  std::uint64_t ranges_left_out = 0;  ///< after the third
  std::int64_t start_ns = 0;          ///< of the innermost, since the start of the window
  std::int64_t open_ns = 0;           ///< how long the innermost had been open
};

/// The file is foreign input: what it does not say, or says in no useful form, is nullopt or empty.
struct RecoveredRecording {
  std::optional<std::int64_t> process_id;
  std::string host;
  std::optional<std::int64_t> last_sign_of_life_ns;  ///< since 1970
  /// The same since the start of the window; nullopt if the file's clock does not count from 1970.
  std::optional<std::int64_t> last_sign_after_start_ns;
  std::optional<bool> window_was_open;
  bool is_part = false;  ///< of the window: `recover --last`, `--steps`
  std::uint64_t lost_records = 0;
  /// Ranges on the host that did not end: those that are in the trace, counted.
  std::uint64_t unfinished_ranges = 0;
  /// Those whose innermost range began last, in this order, at most kMostThreads.
  std::vector<UnfinishedThread> threads;
  std::uint64_t threads_left_out = 0;

  static constexpr std::size_t kMostThreads = 5;
};

/// nullopt if the trace was not recovered: it has no member `tbtrace_recovered` that is an object.
/// Takes O(n) time for n events.
std::optional<RecoveredRecording> recovered_recording(const Trace& trace);

/// `This trace was recovered from a journal: process 4711 on node3 ended without closing its
/// window, last sign of life 12.345 s after the window's start`
std::string recovered_sentence(const RecoveredRecording& recovered);

/// What to do about it.
std::string recovered_remedy(const RecoveredRecording& recovered);

/// `train_step` > `aten::conv2d` > ... 3 more ... > `aten::_convolution`, each name in backticks
/// and at most 80 characters of it.
std::string unfinished_chain(const UnfinishedThread& thread);

}  // namespace tbtrace
