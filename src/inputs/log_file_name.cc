#include "inputs/log_file_name.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/characters.h"
#include "base/utf8.h"
#include "inputs/trace_names.h"

namespace tbtrace::inputs {
namespace {

constexpr std::string_view kEnding = ".pt.trace.json";
constexpr std::string_view kGzipEnding = ".gz";
constexpr std::string_view kReservedWorker = "All";  // used by the Distributed view
constexpr std::size_t kMaxNameSize = 150;            // leaves room for the rest of a file's name

bool strip(std::string_view& text, std::string_view ending) {
  if (!text.ends_with(ending)) return false;
  text.remove_suffix(ending.size());
  return true;
}

/// `character` is a UTF-8 character.
bool is_allowed(std::string_view character) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(character[at]); };
  if (character.size() == 1) {
    return byte(0) >= 0x20 && byte(0) != 0x7f && character != "/" && character != "\\";
  }
  return byte(0) != 0xc2 || byte(1) >= 0xa0;  // C1: U+0080 to U+009F
}

}  // namespace

// ^(.*?)(\.\d+)?\.pt\.trace\.json(?:\.gz)?$
std::optional<PluginName> parse_plugin_name(std::string_view base_name) {
  std::string_view worker = base_name;
  strip(worker, "\n");  // Python's $ also matches before a final newline
  strip(worker, kGzipEnding);
  if (!strip(worker, kEnding)) return std::nullopt;
  std::size_t digits = worker.size();
  while (digits > 0 && is_digit(worker[digits - 1])) --digits;
  std::string_view span = worker.substr(digits);
  if (digits > 0 && !span.empty() && worker[digits - 1] == '.') {
    worker = worker.substr(0, digits - 1);
  } else {
    span = {};
  }
  if (worker.empty() || worker.find('\n') != std::string_view::npos) return std::nullopt;
  return PluginName{std::string(worker), std::string(span)};
}

std::string trace_stem(std::string_view base_name) {
  std::string_view stem = without_packing(base_name);
  strip_ending(stem, ".json");
  if (!strip_ending(stem, ".pt.trace")) strip_ending(stem, ".trace");
  return std::string(stem.empty() ? "trace" : stem);
}

std::string safe_name(std::string_view text) {
  std::string name;
  while (!text.empty()) {
    const std::size_t size = utf8_character_size(text);
    std::string_view character = text.substr(0, std::max<std::size_t>(size, 1));
    text.remove_prefix(character.size());
    if (size == 0 || !is_allowed(character)) character = "_";
    if (name.size() + character.size() > kMaxNameSize) break;
    name += character;
  }
  for (std::size_t at = 0; at < name.size() && name[at] == '.'; ++at) name[at] = '_';
  return name.empty() ? "_" : name;
}

std::string worker_name(std::string_view wanted) {
  std::string name = safe_name(wanted);
  if (name == kReservedWorker) name += '_';
  return name;
}

std::string numbered_worker(std::string_view worker, int number) {
  // The plugin reads ^(.*)_(\d+) as node and process, whatever follows.
  std::size_t at = worker.size();
  for (std::size_t end = worker.size(); end > 1; --end) {
    if (worker[end - 2] == '_' && is_digit(worker[end - 1])) {
      at = end - 2;
      break;
    }
  }
  return fmt::format("{}-{}{}", worker.substr(0, at), number, worker.substr(at));
}

std::string log_file_name(std::string_view worker, std::int64_t start_ns, bool use_gzip) {
  return fmt::format("{}.{:019}{}{}", worker, std::max<std::int64_t>(start_ns, 0), kEnding,
                     use_gzip ? kGzipEnding : std::string_view());
}

}  // namespace tbtrace::inputs
