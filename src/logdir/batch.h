// Converts many inputs into one log directory: distributes them to threads, assigns names in order,
// and records the outcome of each input.
// A Batch refers to its arguments, which must outlive it. run() is called once.
// If an input fails, even for lack of memory, its entry says so and the others are converted. If a
// callback throws, the batch ends, and run() rethrows the exception once all threads have ended.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <tbtrace/convert.h>

#include "inputs/search.h"
#include "logdir/log_files.h"
#include "logdir/run_staging.h"

namespace tbtrace::logdir {

/// How many threads read one input: several if there are fewer inputs than threads.
int threads_per_input(int threads, std::size_t inputs);

class Batch {
 public:
  Batch(const std::vector<inputs::FoundInput>& found, const std::string& directory,
        RunStaging& staging, const LogFiles& files, const ConvertOptions& options);

  Conversion run(int threads);

 private:
  class NamingTurn;

  /// One file of an input, with its name.
  struct Output {
    LogOutput* output;
    LogPlace place;
    bool skip = false;  ///< it already exists
  };
  /// The next task of a thread: an input to convert, or a folder of a group to complete.
  struct Task {
    enum class Kind : std::uint8_t { none, input, folder } kind = Kind::none;
    std::size_t input = 0;
    std::string group = {};
    std::string folder = {};
  };
  /// inputs::Inputs whose folders become visible together.
  struct Group {
    std::size_t inputs_left = 0;    ///< not finished
    std::set<std::string> folders;  ///< outer ones before inner ones
    std::size_t folders_left = 0;   ///< not complete; set once all inputs are finished
    bool is_shown = false;
  };

  void work() noexcept;
  Task next_task();
  void convert_input(std::size_t input);
  Result<std::unique_ptr<LogInput>> open(std::size_t input) const;
  Status convert(std::size_t input, ConvertedInput& result);
  Status take_names(LogInput& log, std::size_t input, std::vector<Output>& outputs);
  Status take_name(Output& output, LogFile& file) const;
  Status write_all(std::vector<Output>& outputs, ConvertedInput& result);
  Status write(Output& output, LogFile& file);
  void discard(const std::vector<Output>& outputs, ConvertedInput& result);
  void done(std::size_t input);
  void complete(const std::string& folder);
  void complete_folder(const Task& task);
  void show_group(const std::string& name);
  void show_folder(const std::string& folder);
  void tell_finished_inputs();

  const std::vector<inputs::FoundInput>& found_;
  const std::string& directory_;
  RunStaging& staging_;
  const LogFiles& files_;
  const ConvertOptions& options_;
  int reading_threads_ = 1;
  std::vector<ConvertedInput> results_;
  /// By input: its run, or the outermost run of the batch that contains it (`a` contains `a/b`).
  /// They are finished together, because a worker's folder in one run may be another run.
  std::vector<std::string> groups_;
  std::vector<Status> no_memory_;  // by input; created while there is memory for them

  std::mutex mutex_;  // guards the following members
  std::condition_variable turn_;
  std::condition_variable more_to_do_;
  std::size_t next_ = 0;
  std::size_t next_to_name_ = 0;
  std::size_t next_to_tell_ = 0;
  std::size_t done_ = 0;
  std::size_t under_way_ = 0;  // running tasks
  bool stopped_ = false;
  std::exception_ptr failure_;  // the first exception that ended a thread
  std::map<std::string, Group> group_;
  std::vector<Task> folders_to_complete_;
  std::vector<bool> is_done_;                     // by input
  std::vector<std::set<std::string>> waits_for_;  // by input: folders that are not visible yet
  std::vector<std::pair<std::string, Status>> failed_runs_;
};

}  // namespace tbtrace::logdir
