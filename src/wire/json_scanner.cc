#include "wire/json_scanner.h"

#include <algorithm>

#include "wire/json_blanks.h"
#include "wire/json_index.h"
#include "wire/json_strict.h"

namespace tbtrace::wire {
namespace {

bool is_control(char c) { return static_cast<unsigned char>(c) < ' '; }

}  // namespace

ScanEnd JsonScanner::scan_element(std::string_view text, std::size_t& at, bool last) {
  text_ = text;
  last_ = last;
  member_ = false;
  return run(at);
}

ScanEnd JsonScanner::scan_member(std::string_view text, std::size_t& at, bool last) {
  text_ = text;
  last_ = last;
  member_ = true;
  return run(at);
}

/// The bracket directly around the current position.
char JsonScanner::container() const {
  if (!open_.empty()) return open_[open_.size() - 1];
  return member_ ? '{' : '[';
}

// A pushdown automaton over the text: `open_` holds the open brackets, `key_next` is whether a
// string at this position would be a key.
ScanEnd JsonScanner::run(std::size_t& at) {
  open_.clear();
  positions_.clear();
  const bool strict = quoting_ == Quoting::strict;
  bool key_next = member_;
  bool value_seen = false;  // there is a complete value before `here`
  bool comma_seen = false;  // there is a comma
  std::string_view key;
  const auto finish = [&](ScanEnd end) {
    positions_.resize(positions_.size() + kJsonSentinels, static_cast<std::uint32_t>(text_.size()));
    return end;
  };
  for (std::size_t here = at;;) {
    here = skip_json_blanks(text_, here);
    reached_ = here;
    if (value_seen && open_.empty()) {
      at = here;
      return finish(ScanEnd::complete);
    }
    if (here == text_.size()) return finish(ScanEnd::incomplete);
    const char c = text_[here];
    positions_.push_back(static_cast<std::uint32_t>(here));
    if (c == '"') {
      if (value_seen) return finish(ScanEnd::broken);
      std::size_t end = 0;
      const ScanEnd found = key_next ? end_of_key(here + 1, end) : end_of_value(here + 1, key, end);
      reached_ = std::max(reached_, std::min(end, text_.size()));
      if (found != ScanEnd::complete) return finish(found);
      if (key_next) {
        key = text_.substr(here + 1, end - here - 1);
        here = skip_json_blanks(text_, end + 1);
        positions_.push_back(static_cast<std::uint32_t>(here));  // the colon
        key_next = false;
      } else {
        value_seen = true;
        here = end;
      }
      comma_seen = false;
      ++here;
    } else if (c == '{' || c == '[') {
      if (value_seen || key_next) return finish(ScanEnd::broken);
      open_.push_back(c);
      key_next = c == '{';
      comma_seen = false;
      ++here;
    } else if (c == '}' || c == ']') {
      if (open_.empty() || (open_.back() == '{') != (c == '}')) return finish(ScanEnd::broken);
      const bool value_missing = !value_seen && (comma_seen || (c == '}' && !key_next));
      if (strict && value_missing) return finish(ScanEnd::broken);
      open_.resize(open_.size() - 1, 0);
      value_seen = true;
      key_next = false;
      ++here;
    } else if (c == ',') {
      if (!value_seen) return finish(ScanEnd::broken);
      value_seen = false;
      comma_seen = true;
      key_next = container() == '{';
      ++here;
    } else {
      if (value_seen || key_next || c == ':') return finish(ScanEnd::broken);
      const std::size_t start = here;
      while (here < text_.size() && !ends_json_scalar(text_[here])) ++here;
      if (here == text_.size() && !last_) return finish(ScanEnd::incomplete);
      if (strict && !is_json_scalar(text_.substr(start, here - start)))
        return finish(ScanEnd::broken);
      value_seen = true;
      comma_seen = false;
    }
  }
}

/// Moves `at` to the next quote that is not escaped by a backslash.
ScanEnd JsonScanner::next_quote(std::size_t& at) const {
  for (;; ++at) {
    at = text_.find('"', at);
    if (at == std::string_view::npos) return ScanEnd::incomplete;
    std::size_t slashes = 0;
    while (slashes < at && text_[at - slashes - 1] == '\\') ++slashes;
    if (slashes % 2 == 0) return ScanEnd::complete;
  }
}

/// Strict JSON allows no raw control characters in a string.
bool JsonScanner::is_clean(std::size_t start, std::size_t end) const {
  if (quoting_ != Quoting::strict) return true;
  const std::string_view content = text_.substr(start, end - start);
  return std::none_of(content.begin(), content.end(), is_control);
}

ScanEnd JsonScanner::end_of_key(std::size_t start, std::size_t& end) const {
  for (end = start;; ++end) {
    const ScanEnd found = next_quote(end);
    const std::size_t seen = found == ScanEnd::complete ? end : text_.size();
    if (!is_clean(start, seen)) return ScanEnd::broken;
    if (found != ScanEnd::complete) return found;
    const std::size_t colon = skip_json_blanks(text_, end + 1);
    if (colon == text_.size()) return ScanEnd::incomplete;
    if (text_[colon] == ':') return ScanEnd::complete;
    if (quoting_ == Quoting::strict || quoting_ == Quoting::escaped) return ScanEnd::broken;
  }
}

ScanEnd JsonScanner::end_of_value(std::size_t start, std::string_view key, std::size_t& end) const {
  if (quoting_ == Quoting::strict) {
    end = start;
    const ScanEnd found = next_quote(end);
    const std::size_t seen = found == ScanEnd::complete ? end : text_.size();
    return is_clean(start, seen) ? found : ScanEnd::broken;
  }
  const bool top_level = member_ && open_.empty();
  const bool event_name = !member_ && open_.size() == 1 && key == "name";
  if (quoting_ != Quoting::escaped && (top_level || event_name)) {
    const bool inline_name = event_name && quoting_ == Quoting::kineto_inline;
    const ScanEnd found = inline_name ? end_before_pid(start, end) : end_of_line(start, end);
    if (found != ScanEnd::broken) return found;
  }
  if (quoting_ != Quoting::escaped && key == "Call stack") {
    const ScanEnd found = end_of_stack(start, end);
    if (found != ScanEnd::broken) return found;
  }
  for (end = start;; ++end) {
    if (const ScanEnd found = next_quote(end); found != ScanEnd::complete) return found;
    if (const ScanEnd found = may_end_here(end + 1); found != ScanEnd::broken) return found;
  }
}

/// The end of the line, of the text, or of the part that is searched: a text may be one long line.
std::size_t JsonScanner::line_end(std::size_t start) const {
  constexpr std::size_t kLongestLine = std::size_t{64} << 10;
  const std::size_t newline = text_.substr(start, kLongestLine).find('\n');
  if (newline != std::string_view::npos) return start + newline;
  return std::min(text_.size(), start + kLongestLine);
}

/// Frames may hold anything, but torch ends each with a semicolon.
ScanEnd JsonScanner::end_of_stack(std::size_t start, std::size_t& end) const {
  if (start < text_.size() && text_[start] == '"') return ScanEnd::broken;
  const std::string_view line = text_.substr(0, line_end(start));
  if (line.size() == text_.size() && !last_) return ScanEnd::incomplete;
  for (end = line.find(";\"", start); end != std::string_view::npos; end = line.find(";\"", end)) {
    ++end;
    if (may_end_here(end + 1) == ScanEnd::complete) return ScanEnd::complete;
  }
  return ScanEnd::broken;
}

/// The last quote of the line, if nothing but a comma follows it.
ScanEnd JsonScanner::end_of_line(std::size_t start, std::size_t& end) const {
  end = line_end(start);
  if (end == text_.size() && !last_) return ScanEnd::incomplete;
  if (end < text_.size() && text_[end] != '\n') return ScanEnd::broken;
  while (end > start && is_json_blank(text_[end - 1])) --end;
  if (end > start && text_[end - 1] == ',') --end;
  if (end == start || text_[end - 1] != '"') return ScanEnd::broken;
  --end;
  return ScanEnd::complete;
}

ScanEnd JsonScanner::end_before_pid(std::size_t start, std::size_t& end) const {
  const std::size_t newline = line_end(start);
  if (newline == text_.size()) return last_ ? ScanEnd::broken : ScanEnd::incomplete;
  if (text_[newline] != '\n') return ScanEnd::broken;
  const std::size_t found = text_.substr(start, newline - start).rfind("\", \"pid\": ");
  if (found == std::string_view::npos) return ScanEnd::broken;
  end = start + found;
  return ScanEnd::complete;
}

/// Whether a string may end before `at`: the text after it must look like the next token. After an
/// element of an array: a comma or a bracket. After the value of a key: the end of the line,
/// another key with its colon, or brackets and then one of these.
ScanEnd JsonScanner::may_end_here(std::size_t at) const {
  const ScanEnd at_end = last_ ? ScanEnd::complete : ScanEnd::incomplete;
  const bool in_array = container() == '[';
  for (bool closed = false;; ++at) {
    while (at < text_.size() && (text_[at] == ' ' || text_[at] == '\t' || text_[at] == '\r')) ++at;
    if (at == text_.size()) return at_end;
    const char c = text_[at];
    if (c == '\n') return ScanEnd::complete;
    if (c == '}' || c == ']') {
      if (in_array && c == ']') return ScanEnd::complete;
      closed = true;
      continue;
    }
    if (c != ',') return ScanEnd::broken;
    if (in_array || closed) return ScanEnd::complete;
    at = skip_json_blanks(text_, at + 1);
    if (at == text_.size()) return at_end;
    if (text_[at] != '"') return ScanEnd::broken;
    std::size_t quote = at + 1;
    if (next_quote(quote) != ScanEnd::complete) return at_end;
    const std::size_t colon = skip_json_blanks(text_, quote + 1);
    if (colon == text_.size()) return at_end;
    return text_[colon] == ':' ? ScanEnd::complete : ScanEnd::broken;
  }
}

}  // namespace tbtrace::wire
