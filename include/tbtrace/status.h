// Errors as values: Status, and Result<T> for a value or a Status; and the name that was meant by a
// misspelled one.
// Both own what they hold; views into them live as long as they do. In all headers, what a result
// gives a reference or a view of, a temporary one gives by value or not at all, so that a loop over
// what a function returns does not read freed memory; `->` is as in std::optional.
// Immutable after construction, so const access is safe from any thread.
// Functions return one of these for bad input, wrong options and outputs that cannot be written.
// Only what is ported from Python (schedule(), Profiler, SummaryWriter) throws
// std::invalid_argument for wrong arguments, as in Python. If there is not enough memory for a
// result, functions of all headers may throw std::bad_alloc or std::length_error and leave nothing
// half written. Messages name no option of the command line: it adds its own.
#pragma once

#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <tbtrace/export.h>

namespace TBTRACE_EXPORT tbtrace {

/// The nearest of `names` if it is near enough that it may be meant, else empty. Hyphens,
/// underscores and case do not count, and a name that `word` is a part of is near: `sortby` is near
/// `sort-by`, `duration` near `duration_ns`.
std::string_view nearest_name(std::string_view word, std::span<const std::string_view> names);

/// ` (did you mean 'summary'?)` for an error message, or empty.
std::string suggestion(std::string_view word, std::span<const std::string_view> names);

/// The kind of failure. The command line maps each to one exit code.
enum class StatusCode : std::uint8_t {
  ok,
  invalid_argument,   ///< the caller asked for something that does not exist (exit code 2)
  unreadable_input,   ///< an input could not be opened or is not a trace (exit code 3)
  unwritable_output,  ///< an output could not be written (exit code 5)
  output_exists,      ///< an output exists already and was not to be replaced (exit code 5)
  check_failed,       ///< a requested check failed, such as `strict` (exit code 1)
  cancelled,          ///< a callback of the caller ended it (the command line never cancels)
  out_of_memory,      ///< an input needs more memory than there is (exit code 3)
};

/// Success, or a failure with one sentence: what is wrong, and what to do about it.
class [[nodiscard]] Status {
 public:
  /// Success.
  Status() = default;
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == StatusCode::ok; }
  StatusCode code() const { return code_; }
  /// One line without a newline; empty on success.
  const std::string& message() const& { return message_; }
  std::string message() && { return std::move(message_); }

 private:
  StatusCode code_ = StatusCode::ok;
  std::string message_;
};

/// The failure for running out of memory. `threads`: how many were in use, 0 for all cores; the
/// message advises fewer threads only if there were several.
Status out_of_memory(int threads = 1);

namespace internal {
/// Prints the message of a failure that nobody checked to stderr and ends the program.
[[noreturn]] void end_unchecked(const Status& failure) noexcept;
std::ostream& write(std::ostream& stream, const std::string& text);
std::ostream& write(std::ostream& stream, const Status& failure);
}  // namespace internal

/// A T, or the Status that explains why there is no T. Using the value of a failed Result ends the
/// program with the failure's message, in every build.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}  // NOLINT(google-explicit-constructor)
  /// A `status` that is not a failure ends the program.
  Result(Status status) : status_(std::move(status)) {  // NOLINT(google-explicit-constructor)
    if (status_.ok()) internal::end_unchecked(status_);
  }

  bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Status& status() const& { return status_; }
  Status status() && { return std::move(status_); }

  T& value() & {
    check();
    return *value_;
  }
  const T& value() const& {
    check();
    return *value_;
  }
  /// Of a temporary, by value: `for (const auto& row : *rows_of(trace))` is safe.
  T value() && {
    check();
    return *std::move(value_);
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  void check() const {
    if (!ok()) internal::end_unchecked(status_);
  }

  Status status_;
  std::optional<T> value_;
};

/// Writes the text: `std::cout << profiler.key_averages().table()`. Of a failure it writes the
/// message, in a line of its own: a wrong option of a table does not end a training. (A template,
/// so that a Status is not taken for a Result.)
template <typename Text>
requires std::same_as<Text, Result<std::string>> std::ostream& operator<<(std::ostream& stream,
                                                                          const Text& text) {
  return text.ok() ? internal::write(stream, *text) : internal::write(stream, text.status());
}

}  // namespace tbtrace
