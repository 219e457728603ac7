#include "sources.h"

#include <cstddef>
#include <exception>
#include <functional>
#include <istream>
#include <memory>
#include <streambuf>
#include <string_view>
#include <utility>

#include "arguments.h"
#include "failures.h"

namespace nb = nanobind;

namespace tbtrace::python {
namespace {

nb::object paths_module() { return nb::module_::import_("tbtrace._paths"); }

/// Bytes that are there already, as a stream.
class MemoryBuffer : public std::streambuf {
 public:
  explicit MemoryBuffer(std::string_view bytes) {
    char* const begin = const_cast<char*>(bytes.data());  // setg() takes no const; nobody writes
    setg(begin, begin, begin + bytes.size());
  }
};

/// The bytes of a Python file object, as a stream. Any thread may read it, one at a time.
class FileObjectBuffer : public std::streambuf {
 public:
  explicit FileObjectBuffer(nb::handle file) : read_(file.attr("read")) {}

  /// Throws what Python's read() has thrown.
  void check() {
    if (failure_) std::rethrow_exception(failure_);
  }

 protected:
  int_type underflow() override {
    constexpr std::size_t kPiece = std::size_t{1} << 20;
    const nb::gil_scoped_acquire python;
    if (failure_) return traits_type::eof();
    try {
      const nb::object piece = read_(kPiece);
      if (piece.is_none()) wrong_argument("the file object has no bytes yet; open it to block");
      const nb::object bytes = nb::steal(PyBytes_FromObject(piece.ptr()));
      if (!bytes.is_valid()) throw nb::python_error();
      const auto content = nb::borrow<nb::bytes>(bytes);
      piece_.assign(content.c_str(), content.size());
    } catch (...) {
      failure_ = std::current_exception();
      return traits_type::eof();
    }
    setg(piece_.data(), piece_.data(), piece_.data() + piece_.size());
    return piece_.empty() ? traits_type::eof() : traits_type::to_int_type(piece_.front());
  }

 private:
  const nb::object read_;
  std::string piece_;
  std::exception_ptr failure_;
};

PythonTrace finish(Trace read, std::string name) {
  check(read.check_not_merged(), name);
  return {std::make_shared<const Trace>(std::move(read)), std::move(name)};
}

/// How a value is made of a path and of a stream.
template <typename Value>
struct Reader {
  std::function<Result<Value>(const std::string& path)> of_path;
  std::function<Result<Value>(std::istream& stream)> of_stream;
};

template <typename Value>
Value value_of_file_object(nb::handle file, const Reader<Value>& reader, const std::string& name) {
  if (nb::hasattr(file, "encoding")) {
    wrong_argument("the file object gives text; open the file with mode 'rb'");
  }
  FileObjectBuffer buffer(file);
  std::optional<Result<Value>> read;
  {
    const nb::gil_scoped_release working;
    std::istream stream(&buffer);
    read.emplace(reader.of_stream(stream));
  }
  buffer.check();
  return value_of(*std::move(read), name);
}

template <typename Value>
Value value_of_remote(nb::handle url, const Reader<Value>& reader, const std::string& name) {
  const nb::object file = paths_module().attr("opened")(url);
  const nb::object entered = file.attr("__enter__")();
  const auto close = [&] {
    const nb::error_scope keeps_what_was_raised;
    file.attr("__exit__")(nb::none(), nb::none(), nb::none());
  };
  try {
    Value read = value_of_file_object(entered, reader, name);
    close();
    return read;
  } catch (...) {
    close();
    throw;
  }
}

/// Of a path, bytes or a file object. `name`: in messages.
template <typename Value>
Value value_of_source(nb::handle source, const Reader<Value>& reader, const std::string& name) {
  if (nb::hasattr(source, "read")) return value_of_file_object(source, reader, name);
  if (!nb::isinstance<nb::bytes>(source) && PyObject_CheckBuffer(source.ptr()) != 0) {
    const nb::object content = nb::steal(PyBytes_FromObject(source.ptr()));
    if (!content.is_valid()) throw nb::python_error();
    return value_of_source(content, reader, name);
  }
  if (nb::isinstance<nb::bytes>(source)) {
    const auto bytes = nb::borrow<nb::bytes>(source);
    MemoryBuffer buffer(std::string_view(bytes.c_str(), bytes.size()));
    const nb::gil_scoped_release working;
    std::istream stream(&buffer);
    return value_of(reader.of_stream(stream), name);
  }
  if (is_remote(source)) return value_of_remote(source, reader, name);
  const std::string path = input_path(source);
  const nb::gil_scoped_release working;
  Result<Value> read = reader.of_path(path);
  if (!read.ok()) throw Failure(name, read.status(), path);
  return *std::move(read);
}

}  // namespace

bool is_path(nb::handle source) {
  return nb::isinstance<nb::str>(source) || nb::hasattr(source, "__fspath__");
}

bool is_remote(nb::handle path) {
  return nb::isinstance<nb::str>(path) && nb::cast<bool>(paths_module().attr("is_remote")(path));
}

std::string input_path(nb::handle path) { return path_of(paths_module().attr("local")(path)); }

std::string output_path(nb::handle path, const char* what) {
  return path_of(paths_module().attr("output")(path, what));
}

FoundTraces found_anywhere(const std::vector<std::string>& paths) {
  const nb::gil_scoped_acquire python;
  nb::list named;
  for (const std::string& path : paths) named.append(path_object(path));
  const nb::object found = paths_module().attr("find")(named);
  FoundTraces traces;
  for (const nb::handle path : found[0]) traces.paths.push_back(path_of(path));
  for (const nb::handle unread : found[1]) {
    traces.unread.push_back(
        {path_of(unread[0]), {StatusCode::unreadable_input, nb::cast<std::string>(unread[1])}});
  }
  return traces;
}

std::vector<std::string> remote_matches(nb::handle url) {
  std::vector<std::string> paths;
  for (const nb::handle path : paths_module().attr("matches")(url)) paths.push_back(path_of(path));
  if (paths.empty()) paths.push_back(path_of(url));  // it is left to find() to say so
  return paths;
}

nb::object only_trace(nb::handle source) { return paths_module().attr("one")(source); }

bool is_job(nb::handle object) {
  return nb::hasattr(object, "files") && nb::hasattr(object, "partial");
}

std::vector<std::string> paths_of_job(nb::handle job) {
  std::vector<std::string> paths;
  for (const nb::handle file : job.attr("files")) {
    if (file.attr("problem").is_none()) paths.push_back(path_of(file.attr("path")));
  }
  return paths;
}

FileHere::FileHere(const std::string& path) : path_(path) {
  if (path.find("://") == std::string::npos) return;
  const nb::gil_scoped_acquire python;
  const nb::object url = path_object(path);
  if (!is_remote(url)) return;
  nb::object copy = paths_module().attr("fetched")(url);
  path_ = path_of(copy.attr("__enter__")());
  copy_ = std::move(copy);
}

FileHere::~FileHere() {
  if (!copy_.is_valid()) return;
  const nb::gil_scoped_acquire python;
  const nb::error_scope keeps_what_was_raised;
  try {
    copy_.attr("__exit__")(nb::none(), nb::none(), nb::none());
  } catch (nb::python_error& problem) {
    problem.discard_as_unraisable("removing the copy of a remote file");
  }
  copy_.reset();
}

bool is_profiler(nb::handle source) { return nb::hasattr(source, "export_chrome_trace"); }

std::string name_of_source(nb::handle source) {
  if (is_path(source)) return path_of(source);
  if (is_profiler(source)) return "<profile>";
  if (!nb::hasattr(source, "read")) return "<bytes>";
  for (const char* const attribute : {"full_name", "path", "name"}) {
    if (!nb::hasattr(source, attribute)) continue;
    const nb::object name = source.attr(attribute);
    if (nb::isinstance<nb::str>(name)) return path_of(name);
  }
  return "<file object>";
}

PythonTrace read_source(nb::handle source, const ReadOptions& options,
                        const std::optional<std::string>& name) {
  if (is_profiler(source)) {
    const nb::object exported = paths_module().attr("exported")(source);
    const nb::object path = exported.attr("__enter__")();
    PythonTrace trace = read_source(path, options, name.value_or("<profile>"));
    exported.attr("__exit__")(nb::none(), nb::none(), nb::none());
    return trace;
  }
  const Reader<Trace> reader = {
      .of_path = [&](const std::string& path) { return read_trace(path, options); },
      .of_stream = [&](std::istream& stream) { return read_trace(stream, options); }};
  const bool is_local = is_path(source) && !is_remote(source);
  const std::string called = name ? *name : is_local ? input_path(source) : name_of_source(source);
  return finish(value_of_source(source, reader, called), called);
}

MemorySnapshot read_snapshot_source(nb::handle source, const ReadOptions& options,
                                    const std::string& name) {
  const Reader<MemorySnapshot> reader = {
      .of_path = [&](const std::string& path) { return read_memory_snapshot(path, options); },
      .of_stream =
          [&](std::istream& stream) { return read_memory_snapshot(stream, name, options); }};
  if (nb::isinstance<nb::dict>(source) || nb::isinstance<nb::list>(source)) {
    constexpr int kProtocol = 4;
    const nb::object pickled = nb::module_::import_("pickle").attr("dumps")(source, kProtocol);
    return value_of_source(pickled, reader, name);
  }
  return value_of_source(source, reader, name);
}

}  // namespace tbtrace::python
