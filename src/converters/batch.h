// Many inputs into one log directory: threads, the order in which names are given, what becomes of
// each input.
// A Batch uses what it is given, which must outlive it. run() is called once.
// A failure of one input is told in its entry, also if it needs more memory than there is; the rest
// goes on. What a callback throws ends the run, and run() throws it when all threads have ended.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <tbtrace/convert.h>

#include "converters/input_search.h"
#include "converters/log_target.h"
#include "converters/run_staging.h"

namespace tbtrace::converters {

class Batch {
 public:
  Batch(const std::vector<FoundInput>& found, const std::string& directory, RunStaging& staging,
        LogTarget& target, const ConvertOptions& options);

  Conversion run(int threads);

 private:
  class NamingTurn;

  void work() noexcept;
  void convert_inputs();
  Result<std::unique_ptr<LogInput>> open(std::size_t input) const;
  Status convert(std::size_t input, ConvertedInput& result);
  Status take_name(LogInput& log, LogPlace& place, ConvertedInput& result);
  Status write(LogInput& log, const LogPlace& place, ConvertedInput& result);
  void done(std::size_t input);
  void finish(const std::string& run);

  const std::vector<FoundInput>& found_;
  const std::string& directory_;
  RunStaging& staging_;
  LogTarget& target_;
  const ConvertOptions& options_;
  int reading_threads_ = 1;
  std::vector<ConvertedInput> results_;
  std::vector<Status> no_memory_;  // by input; made while there is memory for them

  std::mutex mutex_;  // guards what follows
  std::condition_variable turn_;
  std::size_t next_ = 0;
  std::size_t next_to_name_ = 0;
  std::size_t done_ = 0;
  bool stopped_ = false;
  std::exception_ptr failure_;  // the first that ended a thread
  std::map<std::string, std::size_t> left_of_run_;
  std::map<std::string, std::set<std::string>> folders_of_run_;
  std::vector<std::string> folders_;  // by input
  std::vector<std::pair<std::string, Status>> failed_runs_;
};

}  // namespace tbtrace::converters
