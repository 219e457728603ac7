#include "report/row_order.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <tbtrace/status.h>

namespace tbtrace::report {
namespace {

double number(std::int64_t value) { return static_cast<double>(value); }

struct SortKey {
  std::string_view name;
  double (*value)(const OperatorRow& row);
};

constexpr std::array kSortKeys = std::to_array<SortKey>({
    {"cpu_time", [](const OperatorRow& r) { return mean_us(r.cpu_time_total, r); }},
    {"cpu_time_total", [](const OperatorRow& r) { return r.cpu_time_total.us; }},
    {"self_cpu_time_total", [](const OperatorRow& r) { return r.self_cpu_time_total.us; }},
    {"device_time", [](const OperatorRow& r) { return mean_us(r.device_time_total, r); }},
    {"device_time_total", [](const OperatorRow& r) { return r.device_time_total.us; }},
    {"self_device_time_total", [](const OperatorRow& r) { return r.self_device_time_total.us; }},
    {"cpu_memory_usage", [](const OperatorRow& r) { return number(r.cpu_memory_usage_bytes); }},
    {"self_cpu_memory_usage",
     [](const OperatorRow& r) { return number(r.self_cpu_memory_usage_bytes); }},
    {"device_memory_usage",
     [](const OperatorRow& r) { return number(r.device_memory_usage_bytes); }},
    {"self_device_memory_usage",
     [](const OperatorRow& r) { return number(r.self_device_memory_usage_bytes); }},
    {"count", [](const OperatorRow& r) { return number(r.count); }},
    {"flops", [](const OperatorRow& r) { return static_cast<double>(r.flops); }},
});

constexpr std::string_view kName = "key";

const SortKey* find_key(std::string_view name) {
  return std::find_if(kSortKeys.begin(), kSortKeys.end(),
                      [&](const SortKey& key) { return key.name == name; });
}

/// Sorts row numbers by `before`; equal rows stay in the order of the source.
template <typename Before>
RowOrder sorted_by(std::size_t size, const Before& before) {
  std::vector<std::size_t> numbers(size);
  std::iota(numbers.begin(), numbers.end(), 0);
  // Unlike std::stable_sort, this needs no extra memory.
  std::sort(numbers.begin(), numbers.end(), [&](std::size_t a, std::size_t b) {
    if (before(a, b)) return true;
    return !before(b, a) && a < b;
  });
  return RowOrder(std::move(numbers));
}

}  // namespace

std::string canonical_key(std::string_view key) {
  std::string text(key);
  for (const std::string_view make : {"cuda", "xpu", "privateuse1"}) {
    for (std::size_t at = text.find(make); at != std::string::npos; at = text.find(make)) {
      text.replace(at, make.size(), "device");
    }
  }
  return text;
}

Status check_sort_key(std::string_view sort_by) {
  const std::string wanted = canonical_key(sort_by);
  if (sort_by.empty() || wanted == kName || find_key(wanted) != kSortKeys.end()) return {};
  std::string all;
  std::vector<std::string_view> names = {kName};
  for (const SortKey& known : kSortKeys) {
    all += " " + std::string(known.name);
    names.push_back(known.name);
  }
  return {StatusCode::invalid_argument, "cannot sort by '" + std::string(sort_by) + "'" +
                                            suggestion(wanted, names) + "; use one of" + all +
                                            " key (cuda_, xpu_ mean device_)"};
}

Result<RowOrder> sorted_rows(RowSource& rows, std::string_view sort_by) {
  if (Status known = check_sort_key(sort_by); !known.ok()) return known;
  if (sort_by.empty()) return RowOrder(rows.size());
  const std::string wanted = canonical_key(sort_by);
  if (wanted == kName) {
    return sorted_by(rows.size(),
                     [&](std::size_t a, std::size_t b) { return rows.key(a) > rows.key(b); });
  }
  const SortKey& key = *find_key(wanted);
  std::vector<double> values(rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row) values[row] = key.value(rows.numbers(row));
  return sorted_by(rows.size(),
                   [&](std::size_t a, std::size_t b) { return values[a] > values[b]; });
}

bool RowSelection::takes(std::size_t number) {
  const std::vector<OperatorKind>& kinds = options_.kinds;
  const bool is_kind =
      kinds.empty() || std::find(kinds.begin(), kinds.end(), rows_.kind(number)) != kinds.end();
  if (!is_kind || (options_.accepts_name && !takes_name(rows_.key(number)))) return false;
  return !options_.top_level_events_only || !rows_.numbers(number).has_cpu_parent;
}

bool RowSelection::takes_name(std::string_view name) {
  constexpr std::size_t kKnown = 1024;
  if (known_.empty()) known_.resize(kKnown);
  std::optional<Known>& known = known_[std::hash<const char*>()(name.data()) / 8 % kKnown];
  const bool is_same =
      known && known->name.data() == name.data() && known->name.size() == name.size();
  if (!is_same) known = {name, options_.accepts_name(name)};
  return known->accepted;
}

RowCounts RowSelection::count() {
  RowCounts counts = {.selected = rows_.size(), .all = rows_.size()};
  if (options_.kinds.empty() && !options_.accepts_name && !options_.top_level_events_only) {
    return counts;
  }
  counts.selected = 0;
  for (std::size_t number = 0; number < counts.all; ++number) {
    counts.selected += takes(number) ? 1 : 0;
  }
  return counts;
}

std::optional<std::size_t> ShownRows::next() {
  const std::int64_t limit = options_.row_limit;
  if (limit >= 0 && shown_ == static_cast<std::size_t>(limit)) return std::nullopt;
  while (place_ < order_.size()) {
    const std::size_t number = order_[place_++];
    if (!selection_.takes(number)) continue;
    ++shown_;
    return number;
  }
  return std::nullopt;
}

double mean_us(const Duration& total, const OperatorRow& row) {
  return row.count == 0 ? 0 : total.us / static_cast<double>(row.count);
}

bool counts_as_device_time(const OperatorRows& facts, const OperatorRow& row) {
  if (facts.device_time_on_operators) return true;
  return row.device_type != DeviceType::cpu && row.device_type != DeviceType::hpu &&
         !row.is_user_annotation;
}

}  // namespace tbtrace::report
