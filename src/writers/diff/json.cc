#include "writers/diff/json.h"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wire/json_emitter.h"

namespace tbtrace::writers {
namespace {

void emit_texts(wire::JsonEmitter& json, std::string_view key,
                const std::vector<std::string>& texts) {
  json.key(key);
  json.begin_array();
  for (const std::string& text : texts) json.text(text);
  json.end_array();
}

void emit_number(wire::JsonEmitter& json, std::string_view key, std::optional<double> value) {
  json.key(key);
  value ? json.number(*value) : json.null();
}

/// Whole ns.
void emit_ns(wire::JsonEmitter& json, std::string_view key, std::optional<double> ns) {
  json.key(key);
  ns ? json.integer(std::llround(*ns)) : json.null();
}

void emit_step(wire::JsonEmitter& json, const StepChange& step) {
  json.key("step");
  json.begin_object();
  emit_ns(json, "base_ns", step.base_ns);
  emit_ns(json, "new_ns", step.new_ns);
  emit_number(json, "change", step.change);
  emit_number(json, "low", step.low);
  emit_number(json, "high", step.high);
  emit_number(json, "resolvable", step.resolvable);
  emit_number(json, "steps_low", step.steps_low);
  emit_number(json, "steps_high", step.steps_high);
  emit_ns(json, "base_median_ns", step.base_median_ns);
  emit_ns(json, "new_median_ns", step.new_median_ns);
  json.end_object();
}

void emit_row(wire::JsonEmitter& json, DiffBy by, const DiffRow& row) {
  json.new_line();
  json.begin_object();
  json.member("by", diff_by_name(by));
  json.member("key", row.key);
  emit_number(json, "base_count", row.base_count);
  emit_number(json, "new_count", row.new_count);
  emit_ns(json, "base_ns", row.base_ns);
  emit_ns(json, "new_ns", row.new_ns);
  emit_ns(json, "change_ns", row.change_ns);
  emit_ns(json, "low_ns", row.low_ns);
  emit_ns(json, "high_ns", row.high_ns);
  json.member("verdict", diff_verdict_name(row.verdict));
  emit_number(json, "share", row.share);
  json.key("matched_by");
  row.matched_by.empty() ? json.null() : json.text(row.matched_by);
  json.key("base_key");
  row.base_key.empty() ? json.null() : json.text(row.base_key);
  emit_texts(json, "fuses", row.fuses);
  json.end_object();
}

void emit_phase(wire::JsonEmitter& json, const DiffPhase& phase) {
  json.new_line();
  json.begin_object();
  json.member("phase", phase.key);
  for (const auto& each : {std::pair("base_", &phase.base), std::pair("new_", &phase.changed)}) {
    const std::string prefix = each.first;
    const DiffPhaseSide* const side = each.second;
    const bool is_there = side->steps > 0;
    const auto ns = [&](std::string_view name, double value) {
      emit_ns(json, prefix + std::string(name), is_there ? std::optional(value) : std::nullopt);
    };
    json.key(prefix + "steps");
    json.integer(side->steps);
    ns("period_ns", side->period_ns);
    ns("gap_ns", side->gap_ns);
    ns("idle_ns", side->idle_ns);
    ns("communication_ns", side->communication_ns);
    ns("host_ns", side->host_ns);
    emit_number(json, prefix + "launches", is_there ? std::optional(side->launches) : std::nullopt);
    ns("launch_ns", side->launch_ns);
  }
  emit_ns(json, "change_ns", phase.change_ns);
  json.key("why");
  phase.sentence.empty() ? json.null() : json.text(phase.sentence);
  json.end_object();
}

/// What rounding each row to whole ns leaves of the change of the step, by division.
void emit_unattributed(wire::JsonEmitter& json, const Diff& diff, std::span<const DiffBy> by) {
  json.key("unattributed_ns");
  json.begin_object();
  for (const DiffBy one : by) {
    std::int64_t rest = std::llround(diff.step.new_ns) - std::llround(diff.step.base_ns);
    for (const DiffRow& row : diff.rows[static_cast<std::size_t>(one)]) {
      rest -= std::llround(row.change_ns);
    }
    json.key(diff_by_name(one));
    json.integer(rest);
  }
  json.end_object();
}

}  // namespace

std::string diff_json(const Diff& diff, std::span<const DiffBy> by) {
  std::string text;
  wire::JsonEmitter json(text);
  json.begin_object();
  json.member("schema", "tbtrace.diff/1");
  emit_texts(json, "base", diff.base_names);
  emit_texts(json, "new", diff.new_names);
  json.member("comparable", comparable_name(diff.comparable));
  emit_texts(json, "reasons", diff.reasons);
  json.key("same_recording");
  json.boolean(diff.is_same_recording);
  json.member("verdict", diff_verdict_name(diff.verdict));
  json.member("why", diff.why);
  json.member("sentence", diff.sentence);
  json.key("batches");
  diff.batches.empty() ? json.null() : json.text(diff.batches);
  emit_step(json, diff.step);
  json.key("rows");
  json.begin_array();
  for (const DiffBy one : by) {
    for (const DiffRow& row : diff.rows[static_cast<std::size_t>(one)]) emit_row(json, one, row);
  }
  json.end_array();
  emit_unattributed(json, diff, by);
  json.key("quantities");
  json.begin_array();
  for (const DiffQuantity& quantity : diff.quantities) {
    json.new_line();
    json.begin_object();
    json.member("name", quantity.name);
    emit_number(json, "base", quantity.base_value);
    emit_number(json, "new", quantity.new_value);
    json.end_object();
  }
  json.end_array();
  json.key("phases");
  json.begin_array();
  for (const DiffPhase& phase : diff.phases) emit_phase(json, phase);
  json.end_array();
  json.end_object();
  text += '\n';
  return text;
}

}  // namespace tbtrace::writers
