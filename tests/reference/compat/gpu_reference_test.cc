// Device use against the overview that torch-tb-profiler's own backend answered.
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <simdjson.h>

#include <tbtrace/gpu.h>

#include "analyses/compat/plugin/gpu_use.h"
#include "reference/compat/plugin_answers.h"
#include "reference/recorded_traces.h"

namespace tbtrace::reference {
namespace {

namespace dom = simdjson::dom;

/// Figures in percent by title, by device.
using Overview = std::map<std::string, std::map<std::string, double>>;

Overview overview_of(const std::string& trace_path) {
  const std::string text = plugin_answer(trace_path, "overview");
  constexpr std::string_view kKey = "\"gpu_metrics\": ";
  Overview overview;
  if (text.find(std::string(kKey) + "{") == std::string::npos) return overview;
  dom::parser parser;
  const std::string metrics(object_behind(text, kKey));
  const dom::element answer = parser.parse(metrics);
  std::string device;
  for (const dom::element row : answer["data"].get_array()) {
    const std::string title{std::string_view(row["title"])};
    const std::string value{std::string_view(row["value"])};
    if (title.starts_with("GPU ") && title.ends_with(":")) {
      device = title.substr(4, title.size() - 5);
      overview[device];
    } else if (value.ends_with(" %")) {
      overview[device][title] = std::stod(value);
    }
  }
  return overview;
}

void expect_figure(const std::map<std::string, double>& expected, const std::string& title,
                   const std::optional<double>& percent) {
  const auto found = expected.find(title);
  ASSERT_EQ(found != expected.end(), percent.has_value()) << title;
  if (percent) {
    EXPECT_NEAR(*percent, found->second, 0.005 + 1e-9) << title;
  }
}

std::optional<double> percent(const std::optional<double>& share) {
  return share ? std::optional(100 * *share) : std::nullopt;
}

TEST(GpuUse, OfThePluginIsThePlugins) {
  std::size_t devices = 0;
  for (const std::string& file :
       trace_files({"traces/hta", "traces/minimal", "traces/tb_plugin"})) {
    SCOPED_TRACE(file);
    ReadOptions options;
    options.arguments = {ArgumentGroup::launches};
    const Result<Trace> trace = read_trace(file, options);
    ASSERT_TRUE(trace.ok());
    const Overview overview = overview_of(file);
    const auto rows = analyses::plugin_gpu_use(*trace);
    ASSERT_EQ(rows.size(), overview.size());
    for (const analyses::PluginGpuUse& use : rows) {
      const auto expected = overview.find(std::to_string(use.device));
      ASSERT_NE(expected, overview.end()) << use.device;
      expect_figure(expected->second, "GPU Utilization", 100 * use.busy_share());
      expect_figure(expected->second, "Est. SM Efficiency", percent(use.sm_efficiency));
      expect_figure(expected->second, "Est. Achieved Occupancy", use.occupancy_percent);
      expect_figure(expected->second, "Kernel Time using Tensor Cores",
                    percent(use.tensor_core_share));
      ++devices;
    }
  }
  EXPECT_EQ(devices, 38U);
}

}  // namespace
}  // namespace tbtrace::reference
