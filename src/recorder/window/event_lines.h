// Events of a Chrome trace, one a line: what all of them have in common.
// Appends to a text that the caller owns, which must outlive it. One thread per object. Cannot
// fail; times before the trace's base are its base.
#pragma once

#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace tbtrace::recorder {

class EventLines {
 public:
  /// `base_ns` is the trace's `baseTimeNanoseconds`.
  EventLines(std::string& text, std::int64_t base_ns) : text_(text), base_ns_(base_ns) {}

  /// The separator to the event before.
  void begin_event();

  template <typename... Values>
  void add(fmt::format_string<Values...> form, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), form, std::forward<Values>(values)...);
  }
  void add_quoted(std::string_view text);
  /// `, "member": "text"`.
  void add_text(std::string_view member, std::string_view text);
  /// `"key": microseconds`, with three decimals, so that no nanosecond is lost.
  void add_time(const char* key, std::int64_t unix_ns);
  /// `, "ts": start, "dur": length`. An end before the start counts as one at the start.
  void add_times(std::int64_t start_ns, std::int64_t end_ns);

 private:
  std::string& text_;
  std::int64_t base_ns_;
  bool is_first_ = true;
};

}  // namespace tbtrace::recorder
