#include "inputs.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <set>
#include <system_error>

#include <tbtrace/report.h>

namespace tbtrace::tools {

bool is_partial(const std::string& path) {
  if (path == "-") return false;
  const Result<bool> is = is_partial_file(path);
  return is.ok() && *is;
}

void warn_of_issues(const std::string& subject, const std::vector<Issue>& issues,
                    Console& console) {
  for (const Issue& issue : issues) {
    std::string text(issue.sentence);
    text += " [" + std::string(issue.id) + ", " + std::to_string(issue.count) + " x";
    if (!issue.offsets.empty()) {
      text += ", first at byte " + std::to_string(issue.offsets.front());
    }
    text += "]";
    console.warning(subject, text);
  }
}

std::string subject_of(const std::string& path) { return path == "-" ? "standard input" : path; }

Subjects subjects_of(std::string_view verb, const StandardOptions& standard) {
  Subjects subjects = {
      .verb = std::string(verb), .input = std::string(verb), .output = output_of(standard)};
  if (!standard.inputs.empty()) subjects.input = subject_of(standard.inputs.front());
  if (standard.inputs.size() > 1) {
    subjects.input += " and " + std::to_string(standard.inputs.size() - 1) + " more";
  }
  return subjects;
}

Subjects subjects_of_input(const std::string& path, const StandardOptions& standard) {
  return {subject_of(path), subject_of(path), output_of(standard)};
}

bool is_same_output(const std::string& one, const std::string& other) {
  std::error_code error;
  const auto place = [&](const std::string& path) {
    return path == "-" ? std::filesystem::path(path)
                       : std::filesystem::weakly_canonical(std::filesystem::absolute(path), error);
  };
  return place(one) == place(other);
}

int finish(const Status& status, const Subjects& subjects, Console& console) {
  if (status.ok()) return kDone;
  std::string_view subject = subjects.verb;
  if (status.code() == StatusCode::out_of_memory) {
    subject = subjects.input;
  } else if (exit_code(status) == kUnwritableOutput) {
    subject = subjects.output == "-" ? "standard output" : std::string_view(subjects.output);
  }
  const bool exists = status.code() == StatusCode::output_exists;
  console.error(subject, status.message() + (exists ? "; --overwrite replaces it" : ""));
  return exit_code(status);
}

bool any_partial(const std::vector<std::string>& inputs) {
  return std::ranges::any_of(inputs, [](const std::string& input) {
    std::error_code error;
    if (std::filesystem::is_directory(input, error)) return false;
    if (std::filesystem::exists(input, error)) return is_partial(input);
    return std::ranges::any_of(find_traces({input}).paths, is_partial);
  });
}

InputLoop::InputLoop(std::string_view verb, const StandardOptions& standard, ReadOptions reading,
                     Console& console, InputRules rules)
    : verb_(verb),
      standard_(standard),
      reading_(std::move(reading)),
      console_(console),
      rules_(rules) {}

int InputLoop::run(const TakeTrace& take_trace, const TakePartial& take_partial,
                   const std::function<int()>& finish_all) {
  if (!found_) {
    if (const int code = find(); code != kDone) return code;
  }
  std::optional<PartialsAhead> ahead;
  const bool has_choice = rules_.rank.rank() || rules_.rank.iteration();
  if (made_with_ && found_->paths.size() > 1 && reading_.threads != 1 && !has_choice) {
    ahead.emplace(found_->paths, reading_, *made_with_);
  }
  for (std::size_t input = 0; input < found_->paths.size(); ++input) {
    const std::string& path = found_->paths[input];
    const auto take_next = [&](MadePartial made) {
      return made.is_trace ? take_made(std::move(made), path, take_partial)
                           : take(path, take_trace, take_partial);
    };
    const int code = take_next(ahead ? ahead->next() : MadePartial());
    if (code != kDone) fail(code);
    if (code != kDone && rules_.needs_all) return code;
    if (!rules_.counted.empty()) console_.count(rules_.counted, input + 1, found_->paths.size());
  }
  if (taken_ == 0) return has_failed_ ? last_failure_ : say_none_chosen();
  const int code = finish_all ? finish_all() : kDone;
  return code == kDone && has_failed_ ? kSomeInputsFailed : code;
}

int InputLoop::find() {
  if (!rules_.writes_files_each) {
    const Status place = check_output(output_of(standard_), standard_.overwrite);
    if (!place.ok()) return finish(place, subjects_of(verb_, standard_), console_);
  }
  found_ = rules_.only_partials ? find_partials(standard_.inputs) : find_traces(standard_.inputs);
  for (const UnreadInput& input : found_->unread) {
    console_.error(subject_of(input.path), input.status.message());
    fail(exit_code(input.status));
  }
  for (const std::string& path : found_->passed_over) {
    console_.note(path, "is not a trace and was passed over");
  }
  if (!rules_.only_partials) find_their_jobs();
  return has_failed_ && rules_.needs_all ? last_failure_ : kDone;
}

/// Not all inputs were named one by one.
bool InputLoop::is_searched() const {
  return std::ranges::any_of(found_->paths, [this](const std::string& path) {
    return std::ranges::find(standard_.inputs, path) == standard_.inputs.end();
  });
}

/// Says what is wrong with a directory of ranks, and leaves out what was not asked for, unread.
void InputLoop::find_their_jobs() {
  const bool has_choice = rules_.rank.rank() || rules_.rank.iteration();
  if (found_->paths.size() < 2 && !has_choice) return;
  FoundTraces files;
  std::ranges::copy_if(found_->paths, std::back_inserter(files.paths),
                       [](const std::string& path) { return path != "-"; });
  files.named = standard_.inputs;
  const JobList list = find_jobs(files, {.look_into_archives = false, .threads = reading_.threads});
  const bool is_searched = this->is_searched();
  std::set<std::string> left_out;
  if (is_searched) {
    for (const std::string& remark : job_remarks(list)) {
      console_.warning(verb_, remark);
      remarks_.push_back(remark);
    }
    for (const std::string& path : list.merged) {
      console_.note(path, "is a merged timeline of ranks and was passed over");
      left_out.insert(path);
    }
  }
  if (rules_.ranks_only) {
    if (!is_searched) {
      JobList others;
      others.not_ranks = list.not_ranks;
      for (const std::string& remark : job_remarks(others)) console_.warning(verb_, remark);
    }
    left_out.insert(list.not_ranks.begin(), list.not_ranks.end());
  }
  for (const Job& job : list.jobs) {
    for (const RepeatedFile& repeated : job.repeated) {
      if (is_searched && repeated.is_same_file) left_out.insert(repeated.file.path);
    }
    for (const JobFile& file : job.files) {
      if (!rules_.rank.takes_iteration(file.iteration)) left_out.insert(file.path);
      if (!file.rank) continue;
      ranks_.emplace(file.path, *file.rank);
      if (!rules_.rank.takes(file.rank)) left_out.insert(file.path);
    }
  }
  std::erase_if(found_->paths, [&](const std::string& path) { return left_out.contains(path); });
}

int InputLoop::take(const std::string& path, const TakeTrace& take_trace,
                    const TakePartial& take_partial) {
  int code = kDone;
  if (rules_.only_partials || (take_partial && is_partial(path))) {
    Result<Partial> partial = within_memory([&] { return read_partial(path); });
    if (!partial.ok()) {
      console_.error(subject_of(path), partial.status().message());
      return exit_code(partial.status());
    }
    if (!is_chosen(*partial)) return kDone;
    code = take_partial(*std::move(partial), path);
  } else {
    Result<Trace> trace = read(path);
    if (!trace.ok()) return exit_code(trace.status());
    const auto known = ranks_.find(path);
    const bool is_taken =
        known == ranks_.end() ? rules_.rank.takes(*trace) : rules_.rank.takes(known->second);
    if (!is_taken) return kDone;
    code = take_trace(*std::move(trace), path);
  }
  taken_ += code == kDone ? 1 : 0;
  return code;
}

Result<Trace> InputLoop::read(const std::string& path) {
  const std::string subject = subject_of(path);
  reading_.on_progress = [&](std::uint64_t done, std::uint64_t total) {
    console_.progress(subject, done, total);
    return true;
  };
  const auto start = std::chrono::steady_clock::now();
  Result<Trace> trace = within_memory([&] { return read_trace(path, reading_); }, reading_.threads);
  const auto elapsed = std::chrono::steady_clock::now() - start;
  console_.progress(subject, 1, 1);
  if (!trace.ok()) {
    say_unread(path, trace.status());
    return trace;
  }
  if (Status merged = trace->check_not_merged(); !rules_.takes_merged && !merged.ok()) {
    console_.error(subject, merged.message());
    return merged;
  }
  if (rules_.issues_are_results) return trace;
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(elapsed).count();
  say_read(path, trace->issues(), trace->events().size(), milliseconds);
  return trace;
}

int InputLoop::say_unread(const std::string& path, const Status& status) {
  console_.error(subject_of(path), status.message());
  remarks_.push_back(subject_of(path) + ": " + status.message());
  return exit_code(status);
}

void InputLoop::say_read(const std::string& path, const std::vector<Issue>& issues,
                         std::size_t events, std::int64_t milliseconds) {
  warn_of_issues(subject_of(path), issues, console_);
  console_.note(subject_of(path), "read " + std::to_string(events) + " ranges in " +
                                      std::to_string(milliseconds) + " ms");
}

int InputLoop::take_made(MadePartial made, const std::string& path,
                         const TakePartial& take_partial) {
  if (!made.read.ok()) return say_unread(path, made.read);
  say_read(path, made.issues, made.events, made.milliseconds);
  if (!made.partial->ok()) {
    return finish(made.partial->status(), subjects_of_input(path, standard_), console_);
  }
  const int code = take_partial(*std::move(*made.partial), path);
  taken_ += code == kDone ? 1 : 0;
  return code;
}

/// A partial has several ranks together, so it is taken or not as a whole.
bool InputLoop::is_chosen(const Partial& partial) {
  const auto takes = [this](const PartialSource& source) { return rules_.rank.takes(source.rank); };
  const bool chosen = std::ranges::all_of(partial.sources(), takes);
  has_rank_among_others_ =
      has_rank_among_others_ || (!chosen && std::ranges::any_of(partial.sources(), takes));
  return chosen;
}

void InputLoop::fail(int code) {
  has_failed_ = true;
  last_failure_ = code;
}

int InputLoop::say_none_chosen() {
  if (!has_rank_among_others_) return rules_.rank.say_none(verb_, console_);
  console_.error(verb_,
                 "the partial has the rank together with others; use the traces, or a partial of "
                 "this rank alone");
  return kWrongUsage;
}

int run_sum(std::string_view verb, const StandardOptions& standard, Console& console,
            const PartialOptions& options, InputRules rules,
            const std::function<int(const Partial& sum)>& finish_sum) {
  ReadOptions reading = standard.reading;
  reading.arguments = partial_arguments(options.parts);
  if (rules.counted.empty()) rules.counted = "added";
  std::optional<Partial> sum;
  const auto add = [&](Result<Partial> partial, const std::string& path) {
    const Subjects subjects = subjects_of_input(path, standard);
    if (!partial.ok()) return finish(partial.status(), subjects, console);
    if (sum) return finish_work([&] { return sum->merge(*partial); }, subjects, console);
    sum = *std::move(partial);
    return kDone;
  };
  InputLoop loop(verb, standard, reading, console, rules);
  if (!rules.only_partials) loop.make_partials(options);
  return loop.run(
      [&](const Trace& trace, const std::string& path) {
        return add(within_memory([&] { return Partial::of(trace, path, options); }), path);
      },
      [&](Partial partial, const std::string& path) { return add(std::move(partial), path); },
      [&] { return finish_sum(*sum); });
}

}  // namespace tbtrace::tools
