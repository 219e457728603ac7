#include "writers/pictures/picture_text.h"

#include "base/utf8.h"

namespace tbtrace::writers {
namespace {

constexpr std::string_view kReplacement = "\ufffd";
constexpr std::string_view kEllipsis = "\u2026";

/// C0, DEL and C1.
bool is_control(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character[0]);
  return lead < 0x20 || lead == 0x7f || (character >= "\xc2\x80" && character <= "\xc2\x9f");
}

/// U+FDD0 to U+FDEF and the last two of each plane, which cairo treats as an error.
bool is_noncharacter(std::string_view character) {
  if (character.size() == 3 && character >= "\xef\xb7\x90" && character <= "\xef\xb7\xaf") {
    return true;
  }
  if (character.size() < 3) return false;
  const auto byte = [&](std::size_t from_end) {
    return static_cast<unsigned char>(character[character.size() - from_end]);
  };
  return byte(1) >= 0xbe && byte(2) == 0xbf && (byte(3) & 0x0f) == 0x0f;
}

}  // namespace

DrawnCharacter first_drawn_character(std::string_view text) {
  const char c = text[0];
  if (c == ' ' || c == '\t' || c == '\n' || c == '\r') return {" ", 1};
  const std::size_t size = utf8_character_size(text);
  if (size == 0) return {kReplacement, 1};
  const std::string_view character = text.substr(0, size);
  if (is_control(character) || is_noncharacter(character)) return {kReplacement, size};
  return {character, size};
}

std::string fitted_text(std::string_view text, double room,
                        const std::function<double(std::string_view)>& advance) {
  const double ellipsis = advance(kEllipsis);
  std::string shown;
  std::size_t kept = 0;  // longest prefix that leaves room for the ellipsis
  int kept_characters = 0;
  double used = 0;
  for (int taken = 0; !text.empty(); ++taken) {
    const auto [character, size] = first_drawn_character(text);
    used += advance(character);
    // There may be any number of marks that do not advance the pen.
    if (used > room || taken > room) {
      if (kept_characters < 2) return {};
      shown.resize(kept);
      return shown.append(kEllipsis);
    }
    shown.append(character);
    if (used + ellipsis <= room) {
      kept = shown.size();
      ++kept_characters;
    }
    text.remove_prefix(size);
  }
  return shown;
}

}  // namespace tbtrace::writers
