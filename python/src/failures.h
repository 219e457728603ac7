// Failures of the library as Python's exceptions: TraceError for an input that cannot be read,
// TraceFileNotFoundError for one that is not there,
// ValueError for a wrong argument, FileExistsError and OSError for an output, KeyboardInterrupt
// where the user stopped it, MemoryError.
#pragma once

#include <exception>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>

#include <tbtrace/status.h>

namespace tbtrace::python {

/// A Status on its way to Python.
class Failure : public std::exception {
 public:
  explicit Failure(Status status) : status_(std::move(status)) {}
  /// With what it is about before the sentence: `trace.json: ...`.
  Failure(const std::string& subject, const Status& status)
      : status_(status.code(), subject + ": " + status.message()) {}
  /// The same of reading a path: if there is no file, that is the reason.
  Failure(const std::string& subject, const Status& status, const std::string& path);
  /// Of a file that is not there; `sentence` has its path.
  static Failure missing_file(std::string path, const std::string& sentence);

  const Status& status() const { return status_; }
  /// The path of a file that is not there; empty: that is not the reason.
  const std::string& missing_path() const { return missing_path_; }
  const char* what() const noexcept override { return status_.message().c_str(); }

 private:
  Status status_;
  std::string missing_path_;
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

/// Of reading this path.
void check_read(const Status& status, const std::string& path);

template <typename T>
T read_value(Result<T> result, const std::string& path) {
  check_read(result.status(), path);
  return *std::move(result);
}

/// A Failure that names all of these paths at which there is no file, if there are any.
void check_there(const std::vector<std::string>& paths);

[[noreturn]] void wrong_argument(const std::string& sentence);

/// Whether work may go on: false once Python has a signal to handle, such as that of Ctrl-C. From
/// any thread, without the GIL.
bool may_go_on();

/// Makes TraceError and TraceFileNotFoundError, and translates Failures.
void bind_failures(nanobind::module_& module);

}  // namespace tbtrace::python
