#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

#include <tbtrace/jobs.h>
#include <tbtrace/merge.h>

#include "command.h"
#include "inputs.h"
#include "merge_clocks.h"
#include "options.h"
#include "rank_choice.h"
#include "table_options.h"

namespace tbtrace::tools {
namespace {

constexpr const char* kAbout =
    "One timeline of the ranks of a job, to look at in Perfetto or chrome://tracing. Each rank "
    "has\n"
    "processes of its own, named `rank 3: python (pid 1234)`, in the order of the ranks. Process\n"
    "ids, flow events, correlations and External ids of different ranks are kept apart; all other\n"
    "members of the events stay. Times are those of the ranks' clocks; --clocks aligned moves "
    "them\n"
    "to the clock of the first rank. Inputs are read in pieces, so files of any size can be "
    "merged.\n";

/// From `first` to `last`.
struct Ranks {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

/// `0,3,8-15`.
Result<std::vector<Ranks>> parsed_ranks(std::string_view text) {
  std::vector<Ranks> ranks;
  for (const std::string_view part : list_of(text)) {
    const std::size_t line = part.find('-', part.empty() ? 0 : 1);
    const auto first = whole_number(part.substr(0, line));
    const auto last = line == std::string_view::npos ? first : whole_number(part.substr(line + 1));
    if (!first || !last || *first < 0 || *last < *first) {
      return Status(StatusCode::invalid_argument,
                    "--ranks takes numbers and ranges of them, such as 0,3,8-15");
    }
    ranks.push_back({*first, *last});
  }
  return ranks;
}

class MergeRun {
 public:
  MergeRun(const StandardOptions& standard, MergeOptions options, std::vector<Ranks> ranks,
           RankChoice choice, bool are_clocks_aligned)
      : standard_(standard),
        options_(std::move(options)),
        ranks_(std::move(ranks)),
        choice_(choice),
        are_clocks_aligned_(are_clocks_aligned),
        console_(standard.console) {}

  int run() {
    const std::string output = output_of(standard_);
    const Status place = check_output(output, standard_.overwrite);
    if (!place.ok()) return finish(place, subjects(), console_);
    const JobList found = find_jobs(
        standard_.inputs, {.find_base_times = true,
                           .find_other_processes = false,  // a timeline shows them beside ranks
                           .threads = standard_.reading.threads});
    for (const UnreadInput& input : found.unread) {
      console_.error(subject_of(input.path), input.status.message());
      has_failed_ = true;
    }
    for (const std::string& path : found.passed_over) {
      console_.note(path, "is not a trace and was passed over");
    }
    if (found.jobs.empty()) return kUnreadableInput;
    for (const std::string& remark : job_remarks(found)) {
      console_.warning("merge", remark);
    }
    if (found.jobs.size() > 1) return kWrongUsage;
    const Job& job = found.jobs.front();
    if (const int code = choose(job); code != kDone) return code;
    return merge(output);
  }

 private:
  Subjects subjects() const { return subjects_of("merge", standard_); }

  int choose(const Job& job) {
    const std::vector<std::int64_t> iterations = job.iterations();
    if (iterations.size() > 1 && !choice_.iteration()) {
      console_.error("merge", "the job has recordings of iterations " + rank_list(iterations) +
                                  "; choose one with --iteration");
      return kWrongUsage;
    }
    std::size_t unknown = 0;
    for (const JobFile& file : job.files) {
      if (!choice_.takes_iteration(file.iteration)) continue;
      if (!takes_rank(file)) {
        unknown += file.rank ? 0 : 1;
        continue;
      }
      parts_.push_back({.file = file});
    }
    if (unknown > 0) {
      console_.warning("merge", std::to_string(unknown) +
                                    (unknown == 1 ? " file does not" : " files do not") +
                                    " say of which rank they are, so --ranks leaves them out");
    }
    // Which of two recordings of a rank is the right one cannot be known.
    has_failed_ = has_failed_ || std::ranges::any_of(job.repeated, [](const RepeatedFile& file) {
                    return !file.is_same_file;
                  });
    if (!parts_.empty()) return kDone;
    console_.error(
        "merge",
        "none of the inputs was chosen; the job has ranks " + rank_list(job.ranks()) +
            (iterations.empty() ? std::string() : " and iterations " + rank_list(iterations)));
    return kWrongUsage;
  }

  bool takes_rank(const JobFile& file) const {
    if (ranks_.empty()) return true;
    return file.rank && std::ranges::any_of(ranks_, [&](const Ranks& range) {
             return *file.rank >= range.first && *file.rank <= range.last;
           });
  }

  int merge(const std::string& output) {
    options_.on_progress = [this](std::uint64_t done, std::uint64_t total) {
      console_.progress("merge", done, total);
      return true;
    };
    std::optional<MergeReport> report;
    const int code = finish_work(
        [&] {
          if (are_clocks_aligned_) {
            Status aligned = align_parts(parts_, standard_, console_);
            if (!aligned.ok()) return aligned;
          }
          Result<MergeReport> merged = merge_traces(parts_, output, options_);
          if (!merged.ok()) return merged.status();
          report = *std::move(merged);
          return Status();
        },
        subjects(), console_);
    console_.progress("merge", 1, 1);
    if (code != kDone) return code;
    tell(*report, output);
    return has_failed_ ? kSomeInputsFailed : kDone;
  }

  void tell(const MergeReport& report, const std::string& output) {
    std::uint64_t events = 0;
    std::set<std::int64_t> ranks;
    std::size_t merged = 0;
    for (const MergedPart& part : report.parts) {
      const std::string subject = subject_of(part.path);
      if (!part.failure.ok()) {
        console_.error(subject, part.failure.message());
        has_failed_ = true;
        continue;
      }
      warn_of_issues(subject, part.issues, console_);
      if (part.events == 0) {
        console_.warning(subject, part.left_out == 0
                                      ? "has no events"
                                      : "has none of the events that were asked for");
      }
      if (!part.has_wall_clock) {
        console_.warning(
            subject,
            "has times that do not count from 1970, so nothing shows where they belong "
            "beside those of other ranks; they are not changed");
      }
      events += part.events;
      ++merged;
      if (part.rank) ranks.insert(*part.rank);
    }
    std::string text = "has " + grouped(events) + " events of " + std::to_string(merged) +
                       (merged == 1 ? " trace" : " traces");
    if (!ranks.empty()) {
      text += " (" + std::string(ranks.size() == 1 ? "rank " : "ranks ") +
              rank_list({ranks.begin(), ranks.end()}) + ")";
    }
    if (report.are_clocks_aligned) {
      text += "; clocks are those of the first rank, " + clock_error_text(parts_);
    } else if (merged > 1) {
      text +=
          "; clocks are as recorded, not aligned: events of different hosts are apart by the "
          "difference of their clocks as well";
    }
    console_.message(output == "-" ? "standard output" : output, text);
  }

  const StandardOptions& standard_;
  MergeOptions options_;
  const std::vector<Ranks> ranks_;
  const RankChoice choice_;
  const bool are_clocks_aligned_;
  Console console_;
  std::vector<MergePart> parts_;
  bool has_failed_ = false;
};

int run(const OptionParser& parser) {
  const StandardOptions& standard = parser.standard();
  const Result<RankChoice> choice = RankChoice::of(parser);
  if (!choice.ok()) return parser.wrong(choice.status().message());
  MergeOptions options = {.overwrite = standard.overwrite,
                          .strict = standard.reading.strict,
                          .threads = standard.reading.threads};
  const Result<std::vector<Ranks>> ranks = parsed_ranks(parser.text("ranks"));
  if (!ranks.ok()) return parser.wrong(ranks.status().message());
  const Result<std::optional<StepRange>> steps = chosen_steps(parser);
  if (!steps.ok()) return parser.wrong(steps.status().message());
  options.steps = *steps;
  if (parser.text("keep") == "gpu") options.keep = MergeKeep::gpu;
  if (parser.text("keep") == "cpu") options.keep = MergeKeep::cpu;
  if (output_of(standard) == "-" && ::isatty(STDOUT_FILENO) != 0) {
    return parser.wrong("a merged trace does not go to a terminal; name a file with -o");
  }
  return MergeRun(standard, std::move(options), *ranks, *choice, parser.text("clocks") == "aligned")
      .run();
}

}  // namespace

Command merge_command() {
  return {
      .name = "merge",
      .summary = "one timeline of the ranks of a job, for Perfetto and chrome://tracing",
      .usage = "[OPTIONS] INPUT... -o OUT.json.gz",
      .about = kAbout,
      .options =
          {{"Inputs",
            {{.name = "ranks", .value = "LIST", .help = "only these ranks, such as 0,3,8-15"},
             RankChoice::iteration_option()}},
           {"Events",
            {steps_range_option(),
             {.name = "keep",
              .value = "WHAT",
              .help = "gpu: only activities of devices; cpu: only the others, without the "
                      "flow events that lead to devices",
              .otherwise = "all",
              .choices = {"all", "gpu", "cpu"}},
             {.name = "clocks",
              .value = "WHICH",
              .help = "recorded: times as the hosts' clocks gave them; aligned: on the clock of "
                      "the first rank, by the ends of collectives, for ranks of several hosts; "
                      "files are then read twice, and the first time takes the memory of one rank",
              .otherwise = "recorded",
              .choices = {"recorded", "aligned"}}}}},
      .examples = {{"tbtrace merge traces/ -o job.json.gz", "all ranks of a job"},
                   {"tbtrace merge traces/ --ranks 0-3 --steps 5-6 -o part.json.gz",
                    "two steps of four ranks"},
                   {"tbtrace merge traces/ --keep gpu -o gpus.json.gz",
                    "the GPUs of all ranks below each other"},
                   {"tbtrace merge traces/ --clocks aligned -o job.json.gz",
                    "ranks of several hosts on one clock"},
                   {"tbtrace merge profile_trace/ --iteration 100 -o job.json.gz",
                    "one of several recordings of a job"}},
      .run = run,
  };
}

}  // namespace tbtrace::tools
