#include "size_option.h"

#include "options.h"

namespace tbtrace::tools {

std::optional<std::size_t> size_in_bytes(std::string_view text) {
  struct Suffix {
    std::string_view name;
    std::int64_t bytes;
  };
  constexpr Suffix kSuffixes[] = {{"KB", 1000}, {"MB", 1'000'000}, {"GB", 1'000'000'000}};
  std::int64_t unit = 1;
  for (const Suffix& suffix : kSuffixes) {
    if (!text.ends_with(suffix.name)) continue;
    text.remove_suffix(suffix.name.size());
    unit = suffix.bytes;
    break;
  }
  const std::optional<std::int64_t> number = whole_number(text);
  if (!number || *number <= 0 || *number > (std::int64_t{1} << 40) / unit) return std::nullopt;
  return static_cast<std::size_t>(*number * unit);
}

std::string size_text(std::uint64_t bytes) {
  if (bytes < 10'000) return std::to_string(bytes) + " B";
  if (bytes < 10'000'000) return std::to_string(bytes / 1000) + " kB";
  return std::to_string(bytes / 1'000'000) + " MB";
}

}  // namespace tbtrace::tools
