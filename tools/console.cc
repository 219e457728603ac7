#include "console.h"

#include <cstdlib>
#include <iostream>

#include <unistd.h>

namespace tbtrace::tools {
namespace {

constexpr std::string_view kRed = "\x1b[31m";
constexpr std::string_view kYellow = "\x1b[33m";
constexpr std::string_view kPlain = "\x1b[0m";
constexpr std::string_view kClearLine = "\r\x1b[K";

bool decide(When when, bool automatic) {
  return when == When::automatic ? automatic : when == When::on;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    safe += byte < 0x20 || byte == 0x7f ? '?' : c;
  }
  return safe;
}

int exit_code(const Status& status) {
  switch (status.code()) {
    case StatusCode::ok:
      return kDone;
    case StatusCode::check_failed:
      return kCheckFailed;
    case StatusCode::invalid_argument:
      return kWrongUsage;
    case StatusCode::unreadable_input:
      return kUnreadableInput;
    case StatusCode::unwritable_output:
      return kUnwritableOutput;
  }
  return kWrongUsage;
}

Console::Console(const Options& options) : options_(options) {
  const bool terminal = ::isatty(STDERR_FILENO) != 0;
  const char* no_color = std::getenv("NO_COLOR");
  const bool color_allowed = no_color == nullptr || *no_color == '\0';
  show_progress_ = decide(options.progress, terminal && !options.quiet);
  use_color_ = decide(options.color, terminal && color_allowed);
}

void Console::error(std::string_view subject, std::string_view message) {
  line(kRed, subject, message);
}

void Console::warning(std::string_view subject, std::string_view message) {
  if (!options_.quiet) line(kYellow, subject, message);
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
  if (!show_progress_) return;
  const auto now = std::chrono::steady_clock::now();
  if (total != 0 && done >= total) {
    clear_progress();
    return;
  }
  if (now < next_progress_) return;
  next_progress_ = now + std::chrono::milliseconds(100);
  std::string text = "reading " + printable(subject) + ": " + std::to_string(done >> 20) + " MiB";
  if (total != 0)
    text += " of " + std::to_string(total >> 20) + ", " + std::to_string(done * 100 / total) + " %";
  std::cerr << kClearLine << text << std::flush;
  progress_shown_ = true;
}

void Console::clear_progress() {
  if (!progress_shown_) return;
  std::cerr << kClearLine << std::flush;
  progress_shown_ = false;
}

}  // namespace tbtrace::tools
