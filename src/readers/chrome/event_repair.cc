#include "readers/chrome/event_repair.h"

#include <algorithm>

#include "readers/chrome/keys.h"
#include "wire/json_blanks.h"

namespace tbtrace::readers {
namespace {

using wire::ScanEnd;
using wire::skip_json_blanks;

constexpr std::size_t kWindow = std::size_t{1} << 20;  // in which a damaged event must end
constexpr std::size_t kLongestGap =
    4096;  // from a comma or bracket to the end of the key of the next event

/// What stands at a place between two events: nothing but blanks, a brace, and a key of events.
enum class Gap : std::uint8_t { event, other, open };

Gap gap_at(std::string_view text, std::size_t from, std::size_t& brace) {
  const std::string_view near = text.substr(0, from + kLongestGap);
  brace = skip_json_blanks(near, from);
  if (brace == text.size()) return Gap::open;
  if (brace == near.size() || text[brace] != '{') return Gap::other;
  const std::size_t quote = skip_json_blanks(near, brace + 1);
  if (quote == text.size()) return Gap::open;
  if (quote == near.size() || text[quote] != '"') return Gap::other;
  const std::size_t end = near.find('"', quote + 1);
  if (end == std::string_view::npos) return near.size() == text.size() ? Gap::open : Gap::other;
  const std::string_view key = text.substr(quote + 1, end - quote - 1);
  return event_field(key) == EventField::none ? Gap::other : Gap::event;
}

}  // namespace

EventRepair::Outcome EventRepair::take(ChromeParser& parser, std::string_view text,
                                       wire::Quoting quoting, const EventSeparator& separator,
                                       std::size_t at, bool last) {
  using Next = Outcome::Next;
  if (text[at] == '[') {
    // A stray one: the array of events would end with it.
    std::size_t brace = 0;
    const Gap gap = gap_at(text, at + 1, brace);
    if (gap == Gap::open && !last) return {Next::need_text, at};
    if (gap == Gap::event) {
      parser.rows().add_lost(IssueId::event_unreadable, at);
      return {Next::read_on, brace};
    }
  }
  std::string_view window = text.substr(0, text.size() - at > kWindow ? at + kWindow : text.size());
  const std::size_t next_event = separator.next_event(window, at + 1);
  window = window.substr(0, next_event);
  const bool is_cut = window.size() < text.size();
  const bool ends = next_event < text.size() || (last && !is_cut);
  const ChromeParser::Damaged element = parser.read_damaged(window, quoting, at, ends);
  if (element.end == ScanEnd::incomplete && !last && !is_cut) return {Next::need_text, at};
  spend(element.reached - at);
  if (element.is_event) {
    const char after = element.after < text.size() ? text[element.after] : ',';
    if (after == '{') parser.rows().issues().add(IssueId::comma_misplaced, element.after);
    if (after == '{' || after == ',' || after == ']') return {Next::read_on, element.after};
    parser.rows().add_lost(IssueId::event_unreadable, element.after);
    return {Next::search, element.after};
  }
  if (element.end == ScanEnd::complete) {
    // Something else that stands between two events, or the inside of an event without its brace.
    const std::size_t next = wire::skip_json_gap(text, element.after);
    if (next == text.size() && !last) return {Next::need_text, at};
    parser.rows().add_lost(IssueId::event_unreadable, at);
    if (next == text.size() || text[next] == '{' || text[next] == ']') {
      return {Next::read_on, element.after};
    }
  } else {
    parser.rows().add_lost(IssueId::event_unreadable, at);
  }
  return {Next::search, has_credit() ? at + 1 : std::max(at + 1, element.reached)};
}

void EventRepair::give_up(ChromeParser& parser, std::string_view text, std::size_t at) {
  spend(text.size() - at);
  parser.rows().add_lost(IssueId::event_unreadable, at);
}

EventStart find_event_start(std::string_view text, std::size_t from) {
  for (std::size_t comma = from;; ++comma) {
    comma = text.find(',', comma);
    if (comma == std::string_view::npos) return {false, text.size()};
    std::size_t brace = 0;
    switch (gap_at(text, comma + 1, brace)) {
      case Gap::event:
        return {true, brace};
      case Gap::open:
        return {false, comma};
      case Gap::other:
        break;
    }
  }
}

std::optional<EventStart> event_after_bracket(std::string_view text) {
  const std::size_t comma = skip_json_blanks(text, 0);
  if (comma == text.size()) return std::nullopt;
  std::size_t brace = 0;
  const Gap gap = gap_at(text, text[comma] == ',' ? comma + 1 : comma, brace);
  if (gap == Gap::open) return std::nullopt;
  return EventStart{gap == Gap::event, brace};
}

}  // namespace tbtrace::readers
