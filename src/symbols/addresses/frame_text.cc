#include "symbols/addresses/frame_text.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/characters.h"

namespace tbtrace::symbols {

namespace {

constexpr std::string_view kOperator = "operator";

bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '_'; }

/// The position after `operator` and its sign if one begins at `at`; else `at`.
std::size_t after_operator(std::string_view name, std::size_t at) {
  if (!name.substr(at).starts_with(kOperator) || (at > 0 && is_word(name[at - 1]))) return at;
  std::size_t end = at + kOperator.size();
  if (end < name.size() && is_word(name[end])) return at;  // the word goes on
  const std::string_view sign = name.substr(end);
  if (sign.starts_with("()") || sign.starts_with("[]")) return end + 2;
  if (sign.starts_with("\"\" ")) {
    end += 3;
    while (end < name.size() && is_word(name[end])) ++end;
    return end;
  }
  while (end < name.size() &&
         std::string_view("<>=!+-*/%&|^~,").find(name[end]) != std::string_view::npos)
    ++end;
  return end;
}

/// The position after the bracket that closes the one at `at`.
std::size_t after_bracket(std::string_view name, std::size_t at) {
  std::size_t depth = 0;
  while (at < name.size()) {
    if (const std::size_t after = after_operator(name, at); after != at) {
      at = after;
      continue;
    }
    const char c = name[at++];
    if (c == '(' || c == '<' || c == '{' || c == '[') ++depth;
    if ((c == ')' || c == '>' || c == '}' || c == ']') && --depth == 0) return at;
  }
  return name.size();
}

/// The position after the qualifiers that may follow a function's parameters.
std::size_t after_qualifiers(std::string_view name, std::size_t at) {
  for (bool found = true; found;) {
    found = false;
    for (const std::string_view qualifier : {" const", " volatile", " &&", " &"}) {
      const std::string_view rest = name.substr(at);
      if (!rest.starts_with(qualifier)) continue;
      if (rest.size() > qualifier.size() && is_word(rest[qualifier.size()])) continue;
      at += qualifier.size();
      found = true;
    }
  }
  return at;
}

constexpr std::array<std::string_view, 17> kMachineryLibraries = {
    "libtorch", "libc10",    "libc.so",  "libc-",    "libpthread", "ld-linux",
    "libgomp",  "libstdc++", "libgcc_s", "libm.so",  "libmkl",     "libunwind",
    "libasan",  "liblsan",   "libtsan",  "libubsan", "libclang_rt"};
constexpr std::array<std::string_view, 8> kMachinery = {
    "at::", "c10::", "caffe2::", "torch::", "std::", "__gnu_cxx::", "tbtrace::", "__libc_start"};
constexpr std::array<std::string_view, 3> kShownOfTorch = {
    "torch::nn::", "torch::optim::", "torch::data::"};

constexpr std::array<std::string_view, 2> kMachineryOfTorch = {"torch::nn::ModuleHolder",
                                                               "torch::nn::AnyModule"};

template <std::size_t kCount>
bool starts_with_any(std::string_view text, const std::array<std::string_view, kCount>& starts) {
  return std::any_of(starts.begin(), starts.end(),
                     [&](std::string_view start) { return text.starts_with(start); });
}

/// Names without a namespace, such as inlined functions with internal linkage, are recognised by
/// their header.
bool is_machinery_header(std::string_view file) {
  constexpr std::array<std::string_view, 4> kFolders = {"/torch/csrc/", "/ATen/", "/c10/",
                                                        "/include/c++/"};
  return std::any_of(kFolders.begin(), kFolders.end(), [&](std::string_view folder) {
    return file.find(folder) != std::string_view::npos;
  });
}

/// A program may be called libtorch_something; only a library has `.so` in its name.
bool is_machinery_library(std::string_view object) {
  return object.find(".so") != std::string_view::npos &&
         starts_with_any(object, kMachineryLibraries);
}

std::string_view base_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

}  // namespace

std::string_view function_name(std::string_view function) {
  std::size_t start = 0;
  std::size_t at = 0;
  std::size_t arguments = std::string_view::npos;  // start of template arguments, if they come last
  while (at < function.size()) {
    if (const std::size_t after = after_operator(function, at); after != at) {
      // A conversion operator's type may hold spaces, up to its parameters.
      at = after < function.size() && function[after] == ' ' ? function.find('(', after) : after;
      at = std::min(at, function.size());
      if (function.substr(after).starts_with(" <")) arguments = after;
      continue;
    }
    const char c = function[at];
    if (c == ' ') {
      start = ++at;
    } else if (c == '(') {
      const std::size_t after = after_bracket(function, at);
      const std::size_t next = after_qualifiers(function, after);
      const std::string_view rest = function.substr(next);
      if (rest.starts_with("::")) {
        at = next;  // a name inside a function, or in `(anonymous namespace)`
      } else if (next == after && rest.size() > 1 && rest[0] == ' ' &&
                 (is_word(rest[1]) || rest[1] == '(')) {
        at = after;  // `decltype(auto)`, a return type
      } else if (rest.starts_with('(') && function.substr(at).starts_with("(*")) {
        return function_name(function.substr(at + 2, after - at - 3));  // it returns a function
      } else {
        break;
      }
    } else if (c == '<') {
      arguments = at;
      at = after_bracket(function, at);
      if (at < function.size() && function[at] != '(') arguments = std::string_view::npos;
    } else if (c == '{' || c == '[') {
      at = after_bracket(function, at);
    } else {
      ++at;
    }
  }
  const std::string_view name = function.substr(start, std::min(at, arguments) - start);
  return name.empty() ? function : name;
}

bool is_libtorch(const CodePlace& place) {
  const std::string_view object = base_name(place.object);
  return object.find(".so") != std::string_view::npos &&
         (object.starts_with("libtorch") || object.starts_with("libc10"));
}

std::optional<std::string> frame_text(const CodePlace& place) {
  if (place.function.empty() && place.object.empty()) return std::nullopt;
  const std::string_view name = function_name(place.function);
  const std::string_view object = base_name(place.object);
  const bool is_shown_of_torch =
      starts_with_any(name, kShownOfTorch) && !starts_with_any(name, kMachineryOfTorch);
  if (!is_shown_of_torch && (is_machinery_library(object) || is_machinery_header(place.file) ||
                             starts_with_any(name, kMachinery) || name == "_start")) {
    return std::nullopt;
  }
  std::string text = fmt::format(
      "{}({}): ", place.file.empty() ? object : std::string_view(place.file), place.line);
  if (name.empty()) {
    text += fmt::format("+{:#x}", place.offset);
  } else {
    text += name;
  }
  std::replace(text.begin(), text.end(), ';', ',');
  return text;
}

}  // namespace tbtrace::symbols
