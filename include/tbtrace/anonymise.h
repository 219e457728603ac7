// A trace that can be given away: names, paths and texts that say something about their owner are
// replaced, figures stay.
// The file is read twice; memory is that of the model of its events, without their arguments, and
// of the words that were replaced. Blocks until the file is there. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <tbtrace/convert.h>
#include <tbtrace/export.h>
#include <tbtrace/status.h>
#include <tbtrace/trace.h>

namespace TBTRACE_EXPORT tbtrace {

/// Bytes that a key must have, so that it cannot be found by trying.
inline constexpr std::size_t kLeastAnonymiseKey = 16;

struct AnonymiseOptions {
  /// At least kLeastAnonymiseKey bytes. With the same key, a word has the same replacement in every
  /// trace; without the key it cannot be found by trying words. Empty: a random key.
  std::string key = {};
  bool overwrite = false;
  bool strict = false;      ///< treats any issue of the input as a failure
  int reading_threads = 0;  ///< 0: one per core
  /// Called now and then with the bytes of input read so far and their total, 0 if unknown, in the
  /// first of the two readings. If it returns false, this ends with StatusCode::cancelled.
  std::function<bool(std::uint64_t done, std::uint64_t total)> on_progress = {};
};

struct AnonymiseReport {
  std::uint64_t events = 0;
  std::map<std::string, std::string> names = {};  ///< what was replaced, and by what
  std::uint64_t arguments_left_out = 0;           ///< with texts under keys that are not torch's
  std::uint64_t members_left_out = 0;             ///< of the document, likewise
  Changes changes = {};
  std::vector<Issue> issues = {};
};

/// Writes the trace `path` (`-`: standard input) to `output` (`-`: standard output; gzip if it ends
/// in `.gz`): the same rows with the same times, ids and numbers. docs/anonymise.md says what is
/// replaced, and what stays.
Result<AnonymiseReport> anonymise_trace(const std::string& path, const std::string& output,
                                        const AnonymiseOptions& options = {});

/// What anonymise_trace() would replace or leave out, nothing is written: empty for a trace that it
/// wrote. `names` maps each word to an empty text.
Result<AnonymiseReport> find_private_names(const std::string& path,
                                           const AnonymiseOptions& options = {});

/// What was replaced by what, as JSON: docs/formats/anonymise.md.
std::string names_document(const std::map<std::string, std::string>& names);

}  // namespace tbtrace
