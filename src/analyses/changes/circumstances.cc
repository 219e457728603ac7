#include "analyses/changes/circumstances.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "analyses/changes/fusions.h"
#include "analyses/changes/rows.h"
#include "base/share.h"

namespace tbtrace::analyses {
namespace {

/// Programs with less of their time in operators of the same names are other programs.
constexpr double kLeastInCommon = 0.5;

std::string listed(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

template <typename Values>
std::set<std::string> all_of(std::span<const RunFigures> runs, Values values) {
  std::set<std::string> all;
  for (const RunFigures& run : runs) {
    const std::vector<std::string> of_run = values(run);
    all.insert(of_run.begin(), of_run.end());
  }
  return all;
}

std::vector<std::string> world_size(const RunFigures& run) {
  if (!run.world_size) return {};
  return {std::to_string(*run.world_size)};
}

std::vector<std::string> recordings(const RunFigures& run) { return {std::to_string(run.traces)}; }

std::optional<double> value_of(const RunFigures& run, std::string_view quantity) {
  for (const RunQuantity& found : run.quantities) {
    if (found.name == quantity) return found.value;
  }
  return std::nullopt;
}

/// What the first layer of a step took.
std::vector<std::string> samples(const RunFigures& run) {
  const std::optional<double> found = value_of(run, "samples");
  if (!found) return {};
  return {fmt::format("{:g}", *found)};
}

/// Whether all runs have a quantity, but for 1 % the same.
bool have_equal(std::span<const RunFigures> base, std::span<const RunFigures> changed,
                std::string_view quantity) {
  constexpr double kMostApart = 0.01;
  const std::optional<double> first = value_of(base.front(), quantity);
  for (const std::span<const RunFigures> side : {base, changed}) {
    for (const RunFigures& run : side) {
      const std::optional<double> other = value_of(run, quantity);
      if (!first || !other || *first <= 0) return false;
      if (std::abs(*other - *first) > kMostApart * *first) return false;
    }
  }
  return true;
}

/// The share of the time of a side that is in operators (or kernels) that the other side has as
/// well.
double share_in_common(std::span<const RunFigures> side, std::span<const RunFigures> other,
                       DiffBy by) {
  const auto division = static_cast<std::size_t>(by);
  std::set<std::string_view> names;
  for (const RunFigures& run : other) {
    for (const RunRow& row : run.rows[division]) names.insert(row.key);
  }
  std::int64_t all = 0;
  std::int64_t common = 0;
  for (const RunFigures& run : side) {
    for (const RunRow& row : run.rows[division]) {
      if (row.key.starts_with('[')) continue;
      all += row.ns;
      if (names.contains(row.key)) common += row.ns;
    }
  }
  // Without operators nothing contradicts; without kernels nothing shows that they are the same.
  return all == 0 ? (by == DiffBy::op ? 1.0 : 0.0) : share(common, all);
}

bool have_in_common(std::span<const RunFigures> base, std::span<const RunFigures> changed,
                    DiffBy by) {
  return share_in_common(base, changed, by) >= kLeastInCommon &&
         share_in_common(changed, base, by) >= kLeastInCommon;
}

/// The mean of a quantity over runs; nullopt if one lacks it.
std::optional<double> mean_of(std::span<const RunFigures> runs, std::string_view quantity) {
  double sum = 0;
  for (const RunFigures& run : runs) {
    const std::optional<double> value = value_of(run, quantity);
    if (!value) return std::nullopt;
    sum += *value;
  }
  return sum / static_cast<double>(runs.size());
}

std::string milliseconds(double ns) { return fmt::format("{:.2f} ms", ns / 1e6); }

/// If as much device work is launched by far fewer or more calls, as by CUDA graphs: that, and what
/// it does to the idle time of the GPU. Else empty.
std::string other_way_of_launching(std::span<const RunFigures> base,
                                   std::span<const RunFigures> changed) {
  constexpr double kSameWork = 0.05;
  constexpr double kSameTime = 0.1;
  constexpr double kFewerCalls = 2;
  struct Sides {
    std::optional<double> before;
    std::optional<double> now;

    bool are_known() const { return before && now && *before > 0 && *now > 0; }
    bool differ_by(double most) const { return std::abs(*now - *before) > most * *before; }
  };
  const auto sides = [&](std::string_view quantity) {
    return Sides{mean_of(base, quantity), mean_of(changed, quantity)};
  };
  const Sides work = sides("gpu_activities");
  const Sides calls = sides("gpu_launches");
  const Sides busy = sides("gpu_busy_ns");
  const Sides idle = sides("gpu_idle_ns");
  if (!work.are_known() || !calls.are_known() || !busy.are_known() || !idle.before || !idle.now) {
    return {};
  }
  const double ratio = std::max(*calls.before, *calls.now) / std::min(*calls.before, *calls.now);
  if (work.differ_by(kSameWork) || ratio < kFewerCalls) return {};
  std::string text = fmt::format(
      "The GPU's work is launched in another way: by {:.4g} calls per step before and by {:.4g} "
      "now, for {:.4g} and {:.4g} kernels and copies.",
      *calls.before, *calls.now, *work.before, *work.now);
  if (busy.differ_by(kSameTime)) return text;
  text += fmt::format(" It takes {} of GPU time before and {} now", milliseconds(*busy.before),
                      milliseconds(*busy.now));
  const bool has_fewer = *calls.now < *calls.before;
  const double less_idle = *idle.before - *idle.now;
  double change = 0;
  for (const RunFigures& run : base)
    change += run.mean_step_ns() / static_cast<double>(base.size());
  for (const RunFigures& run : changed) {
    change -= run.mean_step_ns() / static_cast<double>(changed.size());
  }
  constexpr double kExplained = 0.5;
  if (has_fewer && change > 0 && less_idle >= kExplained * change) {
    text += fmt::format(
        "; the step is shorter because the GPU no longer waits for launches: it is idle for {} "
        "instead of {}",
        milliseconds(*idle.now), milliseconds(*idle.before));
  }
  return text + ".";
}

class Reasons {
 public:
  explicit Reasons(Circumstances& found) : found_(found) {}

  void warn(std::string sentence) { add(Comparable::warning, std::move(sentence)); }
  void refuse(std::string sentence) { add(Comparable::no, std::move(sentence)); }

 private:
  void add(Comparable comparable, std::string sentence) {
    found_.comparable = std::max(found_.comparable, comparable);
    found_.reasons.push_back(std::move(sentence));
  }

  Circumstances& found_;
};

/// Whether rows of a division can be of the same recording: a reduced run lacks its smallest ones.
bool rows_agree(const std::vector<RunRow>& rows, const RunFigures& other, std::size_t by) {
  std::map<std::string_view, const RunRow*> others;
  for (const RunRow& row : other.rows[by]) others.emplace(row.key, &row);
  return std::ranges::all_of(rows, [&](const RunRow& row) {
    if (row.key == kRestKey) return true;
    const auto found = others.find(row.key);
    if (found != others.end()) return *found->second == row;
    return other.is_reduced || (row.ns == 0 && row.count == 0);  // what another run of its file has
  });
}

bool quantities_agree(const RunFigures& one, const RunFigures& other) {
  return std::ranges::all_of(one.quantities, [&](const RunQuantity& quantity) {
    return value_of(other, quantity.name).value_or(quantity.value) == quantity.value;
  });
}

template <typename Value>
bool agree(const std::optional<Value>& one, const std::optional<Value>& other) {
  return !one || !other || *one == *other;
}

/// Whether all that is known of both is the same to the nanosecond, which is so for a copy of a
/// file, compressed or not, and for what a baseline has of it.
bool is_same(const RunFigures& one, const RunFigures& other) {
  if (one.step_ns != other.step_ns || one.has_steps != other.has_steps ||
      one.has_device_work != other.has_device_work || !agree(one.start_ns, other.start_ns) ||
      !agree(one.world_size, other.world_size) || !quantities_agree(one, other)) {
    return false;
  }
  for (std::size_t by = 0; by < kDiffBys; ++by) {
    if (!rows_agree(one.rows[by], other, by) || !rows_agree(other.rows[by], one, by)) return false;
  }
  return true;
}

/// Whether two runs are the same recording, which says nothing about how runs vary.
bool has_repeated(std::span<const RunFigures> runs) {
  for (std::size_t one = 0; one < runs.size(); ++one) {
    for (std::size_t other = 0; other < one; ++other) {
      if (is_same(runs[one], runs[other])) return true;
    }
  }
  return false;
}

bool share_a_recording(std::span<const RunFigures> base, std::span<const RunFigures> changed) {
  return std::ranges::any_of(base, [&](const RunFigures& one) {
    return std::ranges::any_of(changed,
                               [&](const RunFigures& other) { return is_same(one, other); });
  });
}

/// Whether each run of a side is on the other one; no side has a run twice.
bool are_same(std::span<const RunFigures> base, std::span<const RunFigures> changed) {
  return base.size() == changed.size() && std::ranges::all_of(base, [&](const RunFigures& one) {
           return std::ranges::any_of(changed,
                                      [&](const RunFigures& other) { return is_same(one, other); });
         });
}

bool any(std::span<const RunFigures> runs, bool (*test)(const RunFigures& run)) {
  return std::ranges::any_of(runs, test);
}

}  // namespace

Circumstances circumstances_of(std::span<const RunFigures> base,
                               std::span<const RunFigures> changed) {
  Circumstances found;
  Reasons reasons(found);
  const auto is_empty = [](const RunFigures& run) { return run.step_ns.empty(); };
  if (any(base, is_empty) || any(changed, is_empty)) {
    reasons.refuse("A recording has neither steps nor operators.");
    return found;
  }
  if (has_repeated(base) || has_repeated(changed)) {
    reasons.refuse("Two runs of a side are the same recording.");
  } else if (are_same(base, changed)) {
    found.is_same_recording = true;
    return found;
  }
  const auto has_gpu = [](const RunFigures& run) { return run.has_device_work; };
  if (any(base, has_gpu) != any(changed, has_gpu)) {
    reasons.refuse(
        "Only one side has GPU work; the other ran on the CPU, or its GPU work was not "
        "recorded.");
  }
  const auto has_steps = [](const RunFigures& run) { return run.has_steps; };
  for (const std::span<const RunFigures> side : {base, changed}) {
    if (any(side, has_steps) && !std::ranges::all_of(side, has_steps)) {
      reasons.refuse("Some runs of a side have steps, and others have none.");
    }
  }
  if (any(base, has_steps) != any(changed, has_steps)) {
    reasons.refuse("Only one side has steps; call profiler.step() in both.");
  } else if (!any(base, has_steps)) {
    reasons.warn(
        "Neither side has steps, so whole recordings are compared; call profiler.step() "
        "to compare steps.");
  }
  const bool was_compiled = any(base, is_compiled);
  const bool does_same_work = have_equal(base, changed, "flops");
  if (was_compiled != any(changed, is_compiled)) {
    found.can_compare_flops = does_same_work;
    reasons.warn(std::string("Only the ") + (was_compiled ? "base" : "new side") +
                 " is compiled (torch.compile): operators are fused there and have other names. " +
                 (does_same_work ? "A step has as many FLOPs on both sides."
                                 : "Whether it is the same model cannot be seen."));
  } else if (!have_in_common(base, changed, DiffBy::op) &&
             !have_in_common(base, changed, DiffBy::kernel)) {
    reasons.refuse(
        "The operators are others: less than half of the time is in operators that both "
        "sides have. Is it the same model?");
  }
  if (std::string text = other_way_of_launching(base, changed); !text.empty()) {
    reasons.warn(std::move(text));
  }
  if (found.comparable != Comparable::no && share_a_recording(base, changed)) {
    reasons.warn("A recording is on both sides.");
  }
  const auto compare = [&](const char* what, auto values, bool may_be_unknown) {
    const std::set<std::string> before = all_of(base, values);
    const std::set<std::string> after = all_of(changed, values);
    if (before == after || (may_be_unknown && (before.empty() || after.empty()))) return;
    const auto text = [](const std::set<std::string>& names) {
      return names.empty() ? std::string("none") : listed(names);
    };
    reasons.warn(std::string(what) + ": " + text(before) + " before, " + text(after) + " now.");
  };
  compare(
      "Another GPU", [](const RunFigures& run) { return run.devices; }, true);
  compare("Another number of ranks", world_size, true);
  compare("Another number of recordings a run", recordings, true);
  if (!does_same_work) compare("Another number of samples in a step", samples, true);
  compare(
      "Other recording options, which cost time themselves",
      [](const RunFigures& run) { return run.options; }, false);
  std::size_t damaged = 0;
  for (const std::span<const RunFigures> side : {base, changed}) {
    for (const RunFigures& run : side) damaged += run.damaged;
  }
  if (damaged > 0) {
    reasons.warn(std::to_string(damaged) + (damaged == 1 ? " recording is" : " recordings are") +
                 " damaged, and may lack work.");
  }
  return found;
}

}  // namespace tbtrace::analyses
