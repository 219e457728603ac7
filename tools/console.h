// Everything the user sees besides results: warnings, errors, progress, all on standard error.
// One thread. A closed or redirected standard error is not a failure.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <tbtrace/status.h>

namespace tbtrace::tools {

// Exit codes, which scripts rely on.
inline constexpr int kDone = 0;
inline constexpr int kCheckFailed = 1;
inline constexpr int kWrongUsage = 2;
inline constexpr int kUnreadableInput = 3;
inline constexpr int kSomeInputsFailed = 4;
inline constexpr int kUnwritableOutput = 5;
inline constexpr int kInconclusive = 6;
inline constexpr int kNotComparable = 7;

int exit_code(const Status& status);

/// File names may hold any bytes; on a terminal they must not act as control sequences.
std::string printable(std::string_view text);

/// `1,234,567`.
std::string grouped(std::uint64_t number);

enum class When { automatic, on, off };

/// Whether what goes to the descriptor has colour: by default if it is a terminal and NO_COLOR is
/// not set.
bool uses_color(When when, int descriptor);

class Console {
 public:
  struct Options {
    When progress = When::automatic;
    When color = When::automatic;
    bool quiet = false;
    bool verbose = false;
  };

  explicit Console(const Options& options);

  /// `tbtrace: SUBJECT: what is wrong; what to do about it`, on one line.
  void error(std::string_view subject, std::string_view message);
  void warning(std::string_view subject, std::string_view message);
  /// What a user needs to know about a result that is as it should be.
  void message(std::string_view subject, std::string_view message);
  /// Only with -v.
  void note(std::string_view subject, std::string_view message);

  /// Reading progress of `subject`; at most ten times a second, and only on a terminal.
  void progress(std::string_view subject, std::uint64_t done, std::uint64_t total);

  /// Number of finished items; at most ten times a second, and only on a terminal.
  void count(std::string_view doing, std::size_t done, std::size_t all);

  bool verbose() const { return options_.verbose; }

 private:
  void line(std::string_view color, std::string_view subject, std::string_view message);
  void show(const std::string& text);
  void clear_progress();

  Options options_;
  bool show_progress_;
  bool use_color_;
  bool progress_shown_ = false;
  std::chrono::steady_clock::time_point next_progress_;
};

}  // namespace tbtrace::tools
