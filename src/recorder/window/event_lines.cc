#include "recorder/window/event_lines.h"

#include <algorithm>

#include "wire/json_text.h"

namespace tbtrace::recorder {

void EventLines::begin_event() {
  text_ += is_first_ ? "\n" : ",\n";
  is_first_ = false;
}

void EventLines::add_quoted(std::string_view text) { wire::append_json_string(text_, text); }

void EventLines::add_text(std::string_view member, std::string_view text) {
  add(", \"{}\": ", member);
  add_quoted(text);
}

void EventLines::add_time(const char* key, std::int64_t unix_ns) {
  const std::int64_t ns = std::max<std::int64_t>(unix_ns - base_ns_, 0);
  add("\"{}\": {}.{:03}", key, ns / 1000, ns % 1000);
}

void EventLines::add_times(std::int64_t start_ns, std::int64_t end_ns) {
  const std::int64_t length = std::max<std::int64_t>(end_ns - start_ns, 0);
  add(", ");
  add_time("ts", start_ns);
  add(", \"dur\": {}.{:03}", length / 1000, length % 1000);
}

}  // namespace tbtrace::recorder
