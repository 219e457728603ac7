#include "readers/chrome_parser.h"

namespace tbtrace::readers {
namespace {

using wire::Quoting;
using wire::ScanEnd;

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

}  // namespace

ChromeParser::Progress ChromeParser::parse(std::string_view text, Quoting quoting, bool last,
                                           EventBatch& batch) {
  text_ = text;
  quoting_ = quoting;
  last_ = last;
  const bool may_hold_escapes = text.find('\\') != std::string_view::npos;
  std::size_t at = 0;
  Stop stop = Stop::none;
  if (index_.build(text)) {
    mapper_.begin(quoting, may_hold_escapes, true);
    stop = walk_index(at, batch);
  }
  mapper_.begin(quoting, may_hold_escapes, false);
  while (stop == Stop::none) stop = scan_event(at, batch);
  return {at, stop == Stop::array_end};
}

ChromeParser::Progress ChromeParser::parse_one(std::string_view text, Quoting quoting, bool last,
                                               EventBatch& batch) {
  text_ = text;
  quoting_ = quoting;
  last_ = last;
  mapper_.begin(quoting, true, false);
  std::size_t at = 0;
  const Stop stop = scan_event(at, batch);
  return {at, stop == Stop::array_end};
}

/// Reads events as long as the text is proper JSON; `at` ends where it is not, or at the end.
ChromeParser::Stop ChromeParser::walk_index(std::size_t& at, EventBatch& batch) {
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
          mapper_.add(event_, here, batch);
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
ChromeParser::Stop ChromeParser::scan_event(std::size_t& at, EventBatch& batch) {
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
    mapper_.add(event_, start, batch);
    return Stop::none;
  }
  batch.issues.add(IssueId::event_unreadable, start);
  if (end == ScanEnd::broken) at = next_event(start + 1);
  return Stop::none;
}

/// Where an event may start after a broken one: at a brace that follows the end of another.
std::size_t ChromeParser::next_event(std::size_t at) const {
  for (;; ++at) {
    at = text_.find('}', at);
    if (at == std::string_view::npos) return text_.size();
    std::size_t next = at + 1;
    while (next < text_.size() && (is_space(text_[next]) || text_[next] == ',')) ++next;
    if (next == text_.size()) return next;
    if (text_[next] == '{' && text_.substr(at + 1, next - at - 1).find(',') != std::string_view::npos) {
      return next;
    }
  }
}

}  // namespace tbtrace::readers
