#include "readers/blocks/cut.h"

#include <cstdint>

#include "wire/json_blanks.h"

namespace tbtrace::readers {
namespace {

constexpr std::size_t kFarthest = std::size_t{64} << 10;  // to look at, in all

/// Walks over a text as long as it looks like JSON.
class Walk {
 public:
  Walk(std::string_view text, std::size_t at) : text_(text), at_(at) {}

  std::size_t at() const { return at_; }

  char next() {
    at_ = wire::skip_json_blanks(text_, at_);
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (next() != c) return false;
    ++at_;
    return true;
  }

  /// The content of a string, as it stands; false if there is none, or it does not end.
  bool take_string(std::string_view& content) {
    if (!take('"')) return false;
    const std::size_t start = at_;
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\\') {
        ++at_;
      } else if (text_[at_] == '"') {
        content = text_.substr(start, at_ - start);
        ++at_;
        return true;
      }
    }
    return false;
  }

  bool skip_value() {
    std::string_view content;
    std::size_t depth = 0;
    do {
      switch (next()) {
        case '\0':
          return false;
        case '"':
          if (!take_string(content)) return false;
          break;
        case '{':
        case '[':
          ++depth;
          ++at_;
          break;
        case '}':
        case ']':
          if (depth == 0) return false;
          --depth;
          ++at_;
          break;
        default:
          ++at_;
      }
    } while (depth > 0 || (at_ < text_.size() && text_[at_] != ',' && text_[at_] != '}'));
    return at_ < text_.size();
  }

 private:
  std::string_view text_;
  std::size_t at_;
};

/// The object at `walk` has a phase.
bool names_phase(Walk& walk) {
  if (!walk.take('{')) return false;
  do {
    std::string_view key;
    if (!walk.take_string(key) || !walk.take(':')) return false;
    if (key == "ph") return true;
    if (!walk.skip_value()) return false;
  } while (walk.take(','));
  return false;
}

}  // namespace

std::size_t find_cut(std::string_view text) {
  std::size_t looked_at = 0;
  for (std::size_t end = text.size(); looked_at < kFarthest;) {
    const std::size_t brace = end == 0 ? std::string_view::npos : text.rfind('{', end - 1);
    if (brace == std::string_view::npos) return 0;
    looked_at += end - brace;
    std::size_t comma = brace;
    while (comma > 0 && wire::is_json_blank(text[comma - 1])) --comma;
    if (comma > 0 && text[comma - 1] == ',') {
      Walk walk(text.substr(0, brace + kFarthest), brace);
      if (names_phase(walk)) return comma;
      looked_at += walk.at() - brace;
    }
    end = brace;
  }
  return 0;
}

}  // namespace tbtrace::readers
