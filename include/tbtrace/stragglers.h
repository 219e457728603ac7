// The ranks that their job waits for.
// Plain values and pure functions. jobs.h finds them; a summary shows them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/export.h>

namespace TBTRACE_EXPORT tbtrace {

enum class StragglerCause : std::uint8_t {
  compute,  ///< its kernels take longer than those of other ranks, or it has more of them
  input,    ///< it waits for its data loader, or for copies to the device
  launch,   ///< its device is idle because the host launches late
  memory,   ///< its device is idle while the host allocates or frees device memory
  network,  ///< it arrives on time, but transfers with it take longer
  garbage_collection,
  unknown,  ///< it is late, but the traces do not tell why
};

/// `compute`, `garbage_collection`, ...
std::string_view straggler_cause_name(StragglerCause cause);

struct Straggler {
  std::int64_t rank = 0;
  StragglerCause cause = StragglerCause::unknown;
  /// By how much a step that it was late in is longer because of it: how much more time than other
  /// ranks that do the same work it needed, while they waited.
  std::int64_t excess_per_step_ns = 0;
  std::vector<std::int64_t> steps;  ///< the numbers of those that it was late in
  std::size_t recorded_steps = 0;   ///< of all steps that could be compared
  double share = 0;                 ///< excess_per_step_ns of the median step
  std::int64_t cause_ns = 0;        ///< the part of excess_per_step_ns that the cause explains
  /// `network`: the other end of a slow link, if transfers with this one rank alone are slow, so
  /// that either may be at fault.
  std::optional<std::int64_t> peer;
};

/// What a rank waited for others, and they for it.
struct RankWaits {
  std::int64_t rank = 0;
  std::uint64_t collectives = 0;     ///< matched ones that it took part in
  std::int64_t wait_ns = 0;          ///< for others, in all collectives
  std::int64_t exposed_wait_ns = 0;  ///< the part in which it computed nothing
  std::uint64_t late_count = 0;      ///< how often it arrived last, as far as the clocks tell
  /// Its exposed time in collectives whose waits are known, since all of their ranks were given.
  std::int64_t known_exposed_ns = 0;
  /// In its steps: it waited for other ranks in sends and receives, and computed nothing. In a
  /// pipeline these are its bubbles. Unknown if it has none whose wait is known, no steps, or a
  /// record that is a sample.
  std::optional<std::int64_t> bubble_ns = {};
  std::int64_t steps_ns = 0;  ///< the duration of its steps

  /// Of its steps.
  std::optional<double> bubble_share() const;
};

/// A rank that others waited for in one step, while its other steps are like theirs.
struct Pause {
  std::int64_t rank = 0;
  std::int64_t step = 0;       ///< its number
  std::size_t place = 0;       ///< in the compared steps, from 0
  std::int64_t excess_ns = 0;  ///< how much more time than other ranks it needed
  double share = 0;            ///< of the time of all compared steps
  StragglerCause cause = StragglerCause::unknown;
  bool is_silent = false;  ///< most of it, its host recorded nothing
};

/// Ranks that were last in most of what other ranks waited for, where there are too few steps to
/// tell a straggler from chance.
struct LateArrivals {
  std::vector<std::int64_t> ranks;
  std::uint64_t late = 0;         ///< how often one of them was last
  std::uint64_t collectives = 0;  ///< of those whose last rank is known
  StragglerCause cause = StragglerCause::unknown;
};

struct StragglerResult {
  std::vector<Straggler> stragglers;  ///< the costliest first; usually empty
  std::size_t compared_steps = 0;     ///< that at least two ranks have
  /// How much longer a rank would need in all these steps, as a share of the median step, before it
  /// can be told from chance: more with few ranks and steps, and where steps differ much.
  double least_share = 0;
  std::string why_not_compared;  ///< a sentence for people; empty if steps were compared
  std::vector<Pause> pauses;     ///< of ranks besides the stragglers, the longest first; at most 3
  std::optional<LateArrivals> late_arrivals;  ///< if no steps were compared for want of steps
  std::vector<RankWaits> waits;               ///< by rank of the job
};

/// `rank 5 holds up the job: ...`, a sentence for people without a full stop.
std::string straggler_text(const Straggler& straggler);

/// `bubbles of the pipeline: ...`, likewise; empty if no rank has any that are known.
std::string bubble_text(std::span<const RankWaits> waits);

/// For people: a sentence for each straggler and pause; that there is none; or why that is not
/// known.
std::vector<std::string> straggler_lines(const StragglerResult& result);

/// What to do about it.
std::string_view straggler_remedy(StragglerCause cause);

/// A JSON list of `{rank, excess_per_step_ns, steps, cause, share, cause_ns, peer}`.
std::string stragglers_json(std::span<const Straggler> stragglers);

}  // namespace tbtrace
