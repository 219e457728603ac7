// The slow and tolerant counterpart of JsonIndex: finds the tokens of one JSON value in text whose
// strings may hold unescaped quotes, raw control characters or bytes that are not UTF-8.
// Owns the positions; they are valid until the next scan. Not synchronised.
// A value that makes no sense is `broken`; a value that continues after the text is `incomplete`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/column.h"

namespace tbtrace::wire {

/// How the writer of the text handles quotes inside strings.
enum class Quoting : std::uint8_t {
  /// JSON's grammar, except that escapes and UTF-8 are not checked. Text that no continuation could
  /// make valid is `broken`. (NaN, Infinity and -Infinity are values, as written by Python.)
  strict,
  /// Escaped as in JSON, but a quote that cannot be the end of a string is taken as part of it.
  escaped,
  /// Kineto's C++ writer since 2026: one key per line, nothing escaped. The values of `name` and of
  /// top-level keys are alone on their line, so they end at the last quote of the line.
  kineto_lines,
  /// Kineto's C++ writer before 2026: several keys per line. A `name` ends at the last `", "pid": `
  /// of its line; the values of top-level keys end at the last quote of the line.
  kineto_inline,
};

enum class ScanEnd : std::uint8_t { complete, incomplete, broken };

class JsonScanner {
 public:
  explicit JsonScanner(Quoting quoting = Quoting::escaped) : quoting_(quoting) {}

  // A complete or broken result does not depend on the text that follows.

  void set_quoting(Quoting quoting) { quoting_ = quoting; }

  /// Scans the value that starts at `at`, an element of an array (an event). If complete, moves
  /// `at` past it. `last`: no more text will follow.
  ScanEnd scan_element(std::string_view text, std::size_t& at, bool last);

  /// Scans `"key": value` of the outermost object.
  ScanEnd scan_member(std::string_view text, std::size_t& at, bool last);

  /// How far into the text the last scan looked.
  std::size_t reached() const { return reached_; }

  /// The positions that JsonIndex would give, followed by kJsonSentinels times the size of the
  /// text.
  const std::uint32_t* positions() const { return positions_.data(); }

 private:
  ScanEnd run(std::size_t& at);
  char container() const;
  ScanEnd end_of_key(std::size_t start, std::size_t& end) const;
  ScanEnd end_of_value(std::size_t start, std::string_view key, std::size_t& end) const;
  ScanEnd end_of_line(std::size_t start, std::size_t& end) const;
  ScanEnd end_before_pid(std::size_t start, std::size_t& end) const;
  ScanEnd end_of_stack(std::size_t start, std::size_t& end) const;
  std::size_t line_end(std::size_t start) const;
  bool is_clean(std::size_t start, std::size_t end) const;
  ScanEnd next_quote(std::size_t& at) const;
  ScanEnd may_end_here(std::size_t at) const;

  Quoting quoting_;
  std::string_view text_;
  bool last_ = false;
  bool member_ = false;
  std::size_t reached_ = 0;
  Column<char> open_;  // '{' or '[' for each level
  Column<std::uint32_t> positions_;
};

}  // namespace tbtrace::wire
