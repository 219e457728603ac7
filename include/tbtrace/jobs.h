// Which traces belong together: jobs, their ranks, iterations and recordings.
// What is found owns its texts. Immutable; any thread.
// Files are not read for it: only their start and, where that says too little, their end is looked
// at. Paths say the rest. What neither says stays unknown.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tbtrace/export.h>
#include <tbtrace/partial.h>
#include <tbtrace/status.h>
#include <tbtrace/trace.h>
#include <tbtrace/trace_set.h>

namespace TBTRACE_EXPORT tbtrace {

/// How the rank of a file is known.
enum class RankSource : std::uint8_t {
  unknown,
  content,  ///< `distributedInfo` in the file
  path,     ///< the name of the file or of a folder: `rank3`, `rank[3]`
};

/// A recording of a rank.
struct JobFile {
  std::string path;
  std::optional<std::int64_t> rank;
  RankSource rank_source = RankSource::unknown;
  /// From the path: `iteration_10`, `step10`. A job may have several.
  std::optional<std::int64_t> iteration;
  /// Number among the recordings of the rank (and iteration), by time, from 0.
  std::size_t window = 0;
  std::string host;     ///< empty: the file does not say
  std::string process;  ///< id of the process, empty: not known from the start of the file
  /// About when the recording started, in ns since 1970: the earliest event at the file's start.
  std::optional<std::int64_t> start_ns;
  /// `baseTimeNanoseconds`, if the start or the end of the file has it.
  std::optional<std::int64_t> base_time_ns;
  /// The rank in the file and that in its path, if they differ; `rank` is that of the file.
  std::optional<std::int64_t> rank_of_path;
};

/// From `first` to `last`.
struct RankRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

/// A file that repeats another one of the job, so one of the two should not count.
struct RepeatedFile {
  JobFile file;
  std::string repeats;        ///< the path of the other one
  bool is_same_file = false;  ///< byte for byte; else the rank and the start are the same
};

struct Job {
  /// What its paths have in common: the folder, if that is enough to tell it from other jobs.
  std::string name;
  std::optional<std::int64_t> world_size;  ///< from `distributedInfo`
  std::string backend;                     ///< from `distributedInfo`: `nccl`
  /// By iteration, rank, and recording; files without a rank come last.
  std::vector<JobFile> files;
  std::vector<RepeatedFile> repeated;
  /// Ranks without a file: up to the world size, or, if that is not known, between the ranks that
  /// are there. Files without a rank, if there are any, may be theirs.
  std::vector<RankRange> missing_ranks;
  /// Versions that differ between ranks: by name (`NCCL`), then by version, the ranks.
  std::map<std::string, std::map<std::string, std::vector<std::int64_t>>> versions;

  /// In ascending order, each once.
  std::vector<std::int64_t> ranks() const;
  std::vector<std::int64_t> iterations() const;
};

struct JobList {
  std::vector<Job> jobs;  ///< in natural order of their first files
  /// Inputs that cannot be read: empty, not a trace, missing. Damage further on shows when they are
  /// read.
  std::vector<UnreadInput> unread;
  /// What searched directories contain besides (TraceSet::passed_over()).
  std::vector<std::string> passed_over;
  std::vector<std::string> merged;  ///< merged traces, which belong to no job
  /// Traces of processes that are not ranks, such as the front end of an inference engine or the
  /// driver of an RL framework: nothing says that they are ranks, and they have no device work,
  /// while the ranks in their folder have. They belong to no job.
  std::vector<std::string> not_ranks;
};

struct JobOptions {
  /// Reads a compressed file to its end if its start does not have the time base, as the files of
  /// torch 2.4 to 2.7; the events are not parsed. Otherwise the base stays unknown.
  bool find_base_times = false;
  /// Looks at traces in archives, each of which inflates the archive up to it. Else only their
  /// paths count.
  bool look_into_archives = true;
  /// Finds JobList::not_ranks, for which files that do not say their rank are read until their
  /// first device work. Otherwise such a file is one of the job's, without a rank.
  bool find_other_processes = true;
  int threads = 0;  ///< that look at files; 0: one per core
};

/// Finds the traces that inputs name (find_traces()) and the jobs that they belong to.
JobList find_jobs(const std::vector<std::string>& inputs, const JobOptions& options = {});
/// The jobs of traces that were found already.
JobList find_jobs(const FoundTraces& traces, const JobOptions& options = {});

/// The jobs of the traces that partials contain, as far as partials say it; no file is looked at.
JobList find_jobs(std::span<const PartialSource> sources);

/// The files of all jobs that repeat another one, so that their figures count twice if both are
/// added up: Job::repeated, and files with the rank, the iteration and the start of one of another
/// job, such as those of a copied folder.
std::vector<RepeatedFile> repeated_files(const JobList& list);

/// The ranks of which no job has a file, up to the largest world size, or, if that is not known,
/// the largest rank. Fails if a file names a world size above a million, too many to list.
Result<std::vector<std::int64_t>> missing_ranks(const JobList& list);

/// Whether a file is a merged trace, by its start.
bool is_merged_trace(const std::string& path);

/// `0-7, 9`.
std::string rank_list(const std::vector<std::int64_t>& ranks);

/// What people should know of jobs before they trust a result: that there are several, missing,
/// repeated and unreadable ranks, ranks recorded with different versions. One sentence each.
std::vector<std::string> job_remarks(const JobList& list);

}  // namespace tbtrace
