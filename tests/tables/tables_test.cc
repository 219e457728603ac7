#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/gpu.h>
#include <tbtrace/kernels.h>
#include <tbtrace/report.h>
#include <tbtrace/tables.h>

#include "fixtures/trace_rows.h"

namespace tbtrace {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

const ReportOptions kJson = {.format = TableFormat::json};

Trace gpu_step(ArgumentSet arguments = ArgumentSet::all()) {
  return *read_trace(TBTRACE_TEST_DATA "/gpu_step.json", {.arguments = arguments});
}

Trace without_events() {
  TraceBuilder builder;
  return fixtures::finished(builder);
}

std::vector<std::string> names_of(const std::vector<ColumnDescription>& columns) {
  std::vector<std::string> names;
  for (const ColumnDescription& column : columns) names.emplace_back(column.name);
  return names;
}

std::string message(std::string_view table, const OptionValues& options,
                    const Trace& trace = without_events()) {
  return make_table(table, trace, options).status().message();
}

TEST(Tables, AreFoundByTheirNames) {
  std::set<std::string_view> names;
  for (const TableDescription* const table : tables()) {
    EXPECT_TRUE(names.insert(table->name).second) << table->name;
    EXPECT_EQ(table_named(table->name), table);
    EXPECT_EQ(table->schema.substr(0, table->schema.find('/')),
              "tbtrace." + std::string(table->name));
  }
  EXPECT_EQ(table_named("no such table"), nullptr);
  EXPECT_THAT(message("no such table", {}), HasSubstr("there is no table 'no such table'"));
}

TEST(Tables, HaveTheColumnsAndTotalsThatAreDescribed) {
  for (const TableDescription* const table : tables()) {
    if (table->make == nullptr) continue;
    SCOPED_TRACE(table->name);
    const AnalysisReport report = *make_table(*table, gpu_step());
    EXPECT_EQ(report.schema, table->schema);
    EXPECT_EQ(report.table.columns, table->column_names());
    std::vector<std::string> totals;
    for (const auto& [name, cell] : report.totals) totals.push_back(name);
    EXPECT_EQ(totals, names_of(table->totals));
    for (const std::string_view key : table->sort_keys) {
      EXPECT_TRUE(report_rows(report, {.sort_by = std::string(key)}).ok()) << key;
    }
  }
}

TEST(Tables, AreWhatTheirOwnFunctionsMake) {
  const Trace trace = gpu_step();
  EXPECT_EQ(
      *report_text(*make_table("gpu", trace,
                               {{"group_by", std::string("stream")},
                                {"kernel_wait_limit_ns", std::int64_t{5}}}),
                   kJson),
      *report_text(*gpu_report(trace, {.by_stream = true, .kernel_wait_limit_ns = 5}), kJson));
  EXPECT_EQ(*report_text(*make_table("kernels", trace,
                                     {{"group_by", std::vector<std::string>{"family", "device"}}}),
                         kJson),
            *report_text(*kernels_report(
                             trace, {.group_by = KernelGrouping::family, .by = {GroupKey::device}}),
                         kJson));
  EXPECT_EQ(*report_text(*make_table("kernels", trace, {{"per_event", true}}), kJson),
            *report_text(*kernel_launches_report(trace), kJson));
}

TEST(Tables, FailForWrongOptions) {
  EXPECT_EQ(message("gpu", {{"group_by", std::string("thread")}}),
            "group_by takes 'device', 'stream', 'step', not 'thread'");
  EXPECT_EQ(message("gpu", {{"figures", std::string("torch")}}),
            "figures takes 'exact', 'plugin', not 'torch'");
  EXPECT_EQ(message("gpu", {{"kernel_wait_limit_ns", std::int64_t{-1}}}),
            "kernel_wait_limit_ns takes a number from 0");
  EXPECT_EQ(message("gpu", {{"kernel_wait_limit_ns", true}}),
            "kernel_wait_limit_ns has a value of a wrong type");
  EXPECT_EQ(message("gpu", {{"depth", std::int64_t{1}}}), "gpu() does not take the option 'depth'");
  EXPECT_EQ(message("steps", {{"steps", StepRange{5, 2}}}),
            "steps takes a number or two of them, such as 3 or (3, 5)");
  EXPECT_EQ(message("flops", {{"peak_flops_per_s", 0.0}}),
            "peak_flops_per_s takes a number above 0, or None");
  EXPECT_EQ(message("kernels", {{"group_by", std::vector<std::string>{"name", "colour"}}}),
            "group_by takes 'name', 'launch', 'operator', 'family', 'label', 'shape', 'stack', "
            "'module', 'line', "
            "'device', 'stream', 'thread', 'rank', 'step', not "
            "'colour'");
  EXPECT_EQ(message("kernels", {{"group_by", std::vector<std::string>{}}}), "group_by is empty");
  EXPECT_EQ(message("kernels", {{"per_event", true}, {"figures", std::string("plugin")}}),
            "per_event and figures plugin exclude each other");
  EXPECT_EQ(message("modules", {{"depth", std::int64_t{1}}, {"figures", std::string("plugin")}}),
            "figures plugin and depth exclude each other");
  EXPECT_THAT(message("check", {}), HasSubstr("made by a function of its own"));
}

TEST(Tables, FailIfTheirArgumentsWereNotRead) {
  const Trace trace = gpu_step(kOperatorArguments);
  const std::string sentence =
      "gpu() needs arguments that were not read (placement, launches, copies); read the trace with "
      "these groups in `arguments`";
  EXPECT_EQ(message("gpu", {}, trace), sentence);
  EXPECT_EQ(gpu_report(trace).status().message(), sentence);
  EXPECT_THAT(kernels_report(trace).status().message(), HasSubstr("(placement, launches)"));
  EXPECT_THAT(message("kernels", {{"figures", std::string("plugin")}}, trace),
              HasSubstr("(placement, launches)"));
  for (const TableDescription* const table : tables()) {
    if (table->make == nullptr) continue;
    EXPECT_TRUE(make_table(*table, gpu_step(table->arguments)).ok()) << table->name;
    EXPECT_EQ(make_table(*table, gpu_step({})).ok(), table->arguments == ArgumentSet())
        << table->name;
  }
}

TEST(Tables, LabelsOfKernelsNeedTheArgumentsOfGraphs) {
  const Trace trace = gpu_step(table_named("kernels")->arguments);
  EXPECT_TRUE(kernels_report(trace).ok());
  EXPECT_THAT(kernels_report(trace, {.group_by = KernelGrouping::label}).status().message(),
              HasSubstr("(graphs)"));
  EXPECT_THAT(kernel_launches_report(trace).status().message(), HasSubstr("(graphs)"));
}

TEST(Tables, SayWhatATraceHasToBeReadWith) {
  const TableDescription& kernels = *table_named("kernels");
  const auto arguments = [&](const OptionValues& options) {
    return arguments_for(kernels, *complete_options(kernels, options));
  };
  EXPECT_EQ(arguments({}), kernels.all_arguments());
  EXPECT_FALSE(arguments({{"figures", std::string("plugin")}}).contains(Argument::label));
  EXPECT_EQ(chosen_figures(kernels, {{"figures", std::string("plugin")}}), Figures::plugin);
  EXPECT_EQ(chosen_figures(kernels, {}), Figures::exact);
  const Trace trace = gpu_step({ArgumentGroup::copies});
  EXPECT_TRUE(trace.check_read({ArgumentGroup::copies}, "copies").ok());
  for (const ArgumentGroup group : kArgumentGroups) {
    const std::string named = "(" + std::string(argument_group_name(group)) + ")";
    const Status read = trace.check_read(ArgumentSet{group}, "all");
    if (!read.ok()) {
      EXPECT_THAT(read.message(), HasSubstr(named));
    }
  }
}

TEST(Tables, HaveAVerbThatMayBeAnotherWithAnOption) {
  EXPECT_EQ(table_named("gpu")->command(), "gpu");
  EXPECT_EQ(table_named("gaps")->command(), "gpu --gaps");
  std::set<std::string_view> verbs;
  for (const TableDescription* table : tables()) {
    EXPECT_TRUE(verbs.insert(table->command()).second) << table->command();
  }
}

TEST(Tables, OptionsHaveTheirDefaults) {
  const TableDescription& gpu = *table_named("gpu");
  OptionValues given;
  given.set("steps", StepRange{3, 5});
  const OptionValues gpu_values = *complete_options(gpu, given);
  EXPECT_EQ(gpu_values.text("group_by"), "device");
  EXPECT_EQ(gpu_values.whole("kernel_wait_limit_ns"), 30000);
  EXPECT_EQ(gpu_values.steps(), (StepRange{3, 5}));
  EXPECT_EQ(gpu_values.number("peak_flops_per_s"), std::nullopt);
  EXPECT_EQ(gpu.option("steps")->help, steps_option().help);
  EXPECT_EQ(gpu.option("figures")->type, figures_option("", "").type);
  EXPECT_EQ(gpu.option("depth"), nullptr);
  EXPECT_FALSE(complete_options(*table_named("lines"), {})->flag("libraries"));
  EXPECT_THAT(complete_options(*table_named("kernels"), {})->texts("group_by"),
              testing::ElementsAre("name"));
}

TEST(Tables, SayWhyTheyHaveNoRows) {
  const Trace trace = without_events();
  const auto why = [&](std::string_view name, const OptionValues& options, const Trace* of) {
    const TableDescription& table = *table_named(name);
    return why_no_rows(table, *complete_options(table, options), of);
  };
  EXPECT_EQ(why("gpu", {}, &trace),
            "the trace has no kernels, memcpys or memsets; record CUDA activities too");
  EXPECT_EQ(why("kernels", {{"per_event", true}}, nullptr),
            "the trace has no kernels with a launch; record CUDA activities too");
  EXPECT_EQ(why("memory", {}, nullptr),
            "the trace has no allocations; record with profile_memory=True");
  EXPECT_EQ(why("steps", {}, &trace), "the trace has neither steps nor operators");
  EXPECT_THAT(why("lines", {{"libraries", false}}, &trace),
              HasSubstr("no lines of the program's own; record with with_stack=True"));
}

TEST(Tables, ColumnsHaveTheUnitsThatTheirNamesEndIn) {
  const auto unit = [](std::string_view name) { return ColumnDescription{.name = name}.unit(); };
  EXPECT_EQ(unit("busy_ns"), "ns");
  EXPECT_EQ(unit("peak_bytes"), "bytes");
  EXPECT_EQ(unit("flops_per_s"), "per_s");
  EXPECT_EQ(unit("ns"), "");
  EXPECT_EQ(unit("columns"), "");
}

TEST(Tables, ColumnsAreReadFromLines) {
  const std::vector<ColumnDescription> columns =
      columns_in("\na | text\nb_ns | integer or null | 1 | 2\nc | any\n");
  ASSERT_THAT(columns, SizeIs(3));
  EXPECT_EQ(columns[0].type, ValueType::text);
  EXPECT_FALSE(columns[0].has_nulls);
  EXPECT_EQ(columns[0].meaning, "");
  EXPECT_EQ(columns[1].type, ValueType::integer);
  EXPECT_TRUE(columns[1].has_nulls);
  EXPECT_EQ(columns[1].meaning, "1 | 2");
  EXPECT_EQ(columns[2].type, ValueType::any);
  EXPECT_EQ(columns[2].type_text(), "any");
  EXPECT_THROW(static_cast<void>(columns_in("a | words\n")), std::invalid_argument);
}

TEST(Tables, AreFoundBySchema) {
  EXPECT_EQ(table_of_schema("tbtrace.gpu/1"), table_named("gpu"));
  EXPECT_EQ(table_of_schema("tbtrace.gpu/9"), nullptr);
  ASSERT_NE(table_of_schema("tbtrace.diff/1"), nullptr);
  EXPECT_NE(table_of_schema("tbtrace.diff/1")->column("low"), nullptr);
  EXPECT_EQ(table_named("gpu")->column("sm_efficiency_percent")->type, ValueType::number);
  EXPECT_EQ(table_named("gpu")->column("none"), nullptr);
}

}  // namespace
}  // namespace tbtrace
