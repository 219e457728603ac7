#include "report/row_order.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <utility>

namespace tbtrace::report {
namespace {

/// torch divides as Python does; a row without calls does not occur.
double mean(const Duration& total, const OperatorRow& row) {
  return row.count == 0 ? 0 : 1.0 * total.us / static_cast<double>(row.count);
}

double number(std::int64_t value) { return static_cast<double>(value); }

struct SortKey {
  std::string_view name;
  double (*value)(const OperatorRow& row);
};

constexpr std::array kSortKeys = std::to_array<SortKey>({
    {"cpu_time", [](const OperatorRow& r) { return mean(r.cpu_time_total, r); }},
    {"cpu_time_total", [](const OperatorRow& r) { return r.cpu_time_total.us; }},
    {"self_cpu_time_total", [](const OperatorRow& r) { return r.self_cpu_time_total.us; }},
    {"device_time", [](const OperatorRow& r) { return mean(r.device_time_total, r); }},
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

Result<std::vector<std::size_t>> sorted_rows(std::span<const OperatorRow> rows,
                                             std::string_view sort_by) {
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0);
  if (sort_by.empty()) return order;
  const std::string wanted = canonical_key(sort_by);
  if (wanted == "key") {
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return rows[a].key > rows[b].key; });
    return order;
  }
  const auto key = std::find_if(kSortKeys.begin(), kSortKeys.end(),
                                [&](const SortKey& k) { return k.name == wanted; });
  if (key == kSortKeys.end()) {
    std::string message = "cannot sort by '" + std::string(sort_by) + "'; use one of";
    for (const SortKey& known : kSortKeys) message += " " + std::string(known.name);
    return Status(StatusCode::invalid_argument, message + " key (cuda_, xpu_ mean device_)");
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return key->value(rows[a]) > key->value(rows[b]);
  });
  return order;
}

bool counts_as_device_time(const OperatorRows& rows, const OperatorRow& row) {
  if (rows.device_time_on_operators) return true;
  return row.device_type != DeviceType::cpu && row.device_type != DeviceType::hpu &&
         !row.is_user_annotation;
}

}  // namespace tbtrace::report
