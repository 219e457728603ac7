// Kernel summaries against what torch-tb-profiler's own backend answered. HolisticTraceAnalysis
// runs in tests/e2e/hta/figures_test.py.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <simdjson.h>

#include <tbtrace/kernels.h>

#include "analyses/compat/plugin/kernels.h"
#include "analyses/compat/plugin/tensor_cores.h"
#include "reference/compat/plugin_answers.h"
#include "reference/recorded_traces.h"

namespace tbtrace::reference {
namespace {

namespace dom = simdjson::dom;

using Cells = std::vector<dom::element>;

/// Rows of one of the plugin's tables, without a view: none.
std::vector<Cells> rows_of(const dom::element& table) {
  std::vector<Cells> rows;
  for (const dom::element row : table["data"]["rows"].get_array()) {
    Cells& cells = rows.emplace_back();
    for (const dom::element cell : row.get_array()) cells.push_back(cell);
  }
  return rows;
}

double number(const dom::element& element) { return double(element); }
std::string text(const dom::element& element) { return std::string(std::string_view(element)); }

/// The plugin's doubles in us have a few bits less than ours in ns.
double slack(double us) { return 0.0005 + std::abs(us) * 1e-9; }

/// Whether ours may round to theirs; Python rounds halves to even.
bool rounds_to(double ns, double us) { return std::abs(ns / 1000 - us) <= 0.5 + slack(us); }

void expect_figures(const KernelGroup& found, const Cells& cells, std::size_t at, bool is_rounded) {
  EXPECT_EQ(static_cast<double>(found.count), number(cells[at]));
  const auto near = [&](double ns, const dom::element& us) {
    return is_rounded ? rounds_to(ns, number(us))
                      : std::abs(ns / 1000 - number(us)) <= slack(number(us));
  };
  EXPECT_TRUE(near(static_cast<double>(found.total_ns), cells[at + 1])) << found.total_ns;
  EXPECT_TRUE(rounds_to(found.mean_ns, number(cells[at + 2]))) << found.mean_ns;
  EXPECT_TRUE(near(static_cast<double>(found.max_ns), cells[at + 3])) << found.max_ns;
  EXPECT_TRUE(near(static_cast<double>(found.min_ns), cells[at + 4])) << found.min_ns;
  const bool has_blocks = found.blocks_per_sm.has_value();
  const bool has_occupancy = found.occupancy_percent.has_value();
  ASSERT_EQ(cells.size(), at + 5 + (has_blocks ? 1 : 0) + (has_occupancy ? 1 : 0));
  constexpr double kRounding = 0.005 + 1e-9;
  if (has_blocks) {
    EXPECT_NEAR(*found.blocks_per_sm, number(cells[at + 5]), kRounding);
  }
  if (has_occupancy) {
    EXPECT_NEAR(*found.occupancy_percent, number(cells.back()), kRounding);
  }
}

/// Returns the number of rows.
std::size_t expect_by_name(const Trace& trace, const std::string& answer,
                           const std::string& cores) {
  dom::parser parser;
  const std::vector<Cells> expected = rows_of(parser.parse(answer));
  const KernelSummary found = *analyses::plugin_kernel_summary(trace);
  EXPECT_EQ(found.groups.size(), expected.size());
  if (found.groups.size() != expected.size()) return 0;
  std::map<std::string, const KernelGroup*> groups;
  for (const KernelGroup& group : found.groups) groups[group.name] = &group;
  for (std::size_t row = 0; row < expected.size(); ++row) {
    const Cells& cells = expected[row];
    SCOPED_TRACE(text(cells[0]));
    // The order of equal sums depends on the version of numpy.
    EXPECT_TRUE(rounds_to(static_cast<double>(found.groups[row].total_ns), number(cells[3])));
    const auto group = groups.find(text(cells[0]));
    EXPECT_NE(group, groups.end());
    if (group == groups.end()) continue;
    EXPECT_EQ(*group->second->tensor_cores_used ? "Yes" : "No", text(cells[1]));
    expect_figures(*group->second, cells, 2, true);
  }
  const dom::element pie = parser.parse(cores);
  const double share = number(pie["total"]["rows"].at(0).at(1));
  const double total = static_cast<double>(found.all.total_ns);
  EXPECT_NEAR(total > 0 ? static_cast<double>(found.all.tensor_core_ns) / total : 0, share, 1e-6);
  return expected.size();
}

std::string sizes(const std::optional<Dim3>& dim) {
  if (!dim) return "None";
  return "[" + std::to_string(dim->x) + ", " + std::to_string(dim->y) + ", " +
         std::to_string(dim->z) + "]";
}

using LaunchKey =
    std::tuple<std::string, std::string, std::string, std::string, std::string, std::string>;

/// Returns the number of rows.
std::size_t expect_by_launch(const Trace& trace, const std::string& answer) {
  dom::parser parser;
  const std::vector<Cells> expected = rows_of(parser.parse(answer));
  const KernelSummary found =
      *analyses::plugin_kernel_summary(trace, {.group_by = KernelGrouping::launch});
  EXPECT_EQ(found.groups.size(), expected.size());
  if (found.groups.size() != expected.size()) return 0;
  std::map<LaunchKey, const KernelGroup*> groups;
  for (const KernelGroup& group : found.groups) {
    groups[{group.name, group.op, sizes(group.grid), sizes(group.block),
            std::to_string(group.registers.value_or(0)),
            std::to_string(group.shared_memory_bytes.value_or(0))}] = &group;
  }
  EXPECT_EQ(groups.size(), expected.size());
  for (std::size_t row = 0; row < expected.size(); ++row) {
    const Cells& cells = expected[row];
    SCOPED_TRACE(text(cells[0]) + " " + text(cells[1]) + " " + text(cells[2]) + text(cells[3]));
    const double us = number(cells[9]);
    EXPECT_NEAR(static_cast<double>(found.groups[row].total_ns) / 1000, us, slack(us));
    const auto group = groups.find({text(cells[0]), text(cells[1]), text(cells[2]), text(cells[3]),
                                    text(cells[4]), text(cells[5])});
    EXPECT_NE(group, groups.end());
    if (group == groups.end()) continue;
    EXPECT_EQ(*group->second->tensor_cores_used ? "Yes" : "No", text(cells[6]));
    EXPECT_EQ(analyses::is_eligible_in_plugin(group->second->op) ? "Yes" : "No", text(cells[7]));
    expect_figures(*group->second, cells, 8, false);
  }
  return expected.size();
}

/// Calls `check` with each trace that the plugin loaded. Returns how many have kernels.
template <typename Check>
std::size_t for_each_kernel_answer(Check check) {
  std::size_t with_kernels = 0;
  for (const std::string& file :
       trace_files({"traces/hta", "traces/minimal", "traces/tb_plugin"})) {
    SCOPED_TRACE(file);
    ReadOptions options;
    options.arguments = {ArgumentGroup::launches, ArgumentGroup::placement};
    const Result<Trace> trace = read_trace(file, options);
    EXPECT_TRUE(trace.ok());
    if (trace.ok()) with_kernels += check(*trace, file);
  }
  return with_kernels;
}

TEST(KernelSummary, OfThePluginIsThePlugins) {
  std::size_t names = 0;
  std::size_t launches = 0;
  const std::size_t files =
      for_each_kernel_answer([&](const Trace& trace, const std::string& file) {
        const std::string by_name = plugin_answer(file, "kernel_table");
        if (by_name.empty()) {
          EXPECT_EQ((*analyses::plugin_kernel_summary(trace)).all.count, 0U);
          return false;
        }
        names += expect_by_name(trace, by_name, plugin_answer(file, "tc_pie"));
        launches += expect_by_launch(trace, plugin_answer(file, "kernel_op_table"));
        return true;
      });
  EXPECT_EQ(names, 1089U);
  EXPECT_EQ(launches, 1092U);
  EXPECT_EQ(files, 38U);
}

TEST(KernelSummary, IsThePluginsByNameWhereCategoriesAreTheSame) {
  const std::size_t files = for_each_kernel_answer([](const Trace& trace, const std::string& file) {
    const std::string by_name = plugin_answer(file, "kernel_table");
    if (by_name.empty()) return false;
    dom::parser parser;
    const KernelSummary found = *kernel_summary(trace);
    std::map<std::string, const KernelGroup*> groups;
    for (const KernelGroup& group : found.groups) groups[group.name] = &group;
    for (const Cells& cells : rows_of(parser.parse(by_name))) {
      const auto group = groups.find(text(cells[0]));
      EXPECT_NE(group, groups.end()) << text(cells[0]);
      if (group == groups.end()) continue;
      EXPECT_EQ(static_cast<double>(group->second->count), number(cells[2]));
      EXPECT_TRUE(rounds_to(static_cast<double>(group->second->total_ns), number(cells[3])));
    }
    std::int64_t by_op = 0;
    const KernelSummary of_operators = *kernel_summary(trace, {.group_by = KernelGrouping::op});
    for (const KernelGroup& group : of_operators.groups) by_op += group.total_ns;
    EXPECT_EQ(by_op, found.all.total_ns);
    return true;
  });
  EXPECT_EQ(files, 38U);
}

/// A figure of HolisticTraceAnalysis's own tests (tests/test_parser_config.py).
TEST(KernelSummary, FindsTheCollectivesThatHtaTestsFor) {
  ReadOptions options;
  options.arguments = {ArgumentGroup::launches};
  const Result<Trace> trace = read_trace(
      std::string(TBTRACE_SHARED) + "/traces/hta/nccl_parser_config/nccl_data.json.gz", options);
  ASSERT_TRUE(trace.ok());
  const KernelSummary found = *kernel_summary(*trace, {.group_by = KernelGrouping::family});
  for (const KernelGroup& group : found.groups) {
    if (group.family == KernelFamily::collective) {
      EXPECT_EQ(group.count, 21U);
    }
  }
  EXPECT_TRUE(std::any_of(found.groups.begin(), found.groups.end(), [](const KernelGroup& group) {
    return group.family == KernelFamily::collective;
  }));
}

}  // namespace
}  // namespace tbtrace::reference
