// The collectives of a job: what each rank recorded of them, and which records belong together.
// One rank at a time: rank_record() keeps what ranks are compared by, after which the trace can be
// dropped; a record takes about 100 bytes per collective, 16 per gap of the computation in one, and
// 100 per step.
// Plain values that own their texts; pure functions that any number of threads may call. Times are
// whole nanoseconds of the rank's own clock, since 1970 if the file says from when they count; they
// are never corrected here (clocks.h compares the clocks of ranks).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/arguments.h>
#include <tbtrace/collective_kind.h>
#include <tbtrace/export.h>
#include <tbtrace/trace.h>

namespace TBTRACE_EXPORT tbtrace {

/// All ranks have the result only after all have contributed, so that all end at the same time.
/// Ranks of a broadcast, of a send and the like can end one after the other.
constexpr bool ends_together(CollectiveKind kind) {
  return kind <= CollectiveKind::all_to_all || kind == CollectiveKind::barrier;
}

/// What the bandwidth of an algorithm is multiplied by for that of the slowest link, with `ranks`
/// ranks: 2(n-1)/n for all_reduce; (n-1)/n for all_gather, reduce_scatter and all_to_all; 1 for the
/// others. Source: nccl-tests, doc/PERFORMANCE.md.
double bus_bandwidth_factor(CollectiveKind kind, std::size_t ranks);

/// The size of an element of a c10d type (`Float`, `BFloat16`); nullopt if it is not known.
std::optional<std::int64_t> element_bytes(std::string_view type);

/// A process group, as far as the file describes it.
struct ProcessGroup {
  std::string name;         ///< `Process Group Name`
  std::string description;  ///< `default_pg`
  std::string ranks_text;   ///< `Process Group Ranks`, which torch shortens for large groups
  std::vector<std::int64_t> ranks;  ///< empty: not in the file, or shortened
  std::optional<std::int64_t> size;

  bool operator==(const ProcessGroup&) const = default;
};

/// `default_pg 0 [0, 1, 2, 3]`, `mesh_tp 1 [0, 1]`: what is known of it; may be empty.
std::string group_text(const ProcessGroup& group);

/// A rank's part in one collective: a kernel, or on the host a range such as `gloo:all_reduce`.
struct RankCollective {
  CollectiveKind kind = CollectiveKind::other;
  bool on_device = false;
  std::uint32_t name = 0;   ///< in RankRecord::texts: `all_reduce`, `cross_device_reduce_1stage`
  std::uint32_t type = 0;   ///< in RankRecord::texts: `Float`; empty if not recorded
  std::uint32_t group = 0;  ///< in RankRecord::groups
  /// Which of the rank's streams with collectives, or threads of the host: by their first one.
  std::uint32_t stream = 0;
  std::optional<std::int64_t> sequence;  ///< `Seq`
  /// The larger one of input and output, as in nccl-tests.
  std::optional<std::int64_t> bytes;
  std::optional<std::int64_t> peer;  ///< of a send or receive: the other rank of the job
  std::optional<std::int64_t> step;  ///< the number of the step in which it was launched
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  /// In RankRecord::exposed, sorted: when the rank computed nothing during it.
  std::uint32_t first_exposed = 0;
  std::uint32_t exposed_ranges = 0;
  // Only in a sample (RankRecording), where the record does not tell: which one it is, from 0, of
  // those of its recording that are equal in all that ranks have in common, and how many those are.
  std::uint32_t number_of_equals = 0;
  std::uint32_t equals = 1;
};

struct ExposedRange {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;

  bool operator==(const ExposedRange&) const = default;
};

/// What an instant of a rank's step counts as: the first that applies.
enum class RankTime : std::uint8_t {
  compute,             ///< a kernel runs that does not communicate; on the host an operator
  communication,       ///< a collective runs: exposed, since nothing computes
  input,               ///< a copy to the device, or the host waits for the data loader
  garbage_collection,  ///< the device is idle while Python collects garbage
  memory,              ///< idle while the host allocates or frees device memory, or waits for it
  copy,                ///< another copy
  launch,              ///< idle, and what ends it was launched late
  unknown,             ///< idle for another reason, or nothing says why
};
inline constexpr std::size_t kRankTimes = 8;

/// `compute`, `communication`, ...
std::string_view rank_time_name(RankTime time);

/// A step in so many parts of the same length, drawn as a line.
inline constexpr std::uint16_t kActivityParts = 500;

/// Parts of a step that follow each other, of which most of the time counts as the same.
struct ActivityRun {
  std::uint16_t end = 0;  ///< the part after the last one; the run begins where the one before ends
  RankTime time = RankTime::unknown;

  bool operator==(const ActivityRun&) const = default;
};

/// A step of a rank: from the end of the last collective of the step before to that of its own, so
/// that it is equally long on ranks that wait for each other. The first one begins on the host.
struct RankStep {
  std::int64_t number = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::array<std::int64_t, kRankTimes> time_ns = {};  ///< by RankTime; they add up to its duration
  std::uint64_t kernels = 0;                          ///< that compute and began in it
  /// The three longest parts of `launch` together in which the host ran no operator and no call.
  std::int64_t silent_ns = 0;
  /// The median time from one launch of a kernel to the next one on its thread, and how many such
  /// times there were; of the kernels that began in the step.
  std::int64_t launch_interval_ns = 0;
  std::uint64_t launch_intervals = 0;
  /// A hash of its name, equal on all machines; 0 if the number is that of the job, and not counted
  /// from the beginning of the recording.
  std::uint64_t name = 0;
  std::vector<ActivityRun> activity;  ///< what it did when, for pictures; empty unless asked for

  std::int64_t duration_ns() const { return end_ns - start_ns; }
  std::int64_t ns(RankTime time) const { return time_ns[static_cast<std::size_t>(time)]; }
};

/// The kernels that compute, of one name and grid, in one step.
struct KernelSum {
  std::int64_t step = 0;
  std::uint64_t key = 0;  ///< a hash of name and grid, equal on all ranks and machines
  std::uint64_t count = 0;
  std::int64_t total_ns = 0;
};

/// A recording of a rank, and what its record lacks of it. A record in a partial is bounded: of
/// more collectives it has those whose hash is low, the hash of what they are matched by, so that
/// all ranks have the same ones; and of the kernels those that took longest.
struct RankRecording {
  std::uint32_t first = 0;  ///< in RankRecord::collectives
  /// Those with a lower hash are in the record; nullopt: all are.
  std::optional<std::uint64_t> hash_limit = {};
  std::uint64_t left_out = 0;            ///< collectives that are not in the record
  bool has_messages = false;             ///< a collective that is not in it sends or receives
  std::uint64_t left_out_kernels = 0;    ///< keys of kernels that are not in it
  std::int64_t left_out_kernels_ns = 0;  ///< of these
  /// Added to the numbers of its steps, so that they are those of the job; not in a partial.
  std::int64_t added_to_steps = 0;

  bool operator==(const RankRecording&) const = default;
};

/// What one rank contributes to the analysis of its job.
struct RankRecord {
  std::string path;                  ///< how the caller names the trace; may be empty
  std::optional<std::int64_t> rank;  ///< from `distributedInfo`
  std::optional<std::int64_t> world_size;
  std::string host;                    ///< empty: not in the file
  std::optional<std::int64_t> device;  ///< the number of the device that ran its first kernel
  std::int64_t start_ns = 0;           ///< of the recording's window
  std::int64_t end_ns = 0;
  std::vector<std::string> texts = {""};    ///< names and types, each once
  std::vector<ProcessGroup> groups = {{}};  ///< each once; the first is the unknown one
  std::vector<RankCollective> collectives;  ///< by start
  std::vector<ExposedRange> exposed;
  std::vector<RankStep> steps;                   ///< by number
  std::vector<KernelSum> kernels;                ///< by step and key
  std::vector<RankRecording> recordings = {{}};  ///< in their order; at least one
  /// The number of collectives that the host called, of libraries that run them as kernels, in a
  /// recording without these kernels.
  std::uint64_t calls_without_kernel = 0;
};

/// What to read a trace with for its record.
inline constexpr ArgumentSet kRankArguments =
    ArgumentSet{ArgumentGroup::collectives, ArgumentGroup::graphs} |
    ArgumentSet{Argument::input_dims, Argument::input_types, Argument::grid};

struct RankRecordOptions {
  bool with_activity = false;  ///< RankStep::activity, about 100 bytes more per step
};

/// Takes O(n log n) time. Steps are `ProfilerStep#N`, else what `steps --infer-steps` finds.
RankRecord rank_record(const Trace& trace, const std::string& path = {},
                       const RankRecordOptions& options = {});

/// How the records of a collective were found to belong together.
enum class MatchedBy : std::uint8_t {
  sequence,  ///< process group and `Seq`
  pair,      ///< the n-th send to a rank, and the n-th receive from this one there
  order,     ///< the n-th of its name, size and group, in its step if there are steps
};

/// `sequence`, `pair`, `order`.
std::string_view matched_by_name(MatchedBy by);

/// Why a record has no counterpart.
enum class UnmatchedReason : std::uint8_t {
  no_other_rank,     ///< no trace of another rank of its group was given
  missing_on_ranks,  ///< a recorded rank of the group does not have it
  counts_differ,     ///< without `Seq`, and the ranks have different numbers of it
  ranks_disagree,    ///< same group and `Seq`, but another operation or size
  unknown_peer,      ///< a send or receive that does not say with whom
  times_contradict,  ///< matched by order, but the ranks never ran it at the same time
  without_kernel,    ///< a call whose kernel was not recorded
};
inline constexpr std::size_t kUnmatchedReasons = 7;

/// `missing_on_ranks`, ...
std::string_view unmatched_reason_name(UnmatchedReason reason);
/// A sentence for people: what it means, and what to do.
std::string_view unmatched_reason_text(UnmatchedReason reason);

/// A rank of a job, with all its recordings.
struct JobRank {
  std::int64_t rank = 0;
  RankRecord record;  ///< of all recordings of the rank, in their order
};

struct CollectiveMember {
  std::uint32_t rank = 0;        ///< in JobCollectives::ranks
  std::uint32_t collective = 0;  ///< in the collectives of its record
};

struct MatchedCollective {
  MatchedBy by = MatchedBy::sequence;
  double stands_for = 1;                  ///< collectives, if records are samples
  std::vector<CollectiveMember> members;  ///< by rank; at least two
};

struct JobCollectives {
  std::vector<JobRank> ranks;                  ///< by rank
  std::vector<MatchedCollective> collectives;  ///< by the start on their first member's clock
  /// Records without a counterpart, by UnmatchedReason.
  std::array<std::uint64_t, kUnmatchedReasons> unmatched = {};
  /// Sentences for people: where ranks came from if the files do not say them, traces that were
  /// left out because they repeat a rank.
  std::vector<std::string> notes;
  /// Traces of a rank overlap in time, so that they may be of several jobs.
  bool repeats_ranks = false;
  std::uint64_t recorded = 0;  ///< collectives of all ranks
  std::uint64_t left_out = 0;  ///< the part of them that the records lack (RankRecording)

  const RankCollective& part(const CollectiveMember& member) const& {
    return ranks[member.rank].record.collectives[member.collective];
  }
  const RankCollective& part(const CollectiveMember&) const&& = delete;
  /// `all_reduce`, or `send` for a send and its receive.
  std::string_view name(const MatchedCollective& one) const&;
  std::string_view name(const MatchedCollective&) const&& = delete;
  std::uint64_t unmatched_total() const;
};

/// Matches the collectives of all ranks. A rank is what `distributedInfo` says, else the number
/// after `rank` in the file's name, else the place of the file among the others. Several records of
/// one rank follow each other; those that overlap in time are left out, with a note. Steps that are
/// counted from the beginning of each recording get the numbers of the job; those that cannot be
/// told to be the same on two ranks have different numbers, with a note. Takes O(n log n) time for
/// n collectives.
JobCollectives match_collectives(std::vector<RankRecord> records);

}  // namespace tbtrace
