#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <system_error>
#include <tuple>
#include <utility>

#include <tbtrace/jobs.h>

#include "base/natural_order.h"
#include "base/threads.h"
#include "io/archives/input.h"
#include "jobs/sets/file_facts.h"
#include "jobs/sets/not_ranks.h"
#include "jobs/sets/path_facts.h"

namespace tbtrace {
namespace {

using jobs::FileFacts;
using jobs::PathFacts;

/// Recordings of one job may be on several days, but ranks of one recording are not.
constexpr std::int64_t kLongestJobNs = std::int64_t{24} * 3600 * 1'000'000'000;

/// A file with all that is known of it.
struct Found {
  JobFile file;
  FileFacts facts;
  PathFacts path;
};

/// Files that belong together as far as their folder, their world size and their processes show.
struct Group {
  std::optional<std::int64_t> world_size;
  std::string folder;
  std::string names;  ///< the part of the names that tells runs in one folder apart; may be empty
  std::vector<Found> files;
};

/// Tells the runs of a rank apart: ranks that were recorded by several processes had several runs.
/// The name counts where it says the rank, since files of two jobs may be beside each other.
std::string run_key(const Found& found) {
  const std::string name = found.path.rank ? found.path.name : std::string();
  return found.file.host + '\n' + found.file.process + '\n' + name;
}

bool has_same_bytes(const std::string& one, const std::string& two) {
  std::error_code error;
  const auto size = std::filesystem::file_size(one, error);
  if (error || size != std::filesystem::file_size(two, error) || error) return false;
  Result<std::unique_ptr<io::ByteSource>> a = io::open_file(one);
  Result<std::unique_ptr<io::ByteSource>> b = io::open_file(two);
  if (!a.ok() || !b.ok()) return false;
  constexpr std::size_t kPiece = std::size_t{256} << 10;
  const auto fill = [](io::ByteSource& source, std::string& text) {
    text.resize(kPiece);
    std::size_t filled = 0;
    while (filled < text.size()) {
      const Result<std::size_t> got = source.read(std::span(text).subspan(filled));
      if (!got.ok()) return false;
      if (*got == 0) break;
      filled += *got;
    }
    text.resize(filled);
    return true;
  };
  std::string left;
  std::string right;
  do {
    if (!fill(**a, left) || !fill(**b, right) || left != right) return false;
  } while (!left.empty());
  return true;
}

auto sort_key(const JobFile& file) {
  constexpr std::int64_t kLast = INT64_MAX;
  return std::tuple(file.iteration.value_or(-1), file.rank.value_or(kLast),
                    file.start_ns.value_or(kLast));
}

bool comes_before(const JobFile& one, const JobFile& two) {
  const auto a = sort_key(one);
  const auto b = sort_key(two);
  return a != b ? a < b : in_natural_order(one.path, two.path);
}

class JobFinder {
 public:
  /// `are_files`: the paths name files that can be compared.
  JobFinder(std::vector<Found> found, bool are_files)
      : found_(std::move(found)), are_files_(are_files) {}

  std::vector<Job> jobs() && {
    rank_by_groups();
    std::vector<RepeatedFile> copies;
    if (are_files_) copies = take_copies();
    std::vector<Group> groups = grouped();
    adopt_unknown(groups);
    std::vector<Group> runs;
    for (Group& group : groups) split_runs(std::move(group), runs);
    join_folders(runs);
    std::vector<Job> jobs;
    jobs.reserve(runs.size());
    for (Group& run : runs) jobs.push_back(job_of(std::move(run)));
    std::stable_sort(jobs.begin(), jobs.end(), [](const Job& a, const Job& b) {
      return in_natural_order(a.files.front().path, b.files.front().path);
    });
    give_copies(std::move(copies), jobs);
    name_jobs(jobs);
    return jobs;
  }

 private:
  using RankAndIteration = std::pair<std::int64_t, std::int64_t>;

  /// Where only tensor parallelism is used, its number is the rank.
  void rank_by_groups() {
    std::map<std::string, std::set<std::string>> others;  // by folder
    for (const Found& found : found_) {
      if (found.path.tensor_parallel) others[found.path.folder].insert(found.path.other_groups);
    }
    for (Found& found : found_) {
      if (found.file.rank || !found.path.tensor_parallel) continue;
      const std::set<std::string>& combinations = others[found.path.folder];
      const bool is_alone = combinations.size() == 1 &&
                            combinations.begin()->find_first_of("123456789") == std::string::npos;
      if (!is_alone) continue;
      found.file.rank = found.path.tensor_parallel;
      found.file.rank_source = RankSource::path;
      found.path.rank = found.path.tensor_parallel;
    }
  }

  /// Removes files that are the same as an earlier one, byte for byte.
  std::vector<RepeatedFile> take_copies() {
    std::vector<RepeatedFile> copies;
    std::vector<Found> kept;
    std::map<std::pair<std::optional<std::int64_t>, std::optional<std::int64_t>>,
             std::vector<std::size_t>>
        alike;  // by rank and start
    for (Found& found : found_) {
      std::vector<std::size_t>& earlier = alike[{found.file.rank, found.file.start_ns}];
      const auto same = std::ranges::find_if(earlier, [&](std::size_t number) {
        return has_same_bytes(kept[number].file.path, found.file.path);
      });
      if (same != earlier.end()) {
        copies.push_back({std::move(found.file), kept[*same].file.path, true});
        continue;
      }
      // Files of which nothing is known would all be compared with each other.
      if (found.file.rank || found.file.start_ns) earlier.push_back(kept.size());
      kept.push_back(std::move(found));
    }
    found_ = std::move(kept);
    return copies;
  }

  std::vector<Group> grouped() {
    std::vector<Group> groups;
    std::map<std::pair<std::int64_t, std::string>, std::size_t> numbers;
    for (Found& found : found_) {
      const std::optional<std::int64_t> world = found.facts.by.world_size;
      const auto [number, is_new] =
          numbers.try_emplace({world.value_or(-1), found.path.folder}, groups.size());
      if (is_new) groups.push_back({world, found.path.folder, {}, {}});
      groups[number->second].files.push_back(std::move(found));
    }
    return groups;
  }

  /// Files without a world size belong to the job in their folder, if there is one only.
  static void adopt_unknown(std::vector<Group>& groups) {
    std::map<std::string, std::vector<std::size_t>> known;  // by folder
    for (std::size_t number = 0; number < groups.size(); ++number) {
      if (groups[number].world_size) known[groups[number].folder].push_back(number);
    }
    for (Group& group : groups) {
      if (group.world_size || known[group.folder].size() != 1) continue;
      std::vector<Found>& into = groups[known[group.folder].front()].files;
      std::ranges::move(group.files, std::back_inserter(into));
      group.files.clear();
    }
    std::erase_if(groups, [](const Group& group) { return group.files.empty(); });
  }

  /// Ranks that different processes recorded had several runs, which are different jobs. The first
  /// process of each rank is of the first run.
  static void split_runs(Group group, std::vector<Group>& runs) {
    std::stable_sort(group.files.begin(), group.files.end(), [](const Found& a, const Found& b) {
      const std::int64_t one = a.file.start_ns.value_or(INT64_MAX);
      const std::int64_t two = b.file.start_ns.value_or(INT64_MAX);
      return one != two ? one < two : in_natural_order(a.file.path, b.file.path);
    });
    std::map<std::int64_t, std::vector<std::string>> keys;  // of a rank, in order of time
    // Whatever their names, files of a rank that start at the same nanosecond are one recording.
    std::map<std::pair<RankAndIteration, std::int64_t>, std::size_t> run_of_start;
    std::vector<Group> own;
    for (Found& found : group.files) {
      std::size_t run = 0;
      const RankAndIteration place = {found.file.rank.value_or(-1),
                                      found.file.iteration.value_or(-1)};
      const auto same = found.file.rank && found.file.start_ns
                            ? run_of_start.find({place, *found.file.start_ns})
                            : run_of_start.end();
      if (same != run_of_start.end()) {
        run = same->second;
      } else if (found.file.rank) {
        std::vector<std::string>& of_rank = keys[*found.file.rank];
        const std::string key = run_key(found);
        run = static_cast<std::size_t>(std::ranges::find(of_rank, key) - of_rank.begin());
        if (run == of_rank.size()) of_rank.push_back(key);
        if (found.file.start_ns) run_of_start[{place, *found.file.start_ns}] = run;
      }
      while (own.size() <= run) {
        own.push_back({group.world_size, group.folder, {}, {}});
      }
      own[run].files.push_back(std::move(found));
    }
    for (Group& run : own) {
      std::set<std::string> names;
      for (const Found& found : run.files) names.insert(found.path.rank ? found.path.name : "");
      if (own.size() > 1 && names.size() == 1) run.names = *names.begin();
      runs.push_back(std::move(run));
    }
  }

  static std::set<RankAndIteration> places_of(const Group& group) {
    std::set<RankAndIteration> places;
    for (const Found& found : group.files) {
      if (found.file.rank) {
        places.insert({*found.file.rank, found.file.iteration.value_or(-1)});
      }
    }
    return places;
  }

  static bool fits(const std::set<RankAndIteration>& places, std::optional<std::int64_t> world) {
    return !world || places.rbegin()->first < *world;
  }

  static std::optional<std::int64_t> first_start(const Group& group) {
    std::optional<std::int64_t> first;
    for (const Found& found : group.files) {
      const auto start = found.file.start_ns;
      if (start && (!first || *start < *first)) first = start;
    }
    return first;
  }

  /// Each host may have a folder of its own: nothing speaks against one job if no rank is in both.
  static bool may_be_one(const Group& one, const Group& two) {
    const bool has_both = one.world_size && two.world_size;
    if (has_both && one.world_size != two.world_size) return false;
    const std::set<RankAndIteration> a = places_of(one);
    const std::set<RankAndIteration> b = places_of(two);
    if (a.empty() || b.empty()) return false;
    if (std::ranges::any_of(a, [&](const RankAndIteration& place) { return b.contains(place); })) {
      return false;
    }
    if (!fits(a, two.world_size) || !fits(b, one.world_size)) return false;
    const auto start = first_start(one);
    const auto other = first_start(two);
    if (!start || !other) return true;
    const std::int64_t apart = std::max(*start, *other) - std::min(*start, *other);
    return apart < kLongestJobNs;
  }

  static void join_folders(std::vector<Group>& runs) {
    std::vector<Group> joined;
    for (Group& run : runs) {
      const auto same = std::ranges::find_if(joined, [&](const Group& other) {
        return other.folder != run.folder && may_be_one(other, run);
      });
      if (same == joined.end()) {
        joined.push_back(std::move(run));
        continue;
      }
      if (!same->world_size) same->world_size = run.world_size;
      std::ranges::move(run.files, std::back_inserter(same->files));
    }
    runs = std::move(joined);
  }

  static Job job_of(Group group) {
    Job job;
    job.name = group.names;
    job.world_size = group.world_size;
    std::stable_sort(group.files.begin(), group.files.end(),
                     [](const Found& a, const Found& b) { return comes_before(a.file, b.file); });
    for (Found& found : group.files) {
      if (job.backend.empty()) job.backend = found.facts.by.backend;
      const JobFile* const last = job.files.empty() ? nullptr : &job.files.back();
      const bool is_of_last = last != nullptr && found.file.rank && last->rank == found.file.rank &&
                              last->iteration == found.file.iteration;
      if (is_of_last && found.file.start_ns && found.file.start_ns == last->start_ns) {
        job.repeated.push_back({std::move(found.file), last->path, false});
        continue;
      }
      if (is_of_last) found.file.window = last->window + 1;
      if (found.file.rank) {
        for (const auto& [what, version] : found.facts.by.versions) {
          std::vector<std::int64_t>& ranks = job.versions[what][version];
          if (std::ranges::find(ranks, *found.file.rank) == ranks.end()) {
            ranks.push_back(*found.file.rank);
          }
        }
      }
      job.files.push_back(std::move(found.file));
    }
    std::erase_if(job.versions, [](const auto& what) { return what.second.size() < 2; });
    for (auto& [what, versions] : job.versions) {
      for (auto& [version, ranks] : versions) std::ranges::sort(ranks);
    }
    find_missing(job);
    return job;
  }

  static void find_missing(Job& job) {
    const std::vector<std::int64_t> there = job.ranks();
    if (there.empty()) return;
    std::int64_t next = 0;
    for (const std::int64_t rank : there) {
      if (rank > next) job.missing_ranks.push_back({next, rank - 1});
      next = rank + 1;
    }
    if (job.world_size && *job.world_size > next) {
      job.missing_ranks.push_back({next, *job.world_size - 1});
    }
  }

  static void give_copies(std::vector<RepeatedFile> copies, std::vector<Job>& jobs) {
    for (RepeatedFile& copy : copies) {
      for (Job& job : jobs) {
        const bool has_it = std::ranges::any_of(
            job.files, [&](const JobFile& file) { return file.path == copy.repeats; });
        if (!has_it) continue;
        job.repeated.push_back(std::move(copy));
        break;
      }
    }
  }

  /// By the folder that all files of a job are in; by more where jobs share one.
  static void name_jobs(std::vector<Job>& jobs) {
    std::map<std::string, int> used;
    for (Job& job : jobs) {
      const std::string names = std::exchange(job.name, common_folder(job));
      if (!names.empty()) job.name += job.name.empty() ? names : "/" + names;
      ++used[job.name];
    }
    for (Job& job : jobs) {
      if (used[job.name] > 1) job.name += " (from " + job.files.front().path + ")";
    }
  }

  static std::string common_folder(const Job& job) {
    std::filesystem::path common = std::filesystem::path(job.files.front().path).parent_path();
    for (const JobFile& file : job.files) {
      const std::filesystem::path folder = std::filesystem::path(file.path).parent_path();
      const auto [at, other] =
          std::mismatch(common.begin(), common.end(), folder.begin(), folder.end());
      std::filesystem::path shared;
      for (auto part = common.begin(); part != at; ++part) shared /= *part;
      common = shared;
    }
    return common.string();
  }

  std::vector<Found> found_;
  const bool are_files_;
};

/// What the facts and the path say together.
void describe(Found& found, const std::string& path) {
  JobFile& file = found.file;
  file.path = path;
  file.iteration = found.path.iteration;
  file.host = found.facts.host;
  file.process = found.facts.process;
  if (file.process.empty()) file.process = found.path.worker;
  file.start_ns = found.facts.start_ns;
  file.base_time_ns = found.facts.by.base_ns;
  file.rank = found.facts.by.rank ? found.facts.by.rank : found.path.rank;
  file.rank_source = found.facts.by.rank ? RankSource::content
                     : found.path.rank   ? RankSource::path
                                         : RankSource::unknown;
  if (found.facts.by.rank && found.path.rank && found.facts.by.rank != found.path.rank) {
    file.rank_of_path = found.path.rank;
  }
}

Found found_of(const std::string& path, const JobOptions& options) {
  Found found;
  found.path = jobs::facts_of_path(path);
  if (options.look_into_archives || !io::member_path(path)) {
    found.facts = jobs::look_at_trace(path, options.find_base_times);
  }
  describe(found, path);
  return found;
}

/// Moves the paths of processes that are not ranks from `found` to `not_ranks`. Who names a file
/// wants it.
void take_other_processes(std::vector<Found>& found, const std::vector<std::string>& named,
                          std::vector<std::string>& not_ranks, const JobOptions& options) {
  std::vector<jobs::PossibleRank> files;
  for (const Found& one : found) {
    const bool is_looked_at = options.look_into_archives || !io::member_path(one.file.path);
    const bool is_known = one.file.rank || one.path.tensor_parallel || one.facts.by.world_size ||
                          !is_looked_at || std::ranges::find(named, one.file.path) != named.end();
    files.push_back({one.file.path, one.path.folder, is_known});
  }
  const std::vector<bool> others = jobs::files_of_no_rank(files, options.threads);
  std::vector<Found> kept;
  for (std::size_t file = 0; file < found.size(); ++file) {
    if (others[file]) {
      not_ranks.push_back(found[file].file.path);
    } else {
      kept.push_back(std::move(found[file]));
    }
  }
  found = std::move(kept);
}

}  // namespace

std::vector<std::int64_t> Job::ranks() const {
  std::set<std::int64_t> ranks;
  for (const JobFile& file : files) {
    if (file.rank) ranks.insert(*file.rank);
  }
  return {ranks.begin(), ranks.end()};
}

std::vector<std::int64_t> Job::iterations() const {
  std::set<std::int64_t> iterations;
  for (const JobFile& file : files) {
    if (file.iteration) iterations.insert(*file.iteration);
  }
  return {iterations.begin(), iterations.end()};
}

JobList find_jobs(const std::vector<std::string>& inputs, const JobOptions& options) {
  return find_jobs(find_traces(inputs), options);
}

JobList find_jobs(const FoundTraces& traces, const JobOptions& options) {
  JobList list;
  list.unread = traces.unread;
  list.passed_over = traces.passed_over;
  std::vector<std::string> paths;
  for (const std::string& path : traces.paths) {
    if (path != "-") {
      paths.push_back(path);
      continue;
    }
    list.unread.push_back({path,
                           {StatusCode::invalid_argument,
                            "a job is made of files; standard input cannot be one of them"}});
  }
  std::vector<Found> looked(paths.size());
  run_numbered(static_cast<std::size_t>(thread_count(options.threads)), paths.size(),
               [&](std::size_t number) { looked[number] = found_of(paths[number], options); });
  std::vector<Found> found;
  for (Found& each : looked) {
    if (each.facts.is_merged) {
      list.merged.push_back(each.file.path);
    } else if (each.facts.problem.ok()) {
      found.push_back(std::move(each));
    } else {
      list.unread.push_back({each.file.path, each.facts.problem});
    }
  }
  if (options.find_other_processes) {
    take_other_processes(found, traces.named, list.not_ranks, options);
  }
  if (!found.empty()) list.jobs = JobFinder(std::move(found), true).jobs();
  return list;
}

JobList find_jobs(std::span<const PartialSource> sources) {
  std::vector<Found> found;
  for (const PartialSource& source : sources) {
    Found& one = found.emplace_back();
    one.path = jobs::facts_of_path(source.name);
    constexpr std::int64_t kMostRanks = std::int64_t{1} << 53;
    const bool is_rank = source.rank && *source.rank >= 0 && *source.rank < kMostRanks;
    if (is_rank) one.facts.by.rank = source.rank;
    one.facts.by.world_size = source.world_size;
    one.facts.by.backend = source.backend;
    one.facts.by.base_ns = source.base_time_ns;
    one.facts.by.versions = source.versions;
    one.facts.host = source.host;
    one.facts.process = source.process;
    one.facts.start_ns = source.start_ns;
    describe(one, source.name);
  }
  JobList list;
  if (!found.empty()) list.jobs = JobFinder(std::move(found), false).jobs();
  return list;
}

}  // namespace tbtrace
