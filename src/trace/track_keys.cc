#include "trace/track_keys.h"

#include <algorithm>

namespace tbtrace {

std::string_view trimmed(std::string_view name) {
  const std::size_t begin = std::min(name.find_first_not_of(' '), name.size());
  return name.substr(begin, name.find_last_not_of(' ') + 1 - begin);
}

std::string track_label(const Trace& trace, const Track& track, std::string_view what) {
  const std::string id = key_text(trace, track.thread);
  const std::string_view name = trimmed(trace.string(track.thread_name));
  std::string text = id;
  if (name.find(id) != std::string_view::npos) {
    text = name;
  } else if (!name.empty()) {
    text += " (" + std::string(name) + ")";
  }
  const bool says_what =
      text.find(what) != std::string::npos || track.thread.text != StringId::empty;
  return says_what ? text : std::string(what) + " " + text;
}

}  // namespace tbtrace
