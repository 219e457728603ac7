// The partials of several traces, made on several threads, a trace at a time on each.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <tbtrace/partial.h>
#include <tbtrace/status.h>
#include <tbtrace/trace.h>

namespace tbtrace::tools {

/// What became of an input.
struct MadePartial {
  bool is_trace = false;  ///< else it is a partial, and nothing was done
  Status read = {};       ///< why the trace cannot be read
  std::vector<Issue> issues = {};
  std::size_t events = 0;
  std::int64_t milliseconds = 0;  ///< that reading took
  std::optional<Result<Partial>> partial = {};
};

/// Of the calling thread. It makes a few ahead of what is taken, and fewer of large files at a
/// time.
class PartialsAhead {
 public:
  /// `reading.threads`: of all together, 0: one per core.
  PartialsAhead(std::vector<std::string> paths, const ReadOptions& reading,
                const PartialOptions& options);
  /// Ends what is going on.
  ~PartialsAhead();
  PartialsAhead(const PartialsAhead&) = delete;
  PartialsAhead& operator=(const PartialsAhead&) = delete;

  /// That of the next path, in their order. Waits for it.
  MadePartial next();

 private:
  void work();
  MadePartial make(const std::string& path);
  bool may_start() const;

  const std::vector<std::string> paths_;
  std::size_t workers_ = 1;
  std::vector<std::uint64_t> sizes_;
  ReadOptions reading_;
  const PartialOptions options_;

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::map<std::size_t, MadePartial> made_;
  std::size_t started_ = 0;
  std::size_t taken_ = 0;
  std::uint64_t bytes_being_read_ = 0;
  bool is_stopped_ = false;

  std::vector<std::jthread> threads_;  // last: they use all of the above
};

}  // namespace tbtrace::tools
