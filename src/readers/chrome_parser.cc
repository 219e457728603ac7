#include "readers/chrome_parser.h"

#include <algorithm>

namespace tbtrace::readers {
namespace {

using wire::Quoting;
using wire::ScanEnd;

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

}  // namespace

void ChromeParser::start(std::string_view text, Quoting quoting, bool last) {
  constexpr std::size_t kMostScans = 8;
  text_ = text;
  quoting_ = quoting;
  last_ = last;
  rescans_left_ = kMostScans * text.size();
}

ChromeParser::Progress ChromeParser::parse(std::string_view text, Quoting quoting, bool last) {
  start(text, quoting, last);
  const bool may_hold_escapes = text.find('\\') != std::string_view::npos;
  std::size_t at = 0;
  Stop stop = Stop::none;
  if (index_.build(text)) {
    consumer_->begin({quoting, may_hold_escapes, true});
    stop = walk_index(at);
  }
  consumer_->begin({quoting, may_hold_escapes, false});
  while (stop == Stop::none) stop = scan_event(at);
  return {at, stop == Stop::array_end};
}

ChromeParser::Progress ChromeParser::parse_one(std::string_view text, Quoting quoting, bool last) {
  start(text, quoting, last);
  consumer_->begin({quoting, true, false});
  std::size_t at = 0;
  const Stop stop = scan_event(at);
  return {at, stop == Stop::array_end};
}

/// Reads events as long as the text is proper JSON; `at` ends where it is not, or at the end.
ChromeParser::Stop ChromeParser::walk_index(std::size_t& at) {
  const std::uint32_t* position = index_.positions();
  for (;;) {
    const std::size_t here = *position;
    if (here >= text_.size()) {
      at = text_.size();
      return Stop::need_text;
    }
    at = here;
    switch (text_[here]) {
      case ',':
        ++position;
        break;
      case ']':
        at = here + 1;
        return Stop::array_end;
      case '{': {
        const TokenEnd end = tokenizer_.read(text_, quoting_, position, event_);
        if (end == TokenEnd::complete) {
          consumer_->add(event_, here);
          break;
        }
        return end == TokenEnd::incomplete ? Stop::need_text : Stop::none;
      }
      default:
        return Stop::none;
    }
  }
}

/// Reads the next element, whatever it is; `at` ends behind it.
ChromeParser::Stop ChromeParser::scan_event(std::size_t& at) {
  while (at < text_.size() && (is_space(text_[at]) || text_[at] == ',')) ++at;
  if (at == text_.size()) return Stop::need_text;
  if (text_[at] == ']') {
    ++at;
    return Stop::array_end;
  }
  const std::size_t start = at;
  scanner_.set_quoting(quoting_);
  const ScanEnd end = scanner_.scan_element(text_, at, last_);
  if (end == ScanEnd::incomplete) return Stop::need_text;
  const std::uint32_t* position = scanner_.positions();
  // The scanner has applied the rules of this writer already.
  if (end == ScanEnd::complete && text_[start] == '{' &&
      tokenizer_.read(text_, Quoting::escaped, position, event_) == TokenEnd::complete) {
    consumer_->add(event_, start);
    return Stop::none;
  }
  consumer_->add_issue(IssueId::event_unreadable, start);
  if (end == ScanEnd::broken || !may_start_event(at)) {
    // Text made for it could be scanned to its end from every event that starts in it.
    const std::size_t scanned = scanner_.reached() - start;
    const bool may_scan_again = scanned <= rescans_left_;
    if (may_scan_again) rescans_left_ -= scanned;
    at = next_event(may_scan_again ? start : std::max(start, scanner_.reached()));
  }
  return Stop::none;
}

/// Whether behind an element that is no event the next event follows, or the array or text ends.
/// Otherwise it may be the inside of an event that lost its brace.
bool ChromeParser::may_start_event(std::size_t at) const {
  while (at < text_.size() && (is_space(text_[at]) || text_[at] == ',')) ++at;
  return at == text_.size() || text_[at] == '{' || text_[at] == ']';
}

/// Where an event may start behind a broken one: at a brace after a comma, if a key of events
/// follows.
std::size_t ChromeParser::next_event(std::size_t at) const {
  const auto skip_space = [&](std::size_t from) {
    while (from < text_.size() && is_space(text_[from])) ++from;
    return from;
  };
  for (;; ++at) {
    at = text_.find(',', at);
    if (at == std::string_view::npos) return text_.size();
    const std::size_t brace = skip_space(at + 1);
    if (brace == text_.size()) return brace;
    const std::size_t quote = skip_space(brace + 1);
    if (text_[brace] != '{' || quote >= text_.size() || text_[quote] != '"') continue;
    const std::string_view key = text_.substr(quote + 1, text_.find('"', quote + 1) - quote - 1);
    if (field_of(key, kEventKeys) != Field::none) return brace;
  }
}

}  // namespace tbtrace::readers
