// Failures of the library as Python's exceptions: TraceError for an input that cannot be read,
// TraceFileNotFoundError for one that is not there,
// ValueError for a wrong argument, FileExistsError and OSError for an output, KeyboardInterrupt
// where the user stopped it, MemoryError.
#pragma once

#include <exception>
#include <string>
#include <utility>

#include <nanobind/nanobind.h>

#include <tbtrace/status.h>

namespace tbtrace::python {

/// A Status on its way to Python.
class Failure : public std::exception {
 public:
  explicit Failure(Status status) : status_(std::move(status)) {}
  /// Of a file that is not there.
  static Failure missing_file(const std::string& path, const Status& status) {
    Failure failure(path, status);
    failure.is_missing_file_ = true;
    return failure;
  }
  /// With what it is about before the sentence: `trace.json: ...`.
  Failure(const std::string& subject, const Status& status)
      : status_(status.code(), subject + ": " + status.message()) {}

  const Status& status() const { return status_; }
  /// Whether it is a file that is not there.
  bool is_missing_file() const { return is_missing_file_; }
  const char* what() const noexcept override { return status_.message().c_str(); }

 private:
  Status status_;
  bool is_missing_file_ = false;
};

/// The value, or a Failure.
template <typename T>
T value_of(Result<T> result) {
  if (!result.ok()) throw Failure(result.status());
  return *std::move(result);
}

template <typename T>
T value_of(Result<T> result, const std::string& subject) {
  if (!result.ok()) throw Failure(subject, result.status());
  return *std::move(result);
}

void check(const Status& status);
void check(const Status& status, const std::string& subject);

/// A Failure if reading the file of this path failed because it is not there.
void check_there(const Status& read, const std::string& path);

[[noreturn]] void wrong_argument(const std::string& sentence);

/// Whether work may go on: false once Python has a signal to handle, such as that of Ctrl-C. From
/// any thread, without the GIL.
bool may_go_on();

/// Makes TraceError and TraceFileNotFoundError, and translates Failures.
void bind_failures(nanobind::module_& module);

}  // namespace tbtrace::python
