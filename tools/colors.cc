#include "colors.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <system_error>

#include <unistd.h>

#include "console.h"

namespace tbtrace::tools {
namespace {

constexpr std::string_view kRed = "\x1b[31m";
constexpr std::string_view kGreen = "\x1b[32m";
constexpr std::string_view kYellow = "\x1b[33m";
constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kPlain = "\x1b[0m";

constexpr double kCostly = 10;  // percent: a finding is a warning from there on

struct Beginning {
  std::string_view text;
  std::string_view color;
};

constexpr std::array kBeginnings = std::to_array<Beginning>({
    {"error ", kRed},
    {"error: ", kRed},
    {"warning ", kYellow},
    {"warning: ", kYellow},
    {"verdict: slower", kRed},
    {"verdict: faster", kGreen},
    {"-> ", kGreen},
    {"remedy: ", kGreen},
});

std::string in(std::string_view color, std::string_view text) {
  return std::string(color) + std::string(text) + std::string(kPlain);
}

/// `92.6 % of the GPU's time  The GPU is idle [low_gpu_utilization]: ...`: the share by its size,
/// and the title bold. Empty for any other line.
std::string colored_finding(std::string_view line) {
  double percent = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), percent);
  const std::string_view rest = line.substr(static_cast<std::size_t>(end - line.data()));
  const std::size_t share_end = line.find("  ");
  if (error != std::errc() || !rest.starts_with(" % of ") || share_end == std::string_view::npos)
    return {};
  const std::size_t title_end = std::min(line.find(" [", share_end), line.size());
  return in(percent >= kCostly ? kYellow : kBold, line.substr(0, share_end)) + "  " +
         in(kBold, line.substr(share_end + 2, title_end - share_end - 2)) +
         std::string(line.substr(title_end));
}

std::string colored_line(std::string_view line) {
  const std::size_t start = line.find_first_not_of(' ');
  if (start == std::string_view::npos) return std::string(line);
  const std::string indent(line.substr(0, start));
  line.remove_prefix(start);
  for (const auto& [text, color] : kBeginnings) {
    if (line.starts_with(text))
      return indent + in(color, text) + std::string(line.substr(text.size()));
  }
  const std::string finding = colored_finding(line);
  return indent + (finding.empty() ? std::string(line) : finding);
}

}  // namespace

std::string with_colors(std::string text, const StandardOptions& options) {
  if (output_of(options) != "-" || !uses_color(options.console.color, STDOUT_FILENO)) return text;
  std::string colored;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    colored += colored_line(std::string_view(text).substr(at, end - at));
    if (end < text.size()) colored += '\n';
    at = end + 1;
  }
  return colored;
}

}  // namespace tbtrace::tools
