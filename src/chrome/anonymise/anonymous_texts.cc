#include "chrome/anonymise/anonymous_texts.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <vector>

#include "analyses/attribution/own_code.h"
#include "analyses/attribution/source_lines.h"
#include "base/characters.h"
#include "chrome/anonymise/public_words.h"

namespace tbtrace::chrome {
namespace {

bool is_byte_of_word(char c) {
  return is_letter(c) || is_digit(c) || static_cast<unsigned char>(c) >= 0x80;
}
constexpr std::string_view kLaunchFlow = "ac2g";

bool is_foreign(char c) { return static_cast<unsigned char>(c) >= 0x80; }
bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }

/// Where a word of letters that starts at `at` ends: `GEMM`, `Kernel` and `launch` of
/// `GEMMKernel2launch`.
std::size_t word_end(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && is_capital(text[end])) ++end;
  const bool goes_on = end < text.size() && is_letter(text[end]);
  if (end - at > 1) return goes_on ? end - 1 : end;
  while (end < text.size() && is_letter(text[end]) && !is_capital(text[end])) ++end;
  return end;
}

/// The words of a text of letters and digits.
std::vector<std::string_view> words_of(std::string_view segment) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < segment.size();) {
    if (is_digit(segment[at])) {
      ++at;
      continue;
    }
    const std::size_t end = word_end(segment, at);
    words.push_back(segment.substr(at, end - at));
    at = end;
  }
  return words;
}

bool is_known(std::string_view word) {
  return is_public_word(word) || KeyedWords::is_replacement(word);
}

/// `3f2a9c1d`, `aGVsbG8`, `s3cr3t`: parts of it say something, too.
bool is_code(std::string_view segment, const std::vector<std::string_view>& words) {
  constexpr std::size_t kShort = 4;
  if (std::ranges::none_of(segment, is_digit)) return false;
  if (!std::ranges::all_of(words, is_known)) {
    const auto is_short = [](std::string_view word) { return word.size() < kShort; };
    return words.size() > 1 && std::ranges::any_of(words, is_short);
  }
  std::set<std::string_view> letters;
  for (const std::string_view word : words) {
    if (word.size() == 1) letters.insert(word);
  }
  return letters.size() > 2;
}

/// The end of `10.0.3.17` at `at`; `at` if there is none.
std::size_t address_end(std::string_view text, std::size_t at) {
  std::size_t end = at;
  for (int number = 0; number < 4; ++number) {
    if (number > 0 && (end == text.size() || text[end++] != '.')) return at;
    const std::size_t start = end;
    while (end < text.size() && end - start < 3 && is_digit(text[end])) ++end;
    if (end == start) return at;
  }
  return end < text.size() && is_digit(text[end]) ? at : end;
}

/// `101.2.3.4` of `%2F101.2.3.4`.
bool starts_address(std::string_view text, std::size_t at) {
  return is_digit(text[at]) && !is_digit(text[at - 1]) && address_end(text, at) > at;
}

bool is_digits(std::string_view text) { return std::ranges::all_of(text, is_digit); }

/// Folders by which libraries are recognised (own_code.cc).
bool is_folder_of_libraries(std::string_view part) {
  constexpr auto kNames =
      std::to_array<std::string_view>({"site-packages", "dist-packages", "lib", "lib64", "Lib",
                                       "include", "c++", "bits", ".triton", ".", "..", ""});
  if (std::ranges::find(kNames, part) != kNames.end()) return true;
  const bool is_python = part.starts_with("python3") || part.starts_with("pypy3");
  return is_python && std::ranges::all_of(part.substr(part.find('3')), [](char c) {
           return is_digit(c) || c == '.' || c == 't';
         });
}

std::string with_slashes(std::string_view path) {
  std::string text(path);
  std::ranges::replace(text, '\\', '/');
  return text;
}

/// Where the part of a path begins that a known distribution or Python has; npos: nowhere.
std::size_t library_start(std::string_view slashed) {
  for (const std::string_view folder : {"site-packages/", "dist-packages/"}) {
    const std::size_t at = slashed.rfind(folder);
    if (at == std::string_view::npos) continue;
    const std::size_t start = at + folder.size();
    return analyses::is_distribution(slashed.substr(start)) ? start : std::string_view::npos;
  }
  for (std::size_t start = 0; start < slashed.size();) {
    const std::string_view rest = slashed.substr(start);
    if (analyses::is_standard_library(rest) || analyses::is_distribution(rest)) return start;
    const std::size_t slash = slashed.find('/', start);
    if (slash == std::string_view::npos) break;
    start = slash + 1;
  }
  return std::string_view::npos;
}

bool is_dunder(std::string_view name) {
  return name.size() > 4 && name.starts_with("__") && name.ends_with("__") &&
         words_of(name.substr(2, name.size() - 4)).size() < 3;
}

}  // namespace

const std::string& AnonymousTexts::of(std::string_view text, Kind kind) {
  constexpr std::size_t kMost = 100'000;
  constexpr std::size_t kLongest = 1024;  // that is kept
  if (text.size() > kLongest) {
    long_ = make(text, kind);
    return long_;
  }
  auto& known = known_[static_cast<std::size_t>(kind)];
  const auto found = known.find(std::string(text));
  if (found != known.end()) return found->second;
  if (known.size() >= kMost) known.clear();
  return known.emplace(text, make(text, kind)).first->second;
}

std::string AnonymousTexts::make(std::string_view text, Kind kind) {
  switch (kind) {
    case Kind::frames:
      return frames(text);
    case Kind::module:
      return module(text);
    case Kind::words:
      break;
  }
  return words(text);
}

std::string AnonymousTexts::words(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_byte_of_word(text[at])) {
      out += text[at++];
      continue;
    }
    if (const std::size_t end = address_end(text, at); end > at) {
      out += words_.replaced(text.substr(at, end - at));
      at = end;
      continue;
    }
    std::size_t end = at + 1;
    while (end < text.size() && is_byte_of_word(text[end]) && !starts_address(text, end)) ++end;
    segment(out, text.substr(at, end - at));
    at = end;
  }
  return out;
}

void AnonymousTexts::segment(std::string& out, std::string_view segment) {
  if (std::ranges::any_of(segment, is_foreign)) {
    out += words_.replaced(segment);
    return;
  }
  if (segment == kLaunchFlow) {
    out += segment;
    return;
  }
  const std::vector<std::string_view> words = words_of(segment);
  if (is_code(segment, words)) {
    out += words_.replaced(segment);
    return;
  }
  std::size_t next = 0;
  for (std::size_t at = 0; at < segment.size();) {
    if (is_digit(segment[at])) {
      out += segment[at++];
      continue;
    }
    const std::string_view word = words[next++];
    if (is_known(word)) {
      out += word;
    } else {
      out += words_.replaced(word);
    }
    at += word.size();
  }
}

std::string AnonymousTexts::frames(std::string_view text) {
  std::string out;
  while (true) {
    const std::size_t end = text.find_first_of(";\n");
    out += frame(text.substr(0, end));
    if (end == std::string_view::npos) return out;
    out += text[end];
    text.remove_prefix(end + 1);
  }
}

std::string AnonymousTexts::frame(std::string_view text) {
  if (text.starts_with("nn.Module: ")) return module(text);
  const auto line = analyses::line_of_frame(text);
  if (!line || line->file.empty()) {
    const bool is_path =
        text.find('/') != std::string_view::npos && text.find(' ') == std::string_view::npos;
    return is_path ? path(text) : words(text);
  }
  const auto file_at = static_cast<std::size_t>(line->file.data() - text.data());
  const std::size_t file_end = file_at + line->file.size();
  if (line->function.empty()) {
    return words(text.substr(0, file_at)) + path(line->file) + words(text.substr(file_end));
  }
  const auto function_at = static_cast<std::size_t>(line->function.data() - text.data());
  const std::size_t function_end = function_at + line->function.size();
  const std::string slashed = with_slashes(line->file);
  const bool is_public =
      analyses::is_library_path(line->file) && library_start(slashed) != std::string_view::npos;
  return words(text.substr(0, file_at)) + path(line->file) +
         words(text.substr(file_end, function_at - file_end)) +
         (is_public ? std::string(line->function) : function(line->function)) +
         words(text.substr(function_end));
}

std::string AnonymousTexts::path(std::string_view text) {
  if (text.starts_with('<')) return words(text);
  const std::string slashed = with_slashes(text);
  const std::size_t start =
      analyses::is_library_path(text) ? library_start(slashed) : std::string_view::npos;
  if (start == std::string_view::npos) return folders(text);
  return folders(text.substr(0, start)) + std::string(text.substr(start));
}

std::string AnonymousTexts::folders(std::string_view text) {
  std::string out;
  while (true) {
    const std::size_t end = text.find_first_of("/\\");
    out += part(text.substr(0, end));
    if (end == std::string_view::npos) return out;
    out += text[end];
    text.remove_prefix(end + 1);
  }
}

/// A folder or a file.
std::string AnonymousTexts::part(std::string_view part) {
  constexpr std::string_view kGenerated = "torchinductor_";
  if (is_folder_of_libraries(part) || is_digits(part)) return std::string(part);
  if (part.starts_with(kGenerated)) {
    return std::string(kGenerated) + identifier(part.substr(kGenerated.size()));
  }
  constexpr auto kEndings =
      std::to_array<std::string_view>({".py", ".pyx", ".cc", ".cpp", ".cxx", ".c", ".h", ".hpp",
                                       ".cu", ".cuh", ".so", ".json", ".gz", ".ipynb"});
  std::string_view ending;
  for (const std::string_view each : kEndings) {
    if (part.size() > each.size() && part.ends_with(each) && each.size() > ending.size())
      ending = each;
  }
  const std::string_view stem = part.substr(0, part.size() - ending.size());
  const bool is_drive = stem.size() == 2 && stem[1] == ':';
  if (is_drive || KeyedWords::is_replacement(stem)) return std::string(part);
  return words_.replaced(stem) + std::string(ending);
}

std::string AnonymousTexts::function(std::string_view name) {
  constexpr auto kPublic = std::to_array<std::string_view>({"forward", "backward", "step", "main"});
  if (name.starts_with('<')) return words(name);
  if (is_dunder(name) || std::ranges::find(kPublic, name) != kPublic.end())
    return std::string(name);
  return identifier(name);
}

/// Names between dots, and in parentheses: `Net(Net)::forward.layers.0`.
std::string AnonymousTexts::module(std::string_view text) {
  constexpr std::string_view kPrefix = "nn.Module: ";
  std::string out;
  if (text.starts_with(kPrefix)) {
    out = kPrefix;
    text.remove_prefix(kPrefix.size());
  }
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = address_end(text, at);
    if (end > at) {
      out += words_.replaced(text.substr(at, end - at));
      at = end;
      continue;
    }
    while (end < text.size() && (is_byte_of_word(text[end]) || text[end] == '_')) ++end;
    if (end == at) {
      out += text[at++];
      continue;
    }
    out += identifier(text.substr(at, end - at));
    at = end;
  }
  return out;
}

/// A name as a whole, but for the number at its end.
std::string AnonymousTexts::identifier(std::string_view name) {
  std::size_t end = name.size();
  while (end > 0 && is_digit(name[end - 1])) --end;
  const bool has_number = end > 0 && end < name.size() && name[end - 1] == '_';
  if (name.find_first_not_of("_0123456789") == std::string_view::npos) return std::string(name);
  const std::string_view stem = has_number ? name.substr(0, end - 1) : name;
  if (is_public_class(stem) || KeyedWords::is_replacement(stem)) return std::string(name);
  return words_.replaced(stem) + std::string(name.substr(stem.size()));
}

}  // namespace tbtrace::chrome
