#include "snapshots/notes.h"

#include <algorithm>
#include <string_view>

#include "snapshots/failure.h"
#include "snapshots/growth.h"
#include "snapshots/keepers.h"
#include "snapshots/moments.h"
#include "snapshots/snapshot.h"
#include "writers/tables/weight_text.h"

namespace tbtrace {
namespace snapshots {
namespace {

std::string bytes_text(std::int64_t bytes) {
  return writers::weight_text(std::max<std::int64_t>(bytes, 0), "bytes");
}

std::string device_text(const DeviceReplay& replay) {
  return "GPU " + std::to_string(replay.device());
}

/// Ranks are told apart.
void name_rank(const MemorySnapshot& snapshot, std::vector<std::string>& sentences) {
  if (!snapshot.rank()) return;
  for (std::string& sentence : sentences) {
    if (sentence.starts_with("GPU ")) {
      sentence.insert(0, "Rank " + std::to_string(*snapshot.rank()) + ", ");
    }
  }
}

/// ` (72.00 % of it)`.
std::string share_of(std::int64_t part, std::int64_t whole) {
  return whole <= 0 ? "" : " (" + writers::share_text(part, whole) + ")";
}

std::string moment_sentence(const DeviceReplay& replay, const ChosenMoment& chosen) {
  if (!replay.knows_allocated()) {
    return "The file ends before it says what " + device_text(replay) + " had allocated.";
  }
  const std::string what =
      chosen.name == "peak"
          ? (replay.has_beginning() ? " at the peak," : " at the highest of what is recorded,")
      : chosen.name == "end"
          ? (replay.end() > 0 ? " at the end of the recording" : " when the snapshot was taken")
      : chosen.name == "oom" ? " when an allocation failed,"
                             : "";
  std::string text = device_text(replay) + " had " +
                     bytes_text(replay.allocated_at(chosen.moment)) + " allocated" + what;
  if (replay.end() > 0 && chosen.name != "end") {
    text +=
        " " +
        writers::weight_text(
            std::max<std::int64_t>(chosen.name == "oom" ? time_ns(replay, chosen.moment)
                                                        : time_of_moment_ns(replay, chosen.moment),
                                   0),
            "ns") +
        " after the recording began";
  }
  if (const auto reserved = replay.reserved_at(chosen.moment)) {
    text += "; the allocator had reserved " + bytes_text(*reserved);
  }
  return text + ".";
}

/// Who keeps segments, of a request that failed for fragmentation.
std::string keeper_sentence(const Keeper& keeper, std::int64_t free_bytes) {
  const bool is_one = keeper.segments == 1;
  return "Blocks of " + keeper.line + " (" + bytes_text(keeper.bytes) + " in all) keep " +
         std::to_string(keeper.segments) + (is_one ? " segment" : " segments") + " with " +
         bytes_text(keeper.free_bytes) + " free" + (is_one ? "" : " in pieces") +
         (keeper.free_bytes < free_bytes ? ", of " + bytes_text(free_bytes) : "") +
         ": allocate them before what comes and goes, or free them.";
}

std::string pool_sentence(const PrivatePool& pool, const Grouping& grouping) {
  return "Private pool " + grouping.pool(pool.pool) + " had " + bytes_text(pool.reserved_bytes) +
         ", " + bytes_text(pool.free_bytes) + " of it free" +
         (pool.line.empty() ? "." : "; reserved at " + pool.line + ".");
}

std::vector<std::string> failure_sentences(const DeviceReplay& replay, Origins& origins,
                                           Grouping& grouping) {
  const std::vector<Failure> failures = failures_of(replay);
  if (failures.empty()) return {};
  const Failure& failure = failures.back();
  const std::string& line =
      origins.own_line(replay.data().entries.stack[replay.row(failure.place)]);
  std::string text = device_text(replay) + " ran out of memory";
  if (!line.empty()) text += " at " + line;
  text += ": " + bytes_text(failure.asked_bytes) + " were asked for, the device had " +
          bytes_text(failure.device_free_bytes) + " free";
  if (failures.size() > 1) {
    text += " (the last of " + std::to_string(failures.size()) + " failures)";
  }
  std::vector<std::string> sentences = {text + "."};
  if (failure.reserved_bytes) {
    std::string held = "Of " + bytes_text(*failure.reserved_bytes) +
                       " that the allocator had reserved, " + bytes_text(failure.allocated_bytes) +
                       " were allocated and " + bytes_text(*failure.free_bytes) +
                       " free; the largest free piece that fits the "
                       "request's pool and stream had " +
                       bytes_text(*failure.largest_usable_bytes);
    if (*failure.private_reserved_bytes > 0) {
      held += "; private pools (CUDA graphs) had " + bytes_text(*failure.private_reserved_bytes) +
              ", " + bytes_text(*failure.private_free_bytes) + " of it free";
    }
    if (failure.pending_bytes > 0) {
      held +=
          "; " + bytes_text(failure.pending_bytes) + " were freed, and waited for other streams";
    }
    if (failure.unreleased_bytes > 0) {
      held += "; " + bytes_text(failure.unreleased_bytes) + " were in segments that nothing used";
    }
    if (failure.rounding_bytes > 0) {
      held += "; roundup_power2_divisions added " + bytes_text(failure.rounding_bytes) +
              " to what was allocated";
    }
    sentences.push_back(held + ".");
  }
  constexpr std::string_view kWhy[] = {
      "The memory was full: ",
      "The memory was fragmented: ",
      "Free memory belonged to other streams, or waited for them: ",
      "Free memory was in private pools: ",
      "Segments that nothing uses were not released: ",
      "Rounding took the memory: ",
      "Free memory was in several places: ",
      "Why is not known: "};
  sentences.push_back(std::string(kWhy[static_cast<std::size_t>(failure.cause)]) +
                      advice_on(failure) + ".");
  // One of many lines that keep as much each is not who keeps the memory.
  const std::int64_t of_class = failure.usable_free_bytes.value_or(0);
  const std::int64_t usable =
      is_by_other_class(failure) ? failure.own_free_bytes - of_class : of_class;
  if (const auto keeper = keeper_at(replay, failure, grouping);
      keeper && keeper->free_bytes >= usable / 3) {
    sentences.push_back(keeper_sentence(*keeper, usable));
  }
  if (failure.cause == FailureCause::private_pools) {
    constexpr std::size_t kPools = 3;
    const auto memory = reserved_memory(replay, failure.place);
    const std::vector<PrivatePool> pools = private_pools(*memory, origins);
    for (std::size_t each = 0; each < std::min(kPools, pools.size()); ++each) {
      sentences.push_back(pool_sentence(pools[each], grouping));
    }
  }
  return sentences;
}

/// What of the figures is not as it seems.
void add_limits(const DeviceReplay& replay, std::vector<std::string>& notes) {
  const std::string device = device_text(replay);
  if (replay.before_bytes() > 0 && replay.end() > 0) {
    notes.push_back(device + ": " + bytes_text(replay.before_bytes()) +
                    " were allocated before the recording began.");
  }
  if (replay.end() == 0 && replay.knows_allocated()) {
    notes.push_back(device +
                    ": no history was recorded, so the peak is not known; record with "
                    "torch.cuda.memory._record_memory_history().");
  } else if (replay.knows_allocated() && !replay.has_beginning()) {
    notes.push_back(device +
                    ": what came before the first entry is not recorded, so the highest of what "
                    "is recorded may be below the peak.");
  }
  if (replay.missing_at_end_bytes() > 0) {
    notes.push_back(device + ": " + bytes_text(replay.missing_at_end_bytes()) +
                    " that the trace allocates are not among the blocks at the end, so frees are "
                    "missing in it; what was held may be less.");
  }
  if (replay.replaced() > 0) {
    notes.push_back(device + ": " + std::to_string(replay.replaced()) +
                    " addresses were allocated again without a free between; the first allocation "
                    "counts up to there.");
  }
  if (replay.frees_are_requests()) {
    notes.push_back(device +
                    ": the trace does not say when frees were completed, so memory counts "
                    "as free from when that was asked for.");
  }
}

std::string file_sentence(const SnapshotData& data) {
  if (data.is_cut) {
    return "The file ends before its end, so what was allocated before the recording and what was "
           "reserved are not known.";
  }
  if (!data.has_segments) return "The file has no segments: what was reserved is not known.";
  return "";
}

}  // namespace

std::vector<std::string> notes_on(const MemorySnapshot& snapshot, const OptionValues& options) {
  const std::string view = options.text("view");
  const SnapshotData& data = snapshot.data().content;
  Origins origins(data);
  std::vector<std::string> notes;
  for (const DeviceReplay& replay : snapshot.data().devices) {
    const auto chosen = chosen_moment(replay, options);
    if ((view == "alive" || view == "segments") && chosen) {
      notes.push_back(moment_sentence(replay, *chosen));
    }
    if ((view == "alive" && chosen && chosen->name == "oom") || view == "oom") {
      Categories categories(replay, origins);
      Grouping grouping(replay, origins, categories, {});
      for (std::string& sentence : failure_sentences(replay, origins, grouping)) {
        notes.push_back(std::move(sentence));
      }
    }
    if (view == "growth") {
      const StepEnds steps = step_ends(replay, origins);
      notes.push_back(
          steps.moments.empty()
              ? device_text(replay) +
                    ": steps are not known; record with torch.profiler and its step(), or "
                    "with the frames of the optimizer."
              : device_text(replay) + ": " + std::to_string(steps.moments.size()) +
                    " ends of steps, by " + std::string(steps.by) + ".");
    }
    add_limits(replay, notes);
  }
  if (std::string sentence = file_sentence(data); !sentence.empty()) {
    notes.push_back(std::move(sentence));
  }
  if (view == "alive" && data.stack_count() < 2 && data.entries.count() > 0) {
    notes.push_back(
        "The file has no stacks, so lines are not known; record with "
        "torch.cuda.memory._record_memory_history(context=\"all\", stacks=\"all\").");
  }
  name_rank(snapshot, notes);
  return notes;
}

}  // namespace snapshots

std::vector<std::string> memory_snapshot_sentences(const MemorySnapshot& snapshot) {
  using namespace snapshots;
  constexpr std::size_t kHolders = 5;
  const SnapshotData& data = snapshot.data().content;
  Origins origins(data);
  std::vector<std::string> sentences;
  for (const DeviceReplay& replay : snapshot.data().devices) {
    Categories categories(replay, origins);
    Grouping grouping(replay, origins, categories, {});
    for (std::string& sentence : failure_sentences(replay, origins, grouping)) {
      sentences.push_back(std::move(sentence));
    }
    const auto chosen = chosen_moment(replay, "");
    sentences.push_back(moment_sentence(replay, *chosen));
    const std::vector<Holder> holders = holders_at(replay, grouping, chosen->moment);
    std::int64_t total = 0;
    for (const Holder& holder : holders) total += holder.bytes;
    for (std::size_t each = 0; each < std::min(kHolders, holders.size()); ++each) {
      const Holder& holder = holders[each];
      std::string text =
          bytes_text(holder.bytes) + share_of(holder.bytes, total) + " by " + *holder.key.line;
      if (*holder.key.category != "unknown") text += ", " + *holder.key.category;
      sentences.push_back("- " + text + ", in " + std::to_string(holder.allocations) +
                          (holder.allocations == 1 ? " allocation." : " allocations."));
    }
    const StepEnds steps = step_ends(replay, origins);
    const std::vector<Growth> growth = growth_of(replay, grouping, steps);
    if (const auto leak = std::ranges::find_if(growth, &Growth::is_steady); leak != growth.end()) {
      sentences.push_back(device_text(replay) + " grows by " + bytes_text(leak->per_step_bytes) +
                          " per step at " + *leak->key.line + ", since step " +
                          std::to_string(leak->since_step) + " of " + std::to_string(leak->steps) +
                          ".");
    }
    add_limits(replay, sentences);
  }
  if (std::string sentence = file_sentence(data); !sentence.empty()) {
    sentences.push_back(std::move(sentence));
  }
  name_rank(snapshot, sentences);
  return sentences;
}

}  // namespace tbtrace
