// Errors as values: Status, and Result<T> for a value or a Status.
// Both own what they hold; views into them live as long as they do.
// Immutable after construction, so const access is safe from any thread.
// The library never throws for bad input; it returns one of these. If there is not enough memory
// for a result, functions of all headers may throw std::bad_alloc or std::length_error and leave
// nothing half written.
#pragma once

#include <cassert>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <utility>

#include <tbtrace/export.h>

namespace TBTRACE_EXPORT tbtrace {

/// The kind of failure. The command line maps each to one exit code.
enum class StatusCode : std::uint8_t {
  ok,
  invalid_argument,   ///< the caller asked for something that does not exist (exit code 2)
  unreadable_input,   ///< an input could not be opened or is not a trace (exit code 3)
  unwritable_output,  ///< an output could not be written, or exists already (exit code 5)
  check_failed,       ///< a requested check failed, such as `strict` (exit code 1)
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
  const std::string& message() const { return message_; }

 private:
  StatusCode code_ = StatusCode::ok;
  std::string message_;
};

/// The failure for running out of memory. `threads`: how many were in use, 0 for all cores; the
/// message advises fewer threads only if there were several.
Status out_of_memory(int threads = 1);

/// A T, or the Status that explains why there is no T.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}         // NOLINT(google-explicit-constructor)
  Result(Status status) : status_(std::move(status)) {  // NOLINT(google-explicit-constructor)
    assert(!status_.ok() && "a Result without a value needs a failure");
  }

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }

  /// Requires ok().
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return *std::move(value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  Status status_;
  std::optional<T> value_;
};

/// Writes the text, or the failure's message: `std::cout << profiler.key_averages().table()`.
std::ostream& operator<<(std::ostream& stream, const Result<std::string>& text);

}  // namespace tbtrace
