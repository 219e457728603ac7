#include <algorithm>
#include <cstddef>
#include <exception>
#include <mutex>

#include <tbtrace/trace_set.h>

#include "base/natural_order.h"
#include "base/threads.h"
#include "inputs/search.h"
#include "inputs/staging_names.h"
#include "inputs/trace_names.h"

namespace tbtrace {
namespace {

/// Reads each input once. Threads take the next one until there are none.
class SetReader {
 public:
  SetReader(inputs::Inputs inputs, const TraceSetOptions& options)
      : inputs_(std::move(inputs)), options_(options), results_(inputs_.files.size()) {}

  void run(int threads) {
    const auto readers = std::min(static_cast<std::size_t>(threads), inputs_.files.size());
    if (readers == 0) return;
    threads_per_trace_ = std::max(1, threads / static_cast<int>(readers));
    run_on_threads(readers, [this] { read_inputs(); });
    if (failure_ != nullptr) std::rethrow_exception(failure_);
  }

  Result<TraceSet> result() && {
    if (is_stopped_) return Status(StatusCode::cancelled, "reading was cancelled");
    std::vector<TraceOfSet> traces;
    std::vector<UnreadInput> unread;
    for (std::size_t input = 0; input < results_.size(); ++input) {
      const std::string& path = inputs_.files[input].path;
      Result<Trace>& result = *results_[input];
      if (result.ok()) {
        const std::optional<std::int64_t> rank = result->identity().rank;
        traces.push_back({path, rank, *std::move(result)});
      } else {
        unread.push_back({path, result.status()});
      }
    }
    if (traces.empty()) return none(unread);
    return TraceSet(std::move(traces), std::move(unread), std::move(inputs_.passed_over));
  }

 private:
  static Status none(const std::vector<UnreadInput>& unread) {
    if (unread.empty()) return {StatusCode::invalid_argument, "no input was named"};
    return {unread.front().status.code(),
            unread.front().path + ": " + unread.front().status.message()};
  }

  void read_inputs() noexcept {
    try {
      while (const std::optional<std::size_t> input = next()) {
        Result<Trace> trace = read(inputs_.files[*input]);
        const std::lock_guard lock(mutex_);
        results_[*input].emplace(std::move(trace));
        ++done_;
        report_progress();
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      is_stopped_ = true;
      if (failure_ == nullptr) failure_ = std::current_exception();
    }
  }

  std::optional<std::size_t> next() {
    const std::lock_guard lock(mutex_);
    if (is_stopped_ || next_ == results_.size()) return std::nullopt;
    return next_++;
  }

  Result<Trace> read(const inputs::FoundInput& input) {
    if (!input.problem.ok()) return input.problem;
    ReadOptions options = {
        .threads = threads_per_trace_, .strict = options_.strict, .arguments = options_.arguments};
    options.on_progress = [this](std::uint64_t, std::uint64_t) {
      const std::lock_guard lock(mutex_);
      report_progress();
      return !is_stopped_;
    };
    Result<Trace> trace = read_trace(input.path, options);
    if (!trace.ok()) return trace;
    if (Status merged = trace->check_not_merged(); !merged.ok()) return merged;
    return trace;
  }

  /// With the mutex held.
  void report_progress() {
    if (is_stopped_ || !options_.on_progress) return;
    is_stopped_ = !options_.on_progress(done_, results_.size());
  }

  inputs::Inputs inputs_;
  const TraceSetOptions& options_;
  int threads_per_trace_ = 1;

  std::mutex mutex_;  // guards the following members
  std::vector<std::optional<Result<Trace>>> results_;
  std::size_t next_ = 0;
  std::size_t done_ = 0;
  bool is_stopped_ = false;  // cancelled, or by an exception
  std::exception_ptr failure_;
};

}  // namespace

bool comes_before_in_set(std::optional<std::int64_t> rank, std::string_view path,
                         std::optional<std::int64_t> other_rank, std::string_view other_path) {
  const std::int64_t one = rank.value_or(INT64_MAX);
  const std::int64_t two = other_rank.value_or(INT64_MAX);
  return one != two ? one < two : in_natural_order(path, other_path);
}

TraceSet::TraceSet(std::vector<TraceOfSet> traces, std::vector<UnreadInput> unread,
                   std::vector<std::string> passed_over)
    : traces_(std::move(traces)), unread_(std::move(unread)), passed_over_(std::move(passed_over)) {
  std::stable_sort(traces_.begin(), traces_.end(), [](const TraceOfSet& a, const TraceOfSet& b) {
    return comes_before_in_set(a.rank, a.path, b.rank, b.path);
  });
}

namespace {

FoundTraces find_files(const std::vector<std::string>& inputs, inputs::Wanted wanted) {
  inputs::Inputs found = inputs::find_inputs(inputs, "", wanted);
  FoundTraces traces;
  traces.passed_over = std::move(found.passed_over);
  for (inputs::FoundInput& input : found.files) {
    if (input.problem.ok()) {
      traces.paths.push_back(std::move(input.path));
    } else {
      traces.unread.push_back({std::move(input.path), std::move(input.problem)});
    }
  }
  return traces;
}

}  // namespace

FoundTraces find_traces(const std::vector<std::string>& inputs) {
  FoundTraces found = find_files(inputs, inputs::Wanted::traces);
  for (const std::string& path : found.paths) {
    if (std::ranges::find(inputs, path) != inputs.end()) found.named.push_back(path);
  }
  return found;
}

std::string_view name_says(std::string_view path) {
  while (true) {
    const std::size_t end = path.find('/');
    const std::string_view part = path.substr(0, end);
    if (end == std::string_view::npos) {
      if (part.starts_with('.')) return {};
      const inputs::NameSays says = inputs::what_name_says(part);
      if (says.trace) return "trace";
      return says.unfinished ? "unfinished" : says.archive ? "archive" : "";
    }
    if (part.ends_with(inputs::kStagingEnding)) return {};
    path.remove_prefix(end + 1);
  }
}

std::vector<std::string> run_paths(const std::string& path) {
  std::optional<std::vector<std::string>> matches = inputs::pattern_matches(path);
  // Without a match it is left to find_traces() to say so.
  if (!matches || matches->empty()) return {path};
  return *std::move(matches);
}

FoundTraces find_partials(const std::vector<std::string>& inputs) {
  return find_files(inputs, inputs::Wanted::partials);
}

Result<TraceSet> read_trace_set(const std::vector<std::string>& inputs,
                                const TraceSetOptions& options) {
  SetReader reader(inputs::find_inputs(inputs, ""), options);
  reader.run(thread_count(options.threads));
  return std::move(reader).result();
}

}  // namespace tbtrace
