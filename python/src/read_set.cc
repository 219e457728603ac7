#include "read_set.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <tbtrace/jobs.h>
#include <tbtrace/trace_set.h>

#include "arguments.h"
#include "failures.h"
#include "sources.h"
#include "workers.h"

namespace nb = nanobind;

namespace tbtrace::python {
namespace {

/// Something to read.
struct Item {
  std::string name;
  nb::object source;  ///< a path has the text
  bool is_here = false;
};

/// What is said of an input that cannot be read, without its name.
std::string without(const std::string& name, const std::string& message) {
  return message.starts_with(name + ": ") ? message.substr(name.size() + 2) : message;
}

bool is_trace(nb::handle source) { return nb::isinstance<PythonTrace>(source); }

bool is_one(nb::handle inputs) {
  return is_path(inputs) || is_trace(inputs) || nb::hasattr(inputs, "read") ||
         is_profiler(inputs) || PyObject_CheckBuffer(inputs.ptr()) != 0;
}

class SetReader {
 public:
  explicit SetReader(const SetReading& reading) : reading_(reading) {}

  void add(nb::handle inputs) {
    if (is_one(inputs)) {
      add_one(inputs, "");
    } else if (nb::isinstance<nb::dict>(inputs) || nb::hasattr(inputs, "items")) {
      for (const nb::handle item : inputs.attr("items")()) {
        add_one(item[1], nb::cast<std::string>(item[0]));
      }
    } else {
      for (const nb::handle source : inputs) {
        add_one(source, "");
        ++place_;
      }
    }
    FoundTraces found = found_anywhere(paths_);
    const std::map<std::string, std::string> left_out = not_of_the_job(found.paths);
    for (const std::string& path : found.paths) {
      const auto reason = left_out.find(path);
      if (reason == left_out.end()) {
        add_path(path, path);
      } else {
        found.unread.push_back({path, {StatusCode::invalid_argument, reason->second}});
      }
    }
    for (const UnreadInput& unread : found.unread) {
      const Failure failure(unread.path, unread.status, unread.path);
      if (!failure.missing_path().empty()) missing_.insert(unread.path);
    }
    unread_ = std::move(found.unread);
  }

  PythonTraceSet result() && {
    read_all();
    std::vector<SharedTrace> traces = std::move(ready_);
    for (std::size_t number = 0; number < items_.size(); ++number) {
      if (read_[number]) {
        traces.push_back(shared(*std::move(read_[number]), items_[number].name));
      } else {
        unread_.push_back({items_[number].name, problems_[number]});
      }
    }
    if (traces.empty()) throw none();
    SharedTraces all;
    all.traces = in_order(std::move(traces));
    all.unread = std::move(unread_);
    return {std::make_shared<const SharedTraces>(std::move(all)), reading_.workers};
  }

 private:
  void add_one(nb::handle source, const std::string& name) {
    if (is_trace(source)) {
      ready_.push_back(shared(nb::cast<PythonTrace>(source), name));
    } else if (is_path(source) && name.empty()) {
      paths_.push_back(path_of(is_remote(source) ? nb::borrow<nb::object>(source)
                                                 : path_object(input_path(source))));
    } else if (is_path(source)) {
      add_path(is_remote(source) ? path_of(source) : input_path(source), name);
    } else if (nb::hasattr(source, "read") || is_profiler(source) ||
               PyObject_CheckBuffer(source.ptr()) != 0) {
      if (nb::hasattr(source, "encoding")) {
        wrong_argument("a file object gives text; open the file with mode 'rb'");
      }
      std::string called = name.empty() ? name_of_source(source) : name;
      if (called.starts_with('<') && called.ends_with('>')) {  // those of a list need names
        called.insert(called.size() - 1, " " + std::to_string(place_));
      }
      items_.push_back({std::move(called), nb::borrow<nb::object>(source), false});
    } else {
      wrong_argument(
          "TraceSet.open() takes paths, Trace objects, bytes, file objects and profilers, not " +
          nb::cast<std::string>(nb::handle(source.type()).attr("__name__")));
    }
  }

  void add_path(const std::string& path, const std::string& name) {
    nb::object source = path_object(path);
    const bool is_here = !is_remote(source);
    items_.push_back({name, std::move(source), is_here});
  }

  /// As the command line: of what was found, and not named one by one, copies of a file and merged
  /// timelines do not count. By path, the reason.
  std::map<std::string, std::string> not_of_the_job(const std::vector<std::string>& found) const {
    std::map<std::string, std::string> reasons;
    const bool is_searched = std::ranges::any_of(found, [&](const std::string& path) {
      return std::ranges::find(paths_, path) == paths_.end();
    });
    if (found.size() < 2 || !is_searched) return reasons;
    FoundTraces here;
    std::ranges::copy_if(found, std::back_inserter(here.paths), [](const std::string& path) {
      return path.find("://") == std::string::npos;
    });
    const nb::gil_scoped_release working;
    const JobList list = find_jobs(here, {.look_into_archives = false});
    for (const std::string& path : list.merged) reasons[path] = "is a merged timeline of ranks";
    for (const std::string& path : list.not_ranks) {
      reasons[path] = "has no device work, unlike the ranks beside it, so it is not a rank";
    }
    for (const Job& job : list.jobs) {
      for (const RepeatedFile& repeated : job.repeated) {
        if (!repeated.is_same_file) continue;
        reasons[repeated.file.path] =
            "has the same content as " + repeated.repeats + ", which counts";
      }
    }
    return reasons;
  }

  static SharedTrace shared(PythonTrace trace, const std::string& name) {
    const std::optional<std::int64_t> rank = trace.trace->identity().rank;
    return {name.empty() ? trace.name : name, rank, std::move(trace.trace)};
  }

  /// That of TraceSet.
  static std::vector<SharedTrace> in_order(std::vector<SharedTrace> traces) {
    std::ranges::stable_sort(traces, [](const SharedTrace& one, const SharedTrace& other) {
      return comes_before_in_set(one.rank, one.path, other.rank, other.path);
    });
    return traces;
  }

  /// Why no trace could be read: names all that are missing.
  Failure none() const {
    if (unread_.empty()) return Failure({StatusCode::invalid_argument, "no input was named"});
    const UnreadInput& first = unread_.front();
    Failure failure(first.path, first.status);
    if (!missing_.contains(first.path)) return failure;
    std::vector<std::string> paths;
    for (const UnreadInput& unread : unread_) {
      if (missing_.contains(unread.path)) paths.push_back(unread.path);
    }
    if (paths.size() > 1) check_there(paths);
    return Failure::missing_file(first.path, failure.what());
  }

  void read_all() {
    read_.resize(items_.size());
    problems_.resize(items_.size());
    const nb::gil_scoped_release working;
    const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
    const std::size_t all =
        reading_.workers > 0 ? static_cast<std::size_t>(reading_.workers) : cores;
    const std::size_t readers = std::max<std::size_t>(1, std::min(all, items_.size()));
    ReadOptions options;
    options.threads = static_cast<int>(std::max<std::size_t>(1, all / readers));
    options.strict = reading_.strict;
    options.arguments = reading_.arguments;
    options.on_progress = [this](std::uint64_t, std::uint64_t) { return may_still_go_on(); };
    for_each_number(items_.size(), static_cast<int>(readers), [&](std::size_t number) {
      if (!may_still_go_on()) throw Failure(Status(StatusCode::cancelled, "interrupted"));
      read(number, options);
    });
  }

  /// Only Python's main thread hears of Ctrl-C, and the others see that it has.
  bool may_still_go_on() {
    if (!is_stopped_ && !may_go_on()) is_stopped_ = true;
    return !is_stopped_;
  }

  void read(std::size_t number, const ReadOptions& options) {
    const Item& item = items_[number];
    const nb::gil_scoped_acquire python;
    try {
      read_[number] = read_source(item.source, options, item.name);
    } catch (const Failure& failure) {
      const StatusCode code = failure.status().code();
      if (code == StatusCode::cancelled || code == StatusCode::out_of_memory) throw;
      if (!failure.missing_path().empty()) missing_.insert(item.name);
      problems_[number] = {code, without(item.name, failure.status().message())};
    } catch (nb::python_error& problem) {
      // What a file object has raised. Others, such as KeyboardInterrupt, end it.
      const bool is_of_source =
          problem.matches(PyExc_Exception) && !problem.matches(PyExc_MemoryError);
      if (item.is_here || !is_of_source || problem.matches(PyExc_ImportError)) throw;
      const auto text = nb::cast<std::string>(nb::str(problem.value()));
      problems_[number] = {StatusCode::unreadable_input, without(item.name, text)};
      if (problem.matches(PyExc_FileNotFoundError)) missing_.insert(item.name);
    }
  }

  const SetReading reading_;
  std::size_t place_ = 0;
  std::vector<std::string> paths_;
  std::vector<SharedTrace> ready_;
  std::vector<Item> items_;
  std::vector<UnreadInput> unread_;
  std::vector<std::optional<PythonTrace>> read_;  // by item, as what follows
  std::vector<Status> problems_;
  std::set<std::string> missing_;  // names of unread inputs without a file; with the GIL
  std::atomic<bool> is_stopped_ = false;
};

}  // namespace

PythonTraceSet read_set(nb::handle inputs, const SetReading& reading) {
  SetReader reader(reading);
  reader.add(inputs);
  return std::move(reader).result();
}

}  // namespace tbtrace::python
