// Modules against what torch-tb-profiler's own backend answered for the recorded traces.
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <simdjson.h>

#include "analyses/compat/plugin/modules.h"
#include "reference/compat/plugin_answers.h"
#include "reference/recorded_traces.h"

namespace tbtrace::reference {
namespace {

namespace dom = simdjson::dom;
using analyses::plugin_modules;
using analyses::PluginModule;

/// Parents before children, as in the answer.
void add_rows(const dom::element& modules, std::optional<std::size_t> parent,
              std::vector<PluginModule>& rows) {
  for (const dom::element module : modules.get_array()) {
    PluginModule row;
    row.name = std::string(std::string_view(module["name"]));
    row.id = module["id"];
    row.occurrences = module["occurences"];
    row.operators = module["operators"];
    row.host_duration_us = module["host_duration"];
    row.self_host_duration_us = module["self_host_duration"];
    row.device_duration_us = module["device_duration"];
    row.self_device_duration_us = module["self_device_duration"];
    row.avg_duration_us = module["avg_duration"];
    row.depth = parent ? rows[*parent].depth + 1 : 0;
    row.parent = parent;
    const std::size_t place = rows.size();
    rows.push_back(row);
    add_rows(module["children"], place, rows);
  }
}

TEST(PluginModules, AreThoseOfThePluginsViewsInEveryRecordedTrace) {
  std::size_t files = 0;
  std::size_t rows = 0;
  for (const std::string& file :
       trace_files({"traces/hta", "traces/minimal", "traces/tb_plugin"})) {
    SCOPED_TRACE(file);
    const Result<Trace> trace = read_trace(file, {.arguments = {ArgumentGroup::python}});
    ASSERT_TRUE(trace.ok()) << trace.status().message();
    std::vector<PluginModule> expected;
    const std::string answer = plugin_answer(file, "module");
    dom::parser parser;
    if (!answer.empty()) add_rows(parser.parse(answer)["data"], std::nullopt, expected);
    EXPECT_EQ(plugin_modules(*trace), expected);
    ++files;
    rows += expected.size();
  }
  EXPECT_EQ(files, 52U);
  EXPECT_EQ(rows, 13U);
}

}  // namespace
}  // namespace tbtrace::reference
