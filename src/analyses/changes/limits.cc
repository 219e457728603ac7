// Changes that are too much.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include <tbtrace/diff.h>
#include <tbtrace/steps.h>

namespace tbtrace {
namespace {

constexpr std::string_view kStepTime = "step_time";

Status wrong(std::string_view text) {
  return {StatusCode::invalid_argument,
          "'" + std::string(text) +
              "' is not a limit such as step_time>+3%, operator:aten::mm>+10% or "
              "gpu_memory_peak>+5%"};
}

/// What limits call a quantity: its name without its unit.
std::string_view name_in_limits(std::string_view quantity) {
  for (const std::string_view unit : {"_bytes", "_ns"}) {
    if (quantity.ends_with(unit)) quantity.remove_suffix(unit.size());
  }
  return quantity;
}

/// The quantity that a limit names; empty if it is none.
std::string_view quantity_of(std::string_view what) {
  const auto* const found = std::ranges::find(kDiffQuantities, what, name_in_limits);
  return found == kDiffQuantities.end() ? std::string_view() : *found;
}

struct Division {
  DiffBy by;
  std::string_view key;
};

bool is_part(std::string_view name) {
  for (std::size_t role = 0; role < kStepRoles; ++role) {
    if (step_role_name(static_cast<StepRole>(role)) == name) return true;
  }
  return false;
}

std::optional<Division> division_of(std::string_view what) {
  const std::size_t colon = what.find(':');
  if (colon == std::string_view::npos || colon + 1 == what.size()) return std::nullopt;
  const std::optional<DiffBy> by = diff_by_named(what.substr(0, colon));
  if (!by) return std::nullopt;
  if (*by == DiffBy::part && !is_part(what.substr(colon + 1))) return std::nullopt;
  return Division{*by, what.substr(colon + 1)};
}

std::string percent(double share) { return fmt::format("{:+.1f} %", 100 * share); }

/// By an interval of shares.
LimitResult judge(const Diff& diff, const DiffLimit& limit, double change,
                  std::optional<double> low, std::optional<double> high) {
  if (diff.is_same_recording) return {LimitVerdict::kept, limit.text + ": " + diff.why};
  std::string sentence = limit.text + ": changed by " + percent(change);
  if (!low || !high) {
    return {LimitVerdict::inconclusive,
            sentence +
                ", without an interval: the runs are too few, or it is less than 0.5 % of "
                "the step"};
  }
  sentence += " (" + percent(*low) + " to " + percent(*high) + ")";
  if (*low > limit.share) return {LimitVerdict::exceeded, sentence};
  if (*high <= limit.share) return {LimitVerdict::kept, sentence};
  return {LimitVerdict::inconclusive, sentence + ": the runs do not tell on which side it is"};
}

LimitResult judge_quantity(const Diff& diff, const DiffLimit& limit, std::string_view name) {
  const auto found = std::ranges::find(diff.quantities, name, &DiffQuantity::name);
  if (found == diff.quantities.end() || !found->base_value || !found->new_value) {
    return {LimitVerdict::inconclusive, limit.text + ": not all recordings have it"};
  }
  const double before = *found->base_value;
  const double after = *found->new_value;
  if (name.ends_with("_ns") && before > 0) {
    return judge(diff, limit, after / before - 1, found->low, found->high);
  }
  const bool is_exceeded = after > before + limit.share * std::abs(before);
  const std::string change =
      before == 0 ? fmt::format("from 0 to {:.0f}", after) : "by " + percent(after / before - 1);
  return {is_exceeded ? LimitVerdict::exceeded : LimitVerdict::kept,
          limit.text + ": changed " + change};
}

LimitResult judge_row(const Diff& diff, const DiffLimit& limit, const Division& division) {
  const std::vector<DiffRow>& rows = diff.rows[static_cast<std::size_t>(division.by)];
  const auto row = std::ranges::find_if(rows, [&](const DiffRow& one) {
    return one.key == division.key || one.base_key == division.key;
  });
  if (row == rows.end()) {
    return {LimitVerdict::inconclusive, limit.text + ": no step of either side has it"};
  }
  if (row->base_ns == 0) {
    return row->new_ns == 0
               ? LimitResult{LimitVerdict::kept, limit.text + ": takes no time on either side"}
               : LimitResult{LimitVerdict::exceeded,
                             limit.text +
                                 fmt::format(": is new, with {:.3f} ms a step", row->new_ns / 1e6)};
  }
  if (row->new_ns == 0) return {LimitVerdict::kept, limit.text + ": takes no time any more"};
  const auto share = [&](const std::optional<double>& ns) {
    return ns ? std::optional(*ns / row->base_ns) : std::nullopt;
  };
  return judge(diff, limit, row->change_ns / row->base_ns, share(row->low_ns), share(row->high_ns));
}

}  // namespace

std::string_view limit_verdict_name(LimitVerdict verdict) {
  constexpr std::array<std::string_view, 3> kNames = {"kept", "exceeded", "inconclusive"};
  return kNames.at(static_cast<std::size_t>(verdict));
}

Result<DiffLimit> parse_diff_limit(std::string_view text) {
  const std::size_t sign = text.rfind('>');
  if (sign == std::string_view::npos || !text.ends_with('%')) return wrong(text);
  std::string_view number = text.substr(sign + 1, text.size() - sign - 2);
  if (number.starts_with('+')) number.remove_prefix(1);
  DiffLimit limit{std::string(text), std::string(text.substr(0, sign)), 0};
  double percent = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), percent);
  const bool is_number = error == std::errc() && end == number.data() + number.size();
  if (!is_number || !std::isfinite(percent) || percent < 0) return wrong(text);
  limit.share = percent / 100;
  const bool is_known = limit.what == kStepTime || !quantity_of(limit.what).empty() ||
                        division_of(limit.what).has_value();
  if (!is_known) {
    std::vector<std::string_view> names = {kStepTime};
    for (const std::string_view name : kDiffQuantities) names.push_back(name_in_limits(name));
    std::string all;
    for (const std::string_view name : names) all += (all.empty() ? "" : ", ") + std::string(name);
    return Status(StatusCode::invalid_argument,
                  "'" + limit.what + "' is not known" + suggestion(limit.what, names) +
                      "; there are " + all +
                      ", and part:, operator:, shape:, kernel:, module: and line: with a name");
  }
  return limit;
}

LimitResult check_diff_limit(const Diff& diff, const DiffLimit& limit) {
  if (diff.comparable == Comparable::no) {
    return {LimitVerdict::inconclusive, limit.text + ": the two sides cannot be compared"};
  }
  if (limit.what == kStepTime) {
    return judge(diff, limit, diff.step.change, diff.step.low, diff.step.high);
  }
  if (const std::string_view name = quantity_of(limit.what); !name.empty()) {
    return judge_quantity(diff, limit, name);
  }
  return judge_row(diff, limit, *division_of(limit.what));
}

}  // namespace tbtrace
