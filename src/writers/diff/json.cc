#include "writers/diff/json.h"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
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
  json.end_object();
  text += '\n';
  return text;
}

}  // namespace tbtrace::writers
