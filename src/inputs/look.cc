#include "inputs/look.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

namespace tbtrace::inputs {
namespace {

constexpr std::size_t kLookedAt = std::size_t{64} << 10;

/// `text` begins with what may begin a number, a text, `true`, `false` or `null`.
bool is_scalar(std::string_view text) {
  // A text that only begins like `true` or `null`, such as a log, is not JSON.
  const bool is_word = text.front() >= 'a';
  return !is_word || text.starts_with("true") || text.starts_with("false") ||
         text.starts_with("null");
}

}  // namespace

Look look_at(std::unique_ptr<io::ByteSource> content) {
  const Result<std::string> start = io::peek(content, kLookedAt);
  if (!start.ok()) return Look::unreadable;
  std::string_view text = *start;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return Look::unreadable;
  constexpr std::string_view kScalarStarts = "\"-0123456789tfn";
  if (kScalarStarts.find(text[first]) != std::string_view::npos) {
    return is_scalar(text.substr(first)) ? Look::other_json : Look::unreadable;
  }
  if (text[first] != '{' && text[first] != '[') return Look::unreadable;
  // With thousands of ranks, Kineto writes a long `distributedInfo` before the events.
  constexpr std::array<std::string_view, 3> kSigns = {"\"traceEvents\"", "\"ph\"",
                                                      "\"distributedInfo\""};
  const bool is_trace = std::any_of(kSigns.begin(), kSigns.end(), [&](std::string_view sign) {
    return text.find(sign) != std::string_view::npos;
  });
  return is_trace ? Look::trace : Look::other_json;
}

Result<io::Unpacked> content_of(const std::string& path) {
  Result<std::unique_ptr<io::ByteSource>> file = io::open_file(path);
  if (!file.ok()) return file.status();
  return io::unpacked(*std::move(file));
}

Look look_at_file(const std::string& path) {
  Result<io::Unpacked> content = content_of(path);
  if (!content.ok()) return Look::unreadable;
  if (content->archive != io::PackedKind::none) return Look::archive;
  return look_at(std::move(content->source));
}

}  // namespace tbtrace::inputs
