#include "failures.h"

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

void translate(const std::exception_ptr& thrown, void* trace_error) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Failure& failure) {
    if (PyErr_Occurred() != nullptr) return;  // what ended the work, such as a KeyboardInterrupt
    PyErr_SetString(exception_for(failure.status().code(), static_cast<PyObject*>(trace_error)),
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
  module.attr("TraceError") = trace_error;
  nb::register_exception_translator(translate, trace_error.ptr());  // the module keeps it alive
}

}  // namespace tbtrace::python
