#include "chrome/anonymise/private_shapes.h"

#include <algorithm>
#include <set>
#include <vector>

#include "base/characters.h"

namespace tbtrace::chrome {
namespace {

bool is_hexadecimal(char c) {
  const char lower = lower_case(c);
  return is_digit(c) || (lower >= 'a' && lower <= 'f');
}

bool is_word_at(std::string_view text, std::size_t at) {
  return at < text.size() && is_byte_of_word(text[at]);
}

/// Four numbers of up to three digits.
std::size_t numbers_end(std::string_view text, std::size_t at, char separator) {
  std::size_t end = at;
  for (int number = 0; number < 4; ++number) {
    if (number > 0 && (end == text.size() || text[end++] != separator)) return at;
    const std::size_t start = end;
    while (end < text.size() && end - start < 3 && is_digit(text[end])) ++end;
    if (end == start) return at;
  }
  return end < text.size() && is_digit(text[end]) ? at : end;
}

/// Hexadecimal numbers between separators that are all the same.
struct Groups {
  std::vector<std::size_t> sizes;
  bool has_gap = false;  ///< `::`
  std::size_t end = 0;
};

Groups groups_at(std::string_view text, std::size_t at, char separator) {
  constexpr std::size_t kMost = 9;
  Groups groups;
  for (std::size_t end = at; groups.sizes.size() < kMost;) {
    const std::size_t start = end;
    while (end < text.size() && is_hexadecimal(text[end])) ++end;
    if (end == start) return {};
    groups.sizes.push_back(end - start);
    groups.end = end;
    if (end == text.size() || text[end] != separator) return groups;
    ++end;
    if (end == text.size() || text[end] != separator) continue;
    if (groups.has_gap || separator != ':') return {};
    groups.has_gap = true;
    ++end;
  }
  return {};
}

bool is_ipv6(std::string_view text, const Groups& groups) {
  constexpr std::size_t kAll = 8;
  const auto is_short = [](std::size_t size) { return size <= 4; };
  if (!std::ranges::all_of(groups.sizes, is_short)) return false;
  if (!groups.has_gap) return groups.sizes.size() == kAll;
  const bool is_local = lower_case(text).starts_with("fe80:");
  return std::ranges::any_of(text, is_digit) && (groups.sizes.size() > 2 || is_local);
}

/// IPv6, MAC addresses, UUIDs.
std::size_t hexadecimal_end(std::string_view text, std::size_t at) {
  if (at > 0 && is_byte_of_word(text[at - 1])) return at;
  const std::vector<std::size_t> mac(6, 2);
  const std::vector<std::size_t> uuid = {8, 4, 4, 4, 12};
  for (const char separator : {':', '-'}) {
    const Groups groups = groups_at(text, at, separator);
    if (groups.sizes.size() < 2 || is_word_at(text, groups.end)) continue;
    const std::string_view whole = text.substr(at, groups.end - at);
    const bool is_one = groups.sizes == mac || (separator == '-' && groups.sizes == uuid) ||
                        (separator == ':' && is_ipv6(whole, groups));
    if (is_one) return groups.end;
  }
  return at;
}

bool is_of_mailbox(char c) {
  return is_byte_of_word(c) || c == '.' || c == '_' || c == '+' || c == '-';
}

std::size_t mail_end(std::string_view text, std::size_t at) {
  for (std::size_t before = at; before > 0 && is_of_mailbox(text[before - 1]); --before) {
    if (is_byte_of_word(text[before - 1])) return at;
  }
  std::size_t end = at;
  while (end < text.size() && is_of_mailbox(text[end])) ++end;
  if (end == at || end == text.size() || text[end] != '@') return at;
  constexpr std::size_t kLongestHost = 254;
  const std::size_t host = ++end;
  if (!is_word_at(text, host)) return at;
  while (end < text.size() && (is_of_mailbox(text[end]) || text[end] == '@')) {
    if (++end - host > kLongestHost) return at;
  }
  while (end > host && !is_byte_of_word(text[end - 1])) --end;
  return text.substr(host, end - host).find('.') == std::string_view::npos ? at : end;
}

}  // namespace

bool is_byte_of_word(char c) {
  return is_letter(c) || is_digit(c) || static_cast<unsigned char>(c) >= 0x80;
}

std::size_t address_end(std::string_view text, std::size_t at) {
  std::size_t end = numbers_end(text, at, '.');
  const bool is_after_ip = at >= 3 && lower_case(text.substr(at - 3, 3)) == "ip-";
  if (end == at && is_after_ip) end = numbers_end(text, at, '-');
  // What is joined to it would be joined to its replacement.
  while (end > at && (is_word_at(text, end) || text.substr(end).starts_with('_'))) ++end;
  return std::max({end, hexadecimal_end(text, at), mail_end(text, at)});
}

std::size_t path_end(std::string_view text, std::size_t at) {
  constexpr std::string_view kAround = " \t\r\n\"'=,;|()<>[]{}";
  const std::string_view rest = text.substr(at);
  const bool is_start = at == 0 || kAround.find(text[at - 1]) != std::string_view::npos;
  const bool is_url = at > 0 && text[at - 1] == ':' && rest.starts_with("//");
  const bool is_drive = is_start && rest.size() > 2 && is_letter(rest[0]) && rest[1] == ':' &&
                        (rest[2] == '\\' || rest[2] == '/');
  const bool is_home = is_start && rest.starts_with("~/");
  const std::string_view path = rest.substr(0, rest.find_first_of(kAround));
  if (is_url || is_drive || is_home) return at + path.size();
  if (!is_start || !path.starts_with('/')) return at;
  const std::size_t second = path.find('/', 1);
  const bool is_path = second != std::string_view::npos && second > 1 && path.size() > second + 1 &&
                       path.substr(0, second).find(':') == std::string_view::npos;
  return is_path ? at + path.size() : at;
}

bool is_token(std::string_view text, std::span<const std::string_view> words, bool are_public) {
  constexpr std::size_t kShortWord = 4;
  constexpr std::size_t kLongToken = 16;
  constexpr std::size_t kHash = 8;
  if (std::ranges::none_of(text, is_digit)) return false;
  if (!are_public) {
    const auto is_short = [](std::string_view word) { return word.size() < kShortWord; };
    const bool is_long = text.size() >= kLongToken;
    return words.size() > 1 && (is_long || std::ranges::any_of(words, is_short));
  }
  std::set<char> letters;
  for (const std::string_view word : words) {
    if (word.size() == 1) letters.insert(lower_case(word[0]));
  }
  if (letters.size() > 2) return true;
  // `550e8400`, not `bf16f32`.
  const bool is_of_types =
      std::ranges::all_of(letters, [](char letter) { return letter == 'b' || letter == 'f'; });
  return text.size() >= kHash && !is_of_types && std::ranges::all_of(text, is_hexadecimal);
}

}  // namespace tbtrace::chrome
