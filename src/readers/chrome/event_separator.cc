#include "readers/chrome/event_separator.h"

#include "wire/json_blanks.h"

namespace tbtrace::readers {
namespace {

constexpr std::size_t kLongest = 200;

}  // namespace

void EventSeparator::learn(std::string_view text, std::size_t end) {
  if (end == 0 || text[end - 1] != '}') return;
  const std::size_t next = wire::skip_json_gap(text, end);
  if (next == text.size() || text[next] != '{') return;
  const std::size_t key = text.find('"', next);
  const std::size_t key_end = key == std::string_view::npos ? key : text.find('"', key + 1);
  if (key_end == std::string_view::npos || key_end - end > kLongest) return;
  text_ = text.substr(end - 1, key_end + 1 - (end - 1));
}

std::size_t EventSeparator::next_event(std::string_view text, std::size_t from) const {
  if (!known()) return std::string_view::npos;
  return text.find(std::string_view(text_).substr(1), from);
}

}  // namespace tbtrace::readers
