// The document of a comparison.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <tbtrace/compare_page.h>

#include "pages/compare/difference_text.h"
#include "pages/text_list.h"
#include "wire/json_emitter.h"
#include "writers/diff/json.h"

namespace tbtrace {
namespace {

constexpr std::array<DiffBy, kDiffBys> kAllDivisions = {
    DiffBy::part, DiffBy::op, DiffBy::kernel, DiffBy::module, DiffBy::line, DiffBy::shape};

/// Cuts rows and texts. `left_out`: by division, rows, and what their changes add up to.
Diff shortened(const Diff& diff, const ComparisonLimits& limits,
               std::array<std::pair<std::size_t, double>, kDiffBys>& left_out) {
  Diff kept = diff;
  std::size_t cuts = 0;
  for (std::size_t by = 0; by < kDiffBys; ++by) {
    std::vector<DiffRow>& rows = kept.rows[by];
    while (rows.size() > limits.rows) {
      ++left_out[by].first;
      left_out[by].second += rows.back().change_ns;
      rows.pop_back();
    }
    for (DiffRow& row : rows) {
      row.key = pages::cut_text(row.key, limits.characters, cuts);
      if (!row.base_key.empty()) {
        row.base_key = pages::cut_text(row.base_key, limits.characters, cuts);
      }
    }
  }
  return kept;
}

}  // namespace

Result<std::string> comparison_document(const Diff& diff, std::span<const RunStacks> base,
                                        std::span<const RunStacks> changed,
                                        const ComparisonLimits& limits) {
  std::array<std::pair<std::size_t, double>, kDiffBys> left_out = {};
  const Diff kept = shortened(diff, limits, left_out);
  std::string rows = writers::diff_json(kept, kAllDivisions);
  while (rows.ends_with('\n')) rows.pop_back();
  std::string text;
  wire::JsonEmitter json(text);
  json.begin_object();
  json.member("schema", "tbtrace.comparison/1");
  json.key("diff");
  json.raw(rows);
  json.key("left_out");
  json.begin_array();
  for (const DiffBy by : kAllDivisions) {
    const auto& [count, change_ns] = left_out[static_cast<std::size_t>(by)];
    if (count == 0) continue;
    json.begin_object();
    json.member("by", diff_by_name(by));
    json.key("rows");
    json.integer(count);
    json.key("change_ns");
    json.integer(std::llround(change_ns));
    json.end_object();
  }
  json.end_array();
  const bool has_stacks = !base.empty() && !changed.empty() &&
                          base.size() == diff.base_names.size() &&
                          changed.size() == diff.new_names.size();
  json.key("stacks");
  json.begin_array();
  std::string_view first = "cpu";
  if (has_stacks) {
    std::vector<FlameDifference> both;
    for (const StackWeight weight : {StackWeight::cpu, StackWeight::device}) {
      Result<FlameDifference> difference =
          flame_difference(base, changed, {.weight = weight, .step_ns = diff.step.base_ns});
      if (!difference.ok()) return difference.status();
      pages::emit_difference(json, *difference, limits);
      both.push_back(*std::move(difference));
    }
    if (telling_weight(both[0], both[1]) == StackWeight::device) first = "device";
  }
  json.end_array();
  json.member("first_stacks", first);
  json.key("no_stacks");
  has_stacks ? json.null()
             : json.text("A baseline keeps no stacks: compare traces to see the flame graph.");
  json.end_object();
  text += '\n';
  return text;
}

}  // namespace tbtrace
