#include "trace/categories.h"

#include <algorithm>
#include <array>

#include "base/characters.h"

namespace tbtrace {
namespace {

struct Row {
  std::string_view name;
  CategoryMeaning meaning;
};

constexpr DeviceType kCpu = DeviceType::cpu;
constexpr DeviceType kCuda = DeviceType::cuda;

constexpr std::array kRows = std::to_array<Row>({
    {"", {EventKind::cpu_op, kCpu, kCpu}},
    {"cpu_op", {EventKind::cpu_op, kCpu, kCpu}},
    {"operator", {EventKind::cpu_op, kCpu, kCpu}},
    {"user_annotation", {EventKind::user_annotation, kCpu, kCpu}},
    {"python_function", {EventKind::python_function, kCpu, kCpu}},
    {"python", {EventKind::python_function, kCpu, kCpu}},
    {"runtime", {EventKind::runtime, kCpu, kCuda}},
    {"cuda_runtime", {EventKind::runtime, kCpu, kCuda}},
    {"cuda_driver", {EventKind::runtime, kCpu, kCuda}},
    {"glow_runtime", {EventKind::runtime, kCpu, kCpu}},
    {"mtia_runtime", {EventKind::runtime, kCpu, DeviceType::mtia}},
    {"xpu_runtime", {EventKind::runtime, kCpu, DeviceType::xpu}},
    {"xpu_driver", {EventKind::runtime, kCpu, DeviceType::xpu}},
    {"privateuse1_runtime", {EventKind::runtime, kCpu, DeviceType::privateuse1}},
    {"privateuse1_driver", {EventKind::runtime, kCpu, DeviceType::privateuse1}},
    {"overhead", {EventKind::overhead, kCpu, kCpu}},
    {"kernel", {EventKind::kernel, kCuda, kCuda}},
    {"gpu_memcpy", {EventKind::gpu_memcpy, kCuda, kCuda}},
    {"memcpy", {EventKind::gpu_memcpy, kCuda, kCuda}},
    {"gpu_memset", {EventKind::gpu_memset, kCuda, kCuda}},
    {"memset", {EventKind::gpu_memset, kCuda, kCuda}},
    {"gpu_user_annotation", {EventKind::gpu_user_annotation, kCuda, kCuda}},
    {"cuda_sync", {EventKind::device_other, kCuda, kCuda}},
    {"cuda_profiler_range", {EventKind::device_other, kCuda, kCuda}},
    {"mtia_ccp_events", {EventKind::kernel, DeviceType::mtia, DeviceType::mtia}},
    {"mtia_insight", {EventKind::device_other, DeviceType::mtia, DeviceType::mtia}},
    {"mtia_counters", {EventKind::device_other, DeviceType::mtia, DeviceType::mtia}},
    {"hpu_op", {EventKind::kernel, DeviceType::hpu, DeviceType::hpu}},
    {"xpu_sync", {EventKind::device_other, DeviceType::xpu, DeviceType::xpu}},
    {"ascend_hardware",
     {EventKind::kernel, DeviceType::privateuse1, DeviceType::privateuse1}},  // by process name
    {"ascend_host", {EventKind::other, kCpu, kCpu}},
    // Like the previous two, assigned by process and thread names: device_tracks.cc.
    {"device_line", {EventKind::device_other, kCuda, kCuda}},
    {"tpu_op", {EventKind::kernel, DeviceType::privateuse1, DeviceType::privateuse1}},
    {"trace", {EventKind::trace_span, kCpu, kCpu}},
});

bool same_letters(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower_case(x) == lower_case(y); });
}

}  // namespace

std::string_view event_kind_name(EventKind kind) {
  constexpr std::array<std::string_view, 12> kNames = {"cpu_op",
                                                       "user_annotation",
                                                       "python_function",
                                                       "runtime",
                                                       "other",
                                                       "overhead",
                                                       "kernel",
                                                       "gpu_memcpy",
                                                       "gpu_memset",
                                                       "device_other",
                                                       "gpu_user_annotation",
                                                       "trace_span"};
  return kNames.at(static_cast<std::size_t>(kind));
}

CategoryMeaning meaning_of_category(std::string_view name) {
  for (const Row& row : kRows) {
    if (same_letters(row.name, name)) return row.meaning;
  }
  return {EventKind::other, DeviceType::cpu, DeviceType::cpu};
}

bool is_known_category(std::string_view name) {
  return !name.empty() && std::any_of(kRows.begin(), kRows.end(),
                                      [&](const Row& row) { return same_letters(row.name, name); });
}

}  // namespace tbtrace
