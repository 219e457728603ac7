#include "readers/event_separator.h"

#include <algorithm>

#include "readers/chrome_fields.h"

namespace tbtrace::readers {
namespace {

constexpr std::size_t kLongest = 200;

bool is_gap(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == ','; }

}  // namespace

void EventSeparator::learn(std::string_view text, std::size_t end) {
  if (end == 0 || text[end - 1] != '}') return;
  std::size_t next = end;
  while (next < text.size() && is_gap(text[next])) ++next;
  if (next == text.size() || text[next] != '{') return;
  const std::size_t key = text.find('"', next);
  const std::size_t key_end = key == std::string_view::npos ? key : text.find('"', key + 1);
  if (key_end == std::string_view::npos || key_end - end > kLongest) return;
  text_ = text.substr(end - 1, key_end + 1 - (end - 1));
  key_at_ = key - (end - 1);
}

std::size_t EventSeparator::last_boundary(std::string_view text) {
  std::size_t found = text.rfind(text_);
  if (found == std::string_view::npos || found < text.size() / 2) {
    const std::string_view any_key = std::string_view(text_).substr(0, key_at_ + 1);
    const std::size_t other = text.rfind(any_key);
    if (other != found && other != std::string_view::npos) {
      found = other;
      const std::size_t key = found + any_key.size();
      const std::size_t key_end = std::min(text.find('"', key), text.size());
      // Objects inside an event follow each other like this too.
      if (field_of(text.substr(key, key_end - key), kEventKeys) != Field::none) {
        learn(text, found + 1);
      }
    }
  }
  return found == std::string_view::npos ? 0 : found + 1;
}

}  // namespace tbtrace::readers
