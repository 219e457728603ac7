#include "failures.h"

#include <filesystem>
#include <system_error>

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

constexpr const char* kMissingDoc = "The file of an input is not there. Also a FileNotFoundError.";

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
    PyErr_SetString(failure.is_missing_file()
                        ? exceptions.missing_file
                        : exception_for(failure.status().code(), exceptions.trace_error),
                    failure.what());
  }
}

}  // namespace

void check(const Status& status) {
  if (!status.ok()) throw Failure(status);
}

void check(const Status& status, const std::string& subject) {
  if (!status.ok()) throw Failure(subject, status);
}

void check_there(const Status& read, const std::string& path) {
  std::error_code why;
  const bool may_be_missing = read.code() == StatusCode::unreadable_input && path != "-";
  if (!may_be_missing || std::filesystem::exists(path, why) || why) return;
  throw Failure::missing_file(path, read);
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
  module.attr("TraceError") = trace_error;
  module.attr("TraceFileNotFoundError") = missing_file;
  static const Exceptions kExceptions = {trace_error.ptr(), missing_file.ptr()};
  nb::register_exception_translator(translate, const_cast<Exceptions*>(&kExceptions));
}

}  // namespace tbtrace::python
