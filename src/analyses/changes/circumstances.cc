#include "analyses/changes/circumstances.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string_view>
#include <utility>

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

/// The share of the time of a side that is in operators that the other side has as well.
double share_in_common(std::span<const RunFigures> side, std::span<const RunFigures> other) {
  std::set<std::string_view> names;
  for (const RunFigures& run : other) {
    for (const RunRow& row : run.rows[static_cast<std::size_t>(DiffBy::op)]) names.insert(row.key);
  }
  std::int64_t all = 0;
  std::int64_t common = 0;
  for (const RunFigures& run : side) {
    for (const RunRow& row : run.rows[static_cast<std::size_t>(DiffBy::op)]) {
      if (row.key.starts_with('[')) continue;
      all += row.ns;
      if (names.contains(row.key)) common += row.ns;
    }
  }
  return all == 0 ? 1.0 : share(common, all);
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

bool is_same(const RunFigures& one, const RunFigures& other) {
  return one.step_ns == other.step_ns && one.rows == other.rows;
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
  if (share_in_common(base, changed) < kLeastInCommon ||
      share_in_common(changed, base) < kLeastInCommon) {
    reasons.refuse(
        "The operators are others: less than half of the time is in operators that both "
        "sides have. Is it the same model?");
  }
  if (found.comparable != Comparable::no && share_a_recording(base, changed)) {
    reasons.warn(base.size() == 1 && changed.size() == 1 ? "Both sides are the same recording."
                                                         : "A recording is on both sides.");
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
