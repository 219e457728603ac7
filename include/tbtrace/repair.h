// A damaged trace as a valid one: cut files, text that is not JSON, events between which another
// program wrote, values such as NaN.
// Nothing is invented: what cannot be read is left out, and a receipt says where it stood.
// The file is read two or three times; memory is that of the model of its events, without their
// arguments. Blocks until the file is there. Any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/convert.h>
#include <tbtrace/export.h>
#include <tbtrace/status.h>
#include <tbtrace/trace.h>

namespace TBTRACE_EXPORT tbtrace {

struct RepairOptions {
  bool overwrite = false;
  bool strict = false;      ///< fails if anything is wrong with the input
  int reading_threads = 0;  ///< 0: one per core
  /// Called now and then with the bytes of input read so far and their total, 0 if unknown, in the
  /// first of the readings. If it returns false, repairing ends with StatusCode::cancelled.
  std::function<bool(std::uint64_t done, std::uint64_t total)> on_progress = {};
};

/// A stretch of the file's text, without compression, that is not in what was written.
struct LostStretch {
  std::string_view kind;  ///< id of an issue, such as `event_unreadable`
  std::uint64_t at_byte = 0;
  /// nullopt: unknown, of compressed data that cannot be read on.
  std::optional<std::uint64_t> bytes = {};
};

struct RepairReport {
  /// Nothing was wrong, and the text was copied byte for byte.
  bool was_whole = false;
  std::uint64_t read_events = 0;         ///< all of them were written
  std::uint64_t lost_bytes = 0;          ///< as far as it is known
  std::vector<LostStretch> losses = {};  ///< in the order of the file; at most the first 10,000
  std::uint64_t losses_left_out = 0;     ///< others, which count in `lost_bytes`
  std::vector<Issue> issues = {};        ///< what was not valid
  Changes changes = {};                  ///< what was written in another form
  std::string receipt = {};              ///< all of this as JSON: docs/formats/repair.md
};

/// Writes what is left of the trace `path` (`-`: standard input) to `output` (`-`: standard output;
/// gzip if it ends in `.gz`) as strict JSON. Rows keep their order and their members; nothing is
/// changed that is valid. The member `tbtrace_repair` of the document is the receipt.
Result<RepairReport> repair_trace(const std::string& path, const std::string& output,
                                  const RepairOptions& options = {});

}  // namespace tbtrace
