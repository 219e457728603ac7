#include "trace/categories.h"

#include <array>
#include <set>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace tbtrace {
namespace {

struct Row {
  std::string_view name;
  EventKind kind;
  DeviceType device;
  DeviceType family;
};

constexpr DeviceType kCpu = DeviceType::cpu;
constexpr DeviceType kCuda = DeviceType::cuda;
constexpr DeviceType kMtia = DeviceType::mtia;
constexpr DeviceType kOther = DeviceType::privateuse1;

// What torch writes today, and what it wrote in 2020 and 2021 where that differs.
constexpr auto kRows = std::to_array<Row>({
    {"", EventKind::cpu_op, kCpu, kCpu},
    {"cpu_op", EventKind::cpu_op, kCpu, kCpu},
    {"Operator", EventKind::cpu_op, kCpu, kCpu},
    {"user_annotation", EventKind::user_annotation, kCpu, kCpu},
    {"python_function", EventKind::python_function, kCpu, kCpu},
    {"Python", EventKind::python_function, kCpu, kCpu},
    {"cuda_runtime", EventKind::runtime, kCpu, kCuda},
    {"Runtime", EventKind::runtime, kCpu, kCuda},
    {"cuda_driver", EventKind::runtime, kCpu, kCuda},
    {"xpu_runtime", EventKind::runtime, kCpu, DeviceType::xpu},
    {"xpu_driver", EventKind::runtime, kCpu, DeviceType::xpu},
    {"mtia_runtime", EventKind::runtime, kCpu, kMtia},
    {"privateuse1_runtime", EventKind::runtime, kCpu, kOther},
    {"privateuse1_driver", EventKind::runtime, kCpu, kOther},
    {"glow_runtime", EventKind::runtime, kCpu, kCpu},
    {"overhead", EventKind::overhead, kCpu, kCpu},
    {"kernel", EventKind::kernel, kCuda, kCuda},
    {"Kernel", EventKind::kernel, kCuda, kCuda},
    {"gpu_memcpy", EventKind::gpu_memcpy, kCuda, kCuda},
    {"Memcpy", EventKind::gpu_memcpy, kCuda, kCuda},
    {"gpu_memset", EventKind::gpu_memset, kCuda, kCuda},
    {"Memset", EventKind::gpu_memset, kCuda, kCuda},
    {"gpu_user_annotation", EventKind::gpu_user_annotation, kCuda, kCuda},
    {"cuda_sync", EventKind::device_other, kCuda, kCuda},
    {"cuda_profiler_range", EventKind::device_other, kCuda, kCuda},
    {"mtia_ccp_events", EventKind::kernel, kMtia, kMtia},
    {"mtia_insight", EventKind::device_other, kMtia, kMtia},
    {"mtia_counters", EventKind::device_other, kMtia, kMtia},
    {"hpu_op", EventKind::kernel, DeviceType::hpu, DeviceType::hpu},
    {"xpu_sync", EventKind::device_other, DeviceType::xpu, DeviceType::xpu},
    {"Trace", EventKind::trace_span, kCpu, kCpu},
});

TEST(Categories, MeanWhatTheirWritersMeant) {
  for (const Row& row : kRows) {
    const CategoryMeaning meaning = meaning_of_category(row.name);
    EXPECT_EQ(meaning.kind, row.kind) << row.name;
    EXPECT_EQ(meaning.device, row.device) << row.name;
    EXPECT_EQ(meaning.family, row.family) << row.name;
  }
}

TEST(Categories, AreTheSameInAnyCase) {
  for (const Row& row : kRows) {
    std::string upper;
    for (const char c : row.name) upper += c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
    const CategoryMeaning meaning = meaning_of_category(upper);
    EXPECT_EQ(meaning.kind, row.kind) << upper;
    EXPECT_EQ(meaning.device, row.device) << upper;
  }
}

TEST(Categories, ThatNobodyKnowsAreRangesOfTheHost) {
  for (const std::string_view name :
       {"kernels", "cpu_op ", "cpu", "ac2g", "\xc3\x84", "[memory]"}) {
    const CategoryMeaning meaning = meaning_of_category(name);
    EXPECT_EQ(meaning.kind, EventKind::other) << name;
    EXPECT_EQ(meaning.device, kCpu) << name;
    EXPECT_EQ(meaning.family, kCpu) << name;
    EXPECT_TRUE(is_host_range(meaning.kind));
  }
}

TEST(Categories, TellHostRangesFromWorkOfDevices) {
  for (const Row& row : kRows) {
    EXPECT_FALSE(is_host_range(row.kind) && is_device_work(row.kind)) << row.name;
    const bool on_host = row.device == kCpu;
    EXPECT_FALSE(is_device_work(row.kind) && on_host) << row.name;
    EXPECT_TRUE(!is_host_range(row.kind) || on_host) << row.name;
  }
  EXPECT_FALSE(is_device_work(EventKind::gpu_user_annotation));
  EXPECT_FALSE(is_device_work(EventKind::device_other));
  EXPECT_FALSE(is_host_range(EventKind::overhead));
  EXPECT_FALSE(is_host_range(EventKind::trace_span));
}

TEST(EventKinds, HaveNames) {
  EXPECT_EQ(event_kind_name(EventKind::cpu_op), "cpu_op");
  EXPECT_EQ(event_kind_name(EventKind::trace_span), "trace_span");
}

}  // namespace
}  // namespace tbtrace
