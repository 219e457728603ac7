#include "chrome/anonymise/anonymous_texts.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "analyses/attribution/source_lines.h"
#include "base/characters.h"
#include "chrome/anonymise/private_shapes.h"
#include "chrome/anonymise/public_words.h"
#include "symbols/names/code_place.h"
#include "symbols/names/demangle.h"

namespace tbtrace::chrome {
namespace {

/// What torch calls launches' flows, and operators whose words are names of people as well.
constexpr auto kWhole = std::to_array<std::string_view>({"ac2g", "kaiser_window"});

constexpr std::size_t kLongestReadable = std::size_t{64} << 10;

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

/// The words of a text: what stands between them is not part of any.
std::vector<std::string_view> words_of(std::string_view segment) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < segment.size();) {
    if (!is_letter(segment[at])) {
      ++at;
      continue;
    }
    const std::size_t end = word_end(segment, at);
    words.push_back(segment.substr(at, end - at));
    at = end;
  }
  return words;
}

/// Whether all its letters are those of replacements, and there are some.
bool was_replaced(std::string_view text) {
  bool has_letters = false;
  for (std::size_t at = 0; at < text.size();) {
    if (is_foreign(text[at])) return false;
    std::size_t end = at;
    while (end < text.size() && is_letter(text[end])) ++end;
    if (end > at && !KeyedWords::is_replacement(text.substr(at, end - at))) return false;
    has_letters = has_letters || end > at;
    at = std::max(end, at + 1);
  }
  return has_letters;
}

bool is_known(std::string_view word) {
  return is_public_word(word) || KeyedWords::is_replacement(word);
}

/// `101.2.3.4` of `%2F101.2.3.4`.
bool starts_address(std::string_view text, std::size_t at) {
  return is_digit(text[at]) && !is_digit(text[at - 1]) && address_end(text, at) > at;
}

/// One of kWhole.
std::string_view whole_at(std::string_view text, std::size_t at) {
  const auto is_here = [&](std::string_view whole) {
    const std::size_t end = at + whole.size();
    return text.substr(at).starts_with(whole) && (at == 0 || !is_byte_of_word(text[at - 1])) &&
           (end == text.size() || !is_byte_of_word(text[end]));
  };
  const auto* const whole = std::ranges::find_if(kWhole, is_here);
  return whole == kWhole.end() ? std::string_view() : *whole;
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
    std::size_t at = slashed.rfind(folder);
    while (at != std::string_view::npos && at > 0 && slashed[at - 1] != '/') {
      at = slashed.rfind(folder, at - 1);
    }
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

/// `__call__`, `__torch_function__`: of Python's or torch's words.
bool is_special_method(std::string_view name) {
  return name.size() > 4 && name.starts_with("__") && name.ends_with("__") &&
         std::ranges::none_of(name, is_foreign) && std::ranges::all_of(words_of(name), is_known);
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

std::string AnonymousTexts::whole(std::string_view text) {
  return text.empty() || was_replaced(text) ? std::string(text) : words_.replaced(text);
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
  // Lengths stand in encoded names, which would not fit any more.
  const bool is_encoded = text.starts_with("_Z");
  const auto readable =
      is_encoded ? demangle(std::string(text), kLongestReadable) : std::optional<std::string>();
  if (!readable) return words(text);
  std::string replaced = words(*readable);
  return replaced == *readable ? std::string(text) : replaced;
}

std::string AnonymousTexts::words(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t end = path_end(text, at); end > at) {
      out += path(text.substr(at, end - at));
      at = end;
      continue;
    }
    if (!is_byte_of_word(text[at])) {
      out += text[at++];
      continue;
    }
    if (const std::size_t end = address_end(text, at); end > at) {
      out += words_.replaced(text.substr(at, end - at));
      at = end;
      continue;
    }
    if (const std::string_view whole = whole_at(text, at); !whole.empty()) {
      out += whole;
      at += whole.size();
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
  const std::vector<std::string_view> words = words_of(segment);
  if (is_token(segment, words, std::ranges::all_of(words, is_known))) {
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
  const CodePlace place = code_place(text);
  if (place.file.empty()) return place_of_frame(text);
  const auto after = [&](std::string_view part) {
    return static_cast<std::size_t>(part.data() + part.size() - text.data());
  };
  const std::string_view between = text.substr(after(place.file), place.line.size() + 4);
  const bool is_public = is_public_file(place.file);
  return path(place.file) + std::string(between) +
         (is_public ? std::string(place.function) : function(place.function));
}

/// Of a frame in another form: `model.py:12`, `File "model.py", line 12, in forward`, a path.
std::string AnonymousTexts::place_of_frame(std::string_view text) {
  constexpr std::string_view kFile = "File \"";
  constexpr std::string_view kFunction = ", in ";
  const std::size_t file = text.find(kFile);
  if (file != std::string_view::npos) {
    const std::size_t start = file + kFile.size();
    const std::size_t end = std::min(text.find('"', start), text.size());
    const std::size_t in = text.find(kFunction, end);
    const std::size_t name = in == std::string_view::npos ? text.size() : in + kFunction.size();
    return words(text.substr(0, start)) + path(text.substr(start, end - start)) +
           words(text.substr(end, name - end)) + function(text.substr(name));
  }
  const bool is_address = !text.empty() && address_end(text, 0) > 0;
  if (const auto line = analyses::line_of_place(text); line && !is_address) {
    return path(line->file) + std::string(text.substr(line->file.size()));
  }
  const bool is_path =
      text.find('/') != std::string_view::npos && text.find(' ') == std::string_view::npos;
  return is_path ? path(text) : words(text);
}

/// Of Python or a known distribution: `<frozen runpy>`, `torch/nn/modules/module.py`.
bool AnonymousTexts::is_public_file(std::string_view file) const {
  constexpr std::string_view kFrozen = "<frozen ";
  if (file.starts_with(kFrozen) && file.ends_with('>')) {
    std::string module(file.substr(kFrozen.size(), file.size() - kFrozen.size() - 1));
    std::ranges::replace(module, '.', '/');
    return analyses::is_standard_library(module + ".py") ||
           analyses::is_standard_library(module.substr(0, module.find('/')) + "/");
  }
  if (!analyses::is_library_path(file)) return false;
  const std::string slashed = with_slashes(file);
  const std::size_t start = library_start(slashed);
  if (start == std::string::npos) return false;
  // The script that was started may be called like a file of Python's.
  const bool is_own = own_ != nullptr && !own_->is_library(file);
  return !is_own || analyses::is_distribution(std::string_view(slashed).substr(start));
}

std::string AnonymousTexts::path(std::string_view text) {
  if (text.starts_with('<')) return is_public_file(text) ? std::string(text) : words(text);
  if (!is_public_file(text)) return folders(text);
  const std::size_t start = library_start(with_slashes(text));
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
  return is_drive ? std::string(part) : whole(stem) + std::string(ending);
}

std::string AnonymousTexts::function(std::string_view name) {
  constexpr auto kPublic = std::to_array<std::string_view>({"forward", "backward", "step", "main"});
  if (name.starts_with('<')) return words(name);
  if (is_special_method(name) || std::ranges::find(kPublic, name) != kPublic.end())
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
    const auto goes_on = [&] { return is_byte_of_word(text[end]) || text[end] == '_'; };
    while (end < text.size() && goes_on() && (end == at || !starts_address(text, end))) ++end;
    if (end == at) {
      out += text[at++];
      continue;
    }
    out += identifier(text.substr(at, end - at));
    at = end;
  }
  return out;
}

/// A name as a whole, but for what `_` separates at its ends: the 3 of `_block_3`.
std::string AnonymousTexts::identifier(std::string_view name) {
  const std::size_t start = name.find_first_not_of("_0123456789");
  if (start == std::string_view::npos) return std::string(name);
  const std::size_t first = std::min(name.find_first_not_of('_'), start);
  std::size_t end = name.find_last_not_of("_0123456789") + 1;
  while (end < name.size() && name[end] != '_') ++end;
  const std::string_view stem = name.substr(first, end - first);
  if (is_public_class(stem) || was_replaced(stem)) return std::string(name);
  return std::string(name.substr(0, first)) + words_.replaced(stem) + std::string(name.substr(end));
}

}  // namespace tbtrace::chrome
