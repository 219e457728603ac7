// The one way in which verbs read inputs: finds them, reads one at a time, chooses ranks, reports
// problems, counts failures. Partials of several traces are made side by side (partials_ahead.h).
// One thread. Failures and issues are printed on the console; exit codes tell the caller how to
// continue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tbtrace/jobs.h>
#include <tbtrace/partial.h>
#include <tbtrace/trace.h>
#include <tbtrace/trace_set.h>

#include "console.h"
#include "options.h"
#include "out_of_memory.h"
#include "partials_ahead.h"
#include "rank_choice.h"

namespace tbtrace::tools {

/// An input's name in messages and headings.
std::string subject_of(const std::string& path);

/// Warns of problems of an input that did not prevent reading it.
void warn_of_issues(const std::string& subject, const std::vector<Issue>& issues, Console& console);

/// The names in messages about a result.
struct Subjects {
  std::string verb;
  std::string input;   ///< what it is computed from
  std::string output;  ///< `-`: standard output
};
Subjects subjects_of(std::string_view verb, const StandardOptions& standard);
/// Of the result of one of several inputs.
Subjects subjects_of_input(const std::string& path, const StandardOptions& standard);

/// Whether two outputs are one, though neither may be there yet.
bool is_same_output(const std::string& one, const std::string& other);

/// Prints why a result failed, if it did. Returns the exit code.
int finish(const Status& status, const Subjects& subjects, Console& console);

/// The same of `work`, which may run out of memory.
template <typename Work>
int finish_work(const Work& work, const Subjects& subjects, Console& console) {
  return finish(within_memory(work), subjects, console);
}

/// Whether a file is a partial. A file that cannot be read is not; who reads it says why.
bool is_partial(const std::string& path);

/// Whether inputs name a partial, as a file or by a pattern.
bool any_partial(const std::vector<std::string>& inputs);

struct InputRules {
  /// A result that lacks an input would be wrong: the first failure ends the verb.
  bool needs_all = false;
  bool only_partials = false;       ///< inputs name partials
  bool writes_files_each = false;   ///< the output is not one file
  bool issues_are_results = false;  ///< and so no warnings
  bool ranks_only = false;          ///< leaves out processes that are not ranks
  bool takes_merged = false;        ///< merged timelines too, if they are named
  std::string_view counted = {};    ///< progress: how many are `added`
  RankChoice rank = {};
};

class InputLoop {
 public:
  using TakeTrace = std::function<int(Trace trace, const std::string& path)>;
  using TakePartial = std::function<int(Partial partial, const std::string& path)>;

  InputLoop(std::string_view verb, const StandardOptions& standard, ReadOptions reading,
            Console& console, InputRules rules = {});

  /// Checks the output and finds the inputs, as run() does without. Returns the exit code if the
  /// verb should end here.
  int find();

  /// What is done with each trace and each partial; returns an exit code. Without `take_partial` a
  /// partial is an input that cannot be read.
  int run(const TakeTrace& take, const TakePartial& take_partial,
          const std::function<int()>& finish_all = {});

  /// Lets run() make partials of traces on several threads and give them to `take_partial`.
  void make_partials(const PartialOptions& options) { made_with_ = options; }

  /// How many inputs find() found.
  std::size_t size() const { return found_->paths.size(); }

  bool has_failed() const { return has_failed_; }

  /// What was said of the inputs as a job, and which of them could not be read. Sentences.
  const std::vector<std::string>& remarks() const { return remarks_; }

  /// After the input that is taken now no other is read.
  void stop() { rules_.needs_all = true; }

 private:
  int take(const std::string& path, const TakeTrace& take, const TakePartial& take_partial);
  int take_made(MadePartial made, const std::string& path, const TakePartial& take_partial);
  Result<Trace> read(const std::string& path);
  int say_unread(const std::string& path, const Status& status);
  void say_read(const std::string& path, const std::vector<Issue>& issues, std::size_t events,
                std::int64_t milliseconds);
  bool is_chosen(const Partial& partial);
  void find_their_jobs();
  bool is_searched() const;
  void fail(int code);
  int say_none_chosen();

  const std::string verb_;
  const StandardOptions& standard_;
  ReadOptions reading_;
  Console& console_;
  InputRules rules_;
  std::optional<PartialOptions> made_with_;
  std::optional<FoundTraces> found_;
  std::map<std::string, std::int64_t> ranks_;  // of inputs, as far as they are known unread
  std::vector<std::string> remarks_;
  std::size_t taken_ = 0;
  bool has_failed_ = false;
  bool has_rank_among_others_ = false;
  int last_failure_ = kDone;
};

/// Adds up all inputs, traces as partials with `options`, and calls `finish_sum`. Returns the exit
/// code.
int run_sum(std::string_view verb, const StandardOptions& standard, Console& console,
            const PartialOptions& options, InputRules rules,
            const std::function<int(const Partial& sum)>& finish_sum);

}  // namespace tbtrace::tools
