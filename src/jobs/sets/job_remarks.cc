#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <tbtrace/jobs.h>

namespace tbtrace {
namespace {

constexpr std::size_t kMostNamed = 5;  // files in a sentence; the rest is counted

std::string range_text(const RankRange& range) {
  std::string text = std::to_string(range.first);
  if (range.last > range.first) text += "-" + std::to_string(range.last);
  return text;
}

std::string listed(const std::vector<RankRange>& ranges) {
  std::string text;
  for (std::size_t at = 0; at < ranges.size(); ++at) {
    if (at == kMostNamed * 2) return text + " and others";
    text += (at == 0 ? "" : ", ") + range_text(ranges[at]);
  }
  return text;
}

std::int64_t count_of(const std::vector<RankRange>& ranges) {
  std::int64_t count = 0;
  for (const RankRange& range : ranges) count += range.last - range.first + 1;
  return count;
}

std::string described(const Job& job) {
  const std::vector<std::int64_t> ranks = job.ranks();
  std::string text = job.name.empty() ? "." : job.name;
  text += " (rank" + std::string(ranks.size() == 1 ? " " : "s ") + rank_list(ranks);
  if (job.world_size) text += " of " + std::to_string(*job.world_size);
  return text + ")";
}

std::string several_jobs(const std::vector<const Job*>& jobs) {
  std::string text = "the inputs are of " + std::to_string(jobs.size()) + " jobs: ";
  for (std::size_t at = 0; at < jobs.size(); ++at) {
    if (at == kMostNamed) {
      text += " and " + std::to_string(jobs.size() - at) + " more";
      break;
    }
    text += (at == 0 ? "" : ", ") + described(*jobs[at]);
  }
  return text + "; name the files of one of them to look at it alone";
}

void add_other_processes(const JobList& list, std::vector<std::string>& remarks) {
  for (std::size_t at = 0; at < list.not_ranks.size(); ++at) {
    if (at == kMostNamed) {
      remarks.push_back(std::to_string(list.not_ranks.size() - at) +
                        " more files are of processes that are not ranks");
      return;
    }
    remarks.push_back(list.not_ranks[at] +
                      " has no device work, unlike the ranks beside it: it is of a process that is "
                      "not a rank, such as a front end or a driver, and does not count as one");
  }
}

void add_missing(const Job& job, const std::string& where, std::vector<std::string>& remarks) {
  if (job.missing_ranks.empty()) return;
  const bool is_one = count_of(job.missing_ranks) == 1;
  std::string text = std::string(is_one ? "rank " : "ranks ") + listed(job.missing_ranks) +
                     (is_one ? " has" : " have") + " no trace" + where;
  if (job.world_size) {
    text += " (the job has " + std::to_string(*job.world_size) + " ranks)";
  }
  remarks.push_back(text + "; results are of the ranks that are there");
}

void add_repeated(const Job& job, std::vector<std::string>& remarks) {
  for (std::size_t at = 0; at < job.repeated.size(); ++at) {
    if (at == kMostNamed) {
      remarks.push_back(std::to_string(job.repeated.size() - at) + " more files repeat others");
      break;
    }
    const RepeatedFile& repeated = job.repeated[at];
    if (repeated.is_same_file) {
      remarks.push_back(repeated.file.path + " is a copy of " + repeated.repeats +
                        "; it counts once");
      continue;
    }
    remarks.push_back("rank " + std::to_string(repeated.file.rank.value_or(0)) +
                      " is there twice with the same start: " + repeated.repeats + " and " +
                      repeated.file.path + "; keep the one that belongs to the job");
  }
}

void add_other_ranks(const Job& job, std::vector<std::string>& remarks) {
  std::size_t others = 0;
  for (const JobFile& file : job.files) {
    if (!file.rank_of_path) continue;
    if (++others > 1) continue;
    remarks.push_back(file.path + " has rank " + std::to_string(*file.rank) + " in it, not rank " +
                      std::to_string(*file.rank_of_path) +
                      " as its path says; the rank in the file counts");
  }
  if (others > 1) {
    remarks.back() += " (as in " + std::to_string(others - 1) + " more)";
  }
}

void add_versions(const Job& job, std::vector<std::string>& remarks) {
  for (const auto& [what, versions] : job.versions) {
    std::string text = "ranks were recorded with different versions of " + what + ": ";
    std::size_t named = 0;
    for (const auto& [version, ranks] : versions) {
      text += (named++ == 0 ? "" : ", ") + version + " (rank" + (ranks.size() == 1 ? " " : "s ") +
              rank_list(ranks) + ")";
      if (named == kMostNamed) break;
    }
    remarks.push_back(text + "; check that the job was meant to run so");
  }
}

}  // namespace

std::string rank_list(const std::vector<std::int64_t>& ranks) {
  std::vector<RankRange> ranges;
  for (const std::int64_t rank : ranks) {
    if (!ranges.empty() && ranges.back().last == rank - 1) {
      ranges.back().last = rank;
    } else {
      ranges.push_back({rank, rank});
    }
  }
  return listed(ranges);
}

std::vector<std::string> job_remarks(const JobList& list) {
  std::vector<std::string> remarks;
  add_other_processes(list, remarks);
  std::vector<const Job*> known;  // files of which no rank is known may be anything
  std::size_t unknown = 0;
  for (const Job& job : list.jobs) {
    if (job.ranks().empty()) {
      unknown += job.files.size();
    } else {
      known.push_back(&job);
      unknown += static_cast<std::size_t>(std::ranges::count_if(
          job.files, [](const JobFile& file) { return !file.rank.has_value(); }));
    }
  }
  if (known.size() > 1) remarks.push_back(several_jobs(known));
  if (!known.empty() && unknown > 0) {
    remarks.push_back(std::to_string(unknown) +
                      (unknown == 1 ? " file does not say" : " files do not say") +
                      " of which rank " + (unknown == 1 ? "it is" : "they are") +
                      ", neither in the content nor in the path");
  }
  for (const Job& job : list.jobs) {
    add_missing(job, known.size() < 2 ? "" : " in " + job.name, remarks);
    add_repeated(job, remarks);
    add_other_ranks(job, remarks);
    add_versions(job, remarks);
  }
  return remarks;
}

}  // namespace tbtrace
