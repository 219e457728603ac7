#include "console.h"

#include <cstdlib>
#include <iostream>

#include <unistd.h>

#include "terminal.h"

namespace tbtrace::tools {
namespace {

constexpr std::string_view kRed = "\x1b[31m";
constexpr std::string_view kYellow = "\x1b[33m";
constexpr std::string_view kPlain = "\x1b[0m";
constexpr std::string_view kClearLine = "\r\x1b[K";

bool decide(When when, bool automatic) {
  return when == When::automatic ? automatic : when == When::on;
}

/// What takes two lines could not be cleared again. The end says most of a path.
std::string end_of(const std::string& text, std::size_t columns) {
  constexpr std::string_view kCut = "...";
  if (columns <= kCut.size() || text.size() < columns) return text;
  std::size_t from = text.size() - (columns - kCut.size() - 1);
  const auto is_inside = [&] { return (static_cast<unsigned char>(text[from]) & 0xc0U) == 0x80U; };
  while (from < text.size() && is_inside()) ++from;
  return std::string(kCut) + text.substr(from);
}

}  // namespace

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string printable(std::string_view text) {
  std::string safe;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const auto next = static_cast<unsigned char>(at + 1 < text.size() ? text[at + 1] : 0);
    // U+0080 to U+009F, of two bytes, are control characters, too.
    const bool two_bytes = byte == 0xc2 && next >= 0x80 && next < 0xa0;
    safe += byte < 0x20 || byte == 0x7f || two_bytes ? '?' : text[at];
    at += two_bytes ? 1 : 0;
  }
  return safe;
}

int exit_code(const Status& status) {
  switch (status.code()) {
    case StatusCode::ok:
      return kDone;
    case StatusCode::check_failed:
    case StatusCode::cancelled:
      return kCheckFailed;
    case StatusCode::invalid_argument:
      return kWrongUsage;
    case StatusCode::unreadable_input:
    case StatusCode::out_of_memory:
      return kUnreadableInput;
    case StatusCode::unwritable_output:
    case StatusCode::output_exists:
      return kUnwritableOutput;
  }
  return kWrongUsage;
}

bool uses_color(When when, int descriptor) {
  const char* no_color = std::getenv("NO_COLOR");
  const bool is_allowed = no_color == nullptr || *no_color == '\0';
  return decide(when, is_allowed && ::isatty(descriptor) != 0);
}

Console::Console(const Options& options) : options_(options) {
  const bool terminal = ::isatty(STDERR_FILENO) != 0;
  show_progress_ = decide(options.progress, terminal && !options.quiet);
  use_color_ = uses_color(options.color, STDERR_FILENO);
}

void Console::error(std::string_view subject, std::string_view message) {
  line(kRed, subject, message);
}

void Console::warning(std::string_view subject, std::string_view message) {
  if (!options_.quiet) line(kYellow, subject, message);
}

void Console::message(std::string_view subject, std::string_view message) {
  if (!options_.quiet) line("", subject, message);
}

void Console::note(std::string_view subject, std::string_view message) {
  if (options_.verbose) line("", subject, message);
}

void Console::line(std::string_view color, std::string_view subject, std::string_view message) {
  clear_progress();
  const bool colored = use_color_ && !color.empty();
  std::string text = "tbtrace: ";
  if (!subject.empty()) text += printable(subject) + ": ";
  if (colored) text += color;
  text += printable(message);
  if (colored) text += kPlain;
  std::cerr << text << '\n';
}

void Console::progress(std::string_view subject, std::uint64_t done, std::uint64_t total) {
  if (total != 0 && done >= total) {
    clear_progress();
    return;
  }
  std::string text = "reading " + printable(subject) + ": " + std::to_string(done >> 20) + " MiB";
  if (total != 0)
    text += " of " + std::to_string(total >> 20) + ", " + std::to_string(done * 100 / total) + " %";
  show(text);
}

void Console::count(std::string_view doing, std::size_t done, std::size_t all) {
  if (done == all) {
    clear_progress();
    return;
  }
  show(std::string(doing) + ": " + std::to_string(done) + " of " + std::to_string(all) + ", " +
       std::to_string(done * 100 / all) + " %");
}

void Console::show(const std::string& text) {
  if (!show_progress_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_progress_) return;
  next_progress_ = now + std::chrono::milliseconds(100);
  std::cerr << kClearLine << end_of(text, columns_of(STDERR_FILENO)) << std::flush;
  progress_shown_ = true;
}

void Console::clear_progress() {
  if (!progress_shown_) return;
  std::cerr << kClearLine << std::flush;
  progress_shown_ = false;
}

}  // namespace tbtrace::tools
