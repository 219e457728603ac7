#include "failures.h"

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "arguments.h"

namespace nb = nanobind;

namespace tbtrace::python {
namespace {

constexpr const char* kTraceErrorDoc =
    "An input is not a trace, cannot be read, or has problems that `strict` does not allow. The "
    "text\n"
    "says what is wrong and what to do about it.";

PyObject* exception_for(StatusCode code, PyObject* trace_error) {
  switch (code) {
    case StatusCode::invalid_argument:
      return PyExc_ValueError;
    case StatusCode::output_exists:
      return PyExc_FileExistsError;
    case StatusCode::unwritable_output:
      return PyExc_OSError;
    case StatusCode::out_of_memory:
      return PyExc_MemoryError;
    case StatusCode::cancelled:
      return PyExc_KeyboardInterrupt;
    case StatusCode::ok:
    case StatusCode::unreadable_input:
    case StatusCode::check_failed:
      break;
  }
  return trace_error;
}

constexpr const char* kMissingDoc =
    "The file of an input is not there. Also a FileNotFoundError: `filename` is its path, `errno`\n"
    "errno.ENOENT. If several are missing, the text names them all, `filename` the first.";

/// Whether there is nothing at a local path.
bool is_missing(const std::string& path) {
  std::error_code why;
  return path != "-" && path.find("://") == std::string::npos &&
         !std::filesystem::exists(path, why) && !why;
}

/// The two exceptions of the module, which keeps them alive.
struct Exceptions {
  PyObject* trace_error;
  PyObject* missing_file;
};

void translate(const std::exception_ptr& thrown, void* payload) {
  const auto& exceptions = *static_cast<const Exceptions*>(payload);
  try {
    std::rethrow_exception(thrown);
  } catch (const Failure& failure) {
    if (PyErr_Occurred() != nullptr) return;  // what ended the work, such as a KeyboardInterrupt
    if (failure.missing_path().empty()) {
      PyErr_SetString(exception_for(failure.status().code(), exceptions.trace_error),
                      failure.what());
      return;
    }
    const nb::handle missing_file = exceptions.missing_file;
    PyErr_SetObject(
        missing_file.ptr(),
        missing_file(ENOENT, failure.what(), path_object(failure.missing_path())).ptr());
  }
}

}  // namespace

Failure::Failure(const std::string& subject, const Status& status, const std::string& path)
    : Failure(subject, status) {
  if (status.code() == StatusCode::unreadable_input && is_missing(path)) missing_path_ = path;
}

Failure Failure::missing_file(std::string path, const std::string& sentence) {
  Failure failure(Status(StatusCode::unreadable_input, sentence));
  failure.missing_path_ = std::move(path);
  return failure;
}

void check(const Status& status) {
  if (!status.ok()) throw Failure(status);
}

void check(const Status& status, const std::string& subject) {
  if (!status.ok()) throw Failure(subject, status);
}

void check_read(const Status& status, const std::string& path) {
  if (!status.ok()) throw Failure(path, status, path);
}

void check_there(const std::vector<std::string>& paths) {
  std::string missing;
  std::string first;
  std::size_t count = 0;
  for (const std::string& path : paths) {
    if (!is_missing(path)) continue;
    if (count++ == 0) first = path;
    missing += (missing.empty() ? "" : ", ") + path;
  }
  if (count == 0) return;
  const std::string none = count == 1 ? ": there is no such file" : ": there are no such files";
  throw Failure::missing_file(first, missing + none + "; check the path");
}

void wrong_argument(const std::string& sentence) {
  throw Failure(Status(StatusCode::invalid_argument, sentence));
}

bool may_go_on() {
  const nb::gil_scoped_acquire python;
  return PyErr_CheckSignals() == 0;
}

void bind_failures(nb::module_& module) {
  const nb::object trace_error = nb::steal(
      PyErr_NewExceptionWithDoc("tbtrace.TraceError", kTraceErrorDoc, PyExc_Exception, nullptr));
  const nb::object bases =
      nb::make_tuple(trace_error, nb::borrow<nb::object>(PyExc_FileNotFoundError));
  const nb::object missing_file = nb::steal(PyErr_NewExceptionWithDoc(
      "tbtrace.TraceFileNotFoundError", kMissingDoc, bases.ptr(), nullptr));
  // OSError's text would have the number before the sentence, and the path after it.
  missing_file.attr("__str__") = nb::cpp_function(
      [](nb::handle self) { return nb::str(self.attr("strerror")); }, nb::is_method());
  module.attr("TraceError") = trace_error;
  module.attr("TraceFileNotFoundError") = missing_file;
  static const Exceptions kExceptions = {trace_error.ptr(), missing_file.ptr()};
  nb::register_exception_translator(translate, const_cast<Exceptions*>(&kExceptions));
}

}  // namespace tbtrace::python
