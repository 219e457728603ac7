// What makes a program slow, as far as its trace shows it, and what to do about it.
// Results own their texts; plain values. docs/findings.md has each rule with its threshold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/export.h>
#include <tbtrace/gpu.h>
#include <tbtrace/memory.h>
#include <tbtrace/report.h>
#include <tbtrace/steps.h>
#include <tbtrace/trace.h>

namespace TBTRACE_EXPORT tbtrace {

/// A figure that a finding rests on.
struct Evidence {
  std::string what;   ///< `GPU idle while the host waited for data`
  Cell value;         ///< a whole number, or a share from 0 to 1
  std::string unit;   ///< `ns`, `bytes`, `share`; empty for a count
  std::string event;  ///< an event that shows it, with its time; may be empty
  /// When that was, since the start of the trace's window: of a gap, all of it.
  std::optional<std::int64_t> start_ns = {};
  std::optional<std::int64_t> end_ns = {};
};

/// What a finding's share is a share of.
enum class ShareOf : std::uint8_t {
  gpu_time,     ///< of the GPU's window, from its first activity to its last
  step_time,    ///< of the steps, all together
  recording,    ///< the same of a trace without steps
  peak_memory,  ///< of the device
};

/// `gpu_time`, `step_time`, ...
std::string_view share_of_name(ShareOf share_of);
/// For people, after the figure: ` of the GPU's time`, ` of the peak memory`.
std::string_view share_of_text(ShareOf share_of);

struct Finding {
  std::string id;  ///< stable, `data_loader_bound`
  std::string title;
  std::string remedy;
  std::vector<Evidence> evidence;
  double share = 0;  ///< that it costs, 0 to 1
  ShareOf share_of = ShareOf::gpu_time;
  /// The part of it that no other finding explains, and that mending it would save; findings are
  /// ordered by it.
  double own_share = 0;
  /// What mending it would save per step, at most; of the whole recording without steps. nullopt if
  /// it costs no time.
  std::optional<std::int64_t> gain_ns = {};
  std::string gain_how = {};  ///< how that was reckoned
  bool is_gain_per_step = false;
  std::size_t steps = 0;  ///< over which the evidence is summed up; 0: not by step
  /// Ids of the findings whose shares are parts of this one's, and that of the finding of whose
  /// share this one's is a part; empty if there is none.
  std::vector<std::string> causes = {};
  std::string part_of = {};
  /// It says what the trace is, not what costs time: it is before all others, and has no share.
  bool comes_first = false;

  /// `warning`, or `info` for less than a tenth of the time.
  const char* severity() const { return comes_first || share >= 0.1 ? "warning" : "info"; }
  /// The order of findings.
  bool is_before(const Finding& other) const {
    if (comes_first != other.comes_first) return comes_first;
    // Shares of memory and time cannot be compared: what costs time comes first.
    const bool is_memory = share_of == ShareOf::peak_memory;
    const bool is_others = other.share_of == ShareOf::peak_memory;
    return is_memory != is_others ? is_others : own_share > other.own_share;
  }
};

/// All findings above their threshold, ordered by what could be gained; before them that the trace
/// was recovered from a journal (`recovered_trace`). Takes O(n log n) time.
std::vector<Finding> findings(const Trace& trace);
/// The same from results that are there already, of the same trace and with default options.
std::vector<Finding> findings(const Trace& trace, const StepBreakdown& steps,
                              const std::vector<GpuUse>& gpus, const MemoryUse& memory);

/// What findings() can look for in the trace, in few words: nothing about a GPU without its
/// activities, or about memory without three steps that record it.
std::vector<std::string> findings_looked_for(const Trace& trace, const StepBreakdown& steps,
                                             const std::vector<GpuUse>& gpus,
                                             const MemoryUse& memory);

}  // namespace tbtrace
