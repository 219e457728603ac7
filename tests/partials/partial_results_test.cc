// The tables of merged partials against sums of what each trace gives by itself.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tbtrace/checks.h>
#include <tbtrace/flame_graph.h>
#include <tbtrace/partial.h>
#include <tbtrace/steps.h>
#include <tbtrace/tables.h>
#include <tbtrace/trace_set.h>

#include "analyses/attribution/communication.h"
#include "fixtures/random_rounds.h"
#include "partials/kernel_tables.h"
#include "partials/place_tables.h"
#include "random_traces.h"

namespace tbtrace::partials {
namespace {

const ReportOptions kJson = {.format = TableFormat::json};

using Sums = std::vector<std::int64_t>;

void add(Sums& sum, const Sums& more) {
  sum.resize(more.size());
  for (std::size_t figure = 0; figure < more.size(); ++figure) sum[figure] += more[figure];
}

Sums costs_of(const ModuleCost& cost) {
  return {cost.cpu_time_total_ns,
          cost.self_cpu_time_ns,
          cost.device_time_total_ns,
          cost.self_device_time_ns,
          cost.backward_cpu_time_ns,
          cost.backward_device_time_ns,
          cost.cpu_memory_bytes,
          cost.device_memory_bytes,
          cost.self_cpu_memory_bytes,
          cost.self_device_memory_bytes,
          static_cast<std::int64_t>(cost.macs),
          static_cast<std::int64_t>(cost.flops),
          static_cast<std::int64_t>(cost.backward_macs),
          static_cast<std::int64_t>(cost.backward_flops)};
}

/// Some traces, and the partial of all after it was written and read.
class Job {
 public:
  explicit Job(unsigned seed) {
    std::optional<Partial> sum;
    for (unsigned number = 0; number < 1 + seed % 4; ++number) {
      const unsigned of_trace = 31 * seed + number;
      traces.push_back(random_trace(of_trace));
      names.push_back(random_name(of_trace));
      Partial one = *Partial::of(traces.back(), names.back());
      if (!sum) {
        sum = std::move(one);
      } else {
        EXPECT_TRUE(sum->merge(one).ok());
      }
    }
    partial = *parse_partial(*partial_bytes(*sum));
  }

  std::vector<Trace> traces;
  std::vector<std::string> names;
  std::optional<Partial> partial;
};

/// Calls `check` with random jobs.
template <typename Check>
void for_random_jobs(Check check) {
  for (unsigned seed = 0; seed < fixtures::random_rounds(300u); ++seed) {
    SCOPED_TRACE(seed);
    ASSERT_NO_FATAL_FAILURE(check(Job(seed), seed));
  }
}

TEST(PartialResults, OperatorsAreThoseThatTheTracesGiveTogether) {
  for_random_jobs([](const Job& job, unsigned seed) {
    const SummaryOptions options = {.group_by_input_shape = seed % 2 == 0,
                                    .group_by_stack_n = seed % 3 == 0 ? 5 : 0,
                                    .stack_source = StackSource::either,
                                    .group_by_overload_name = seed % 5 == 0};
    ExactSummaryBuilder builder(options);
    for (const Trace& trace : job.traces) builder.add(trace);
    ASSERT_EQ(*operator_summary(*job.partial, options)->json(),
              *std::move(builder).finish().json());
  });
}

using KernelKey = std::tuple<std::string, std::string, int, std::string>;

std::string sizes_of(const KernelGroup& group) {
  std::string text;
  for (const auto& sizes : {group.grid, group.block}) {
    if (sizes) text += std::to_string(sizes->x) + "x" + std::to_string(sizes->y) + ";";
  }
  for (const auto& number : {group.registers, group.shared_memory_bytes}) {
    if (number) text += std::to_string(*number) + ";";
  }
  return text;
}

Sums kernel_sums(const KernelGroup& group) {
  return {static_cast<std::int64_t>(group.count),
          group.total_ns,
          group.tensor_core_ns,
          static_cast<std::int64_t>(group.launches),
          static_cast<std::int64_t>(group.without_launch),
          group.launch_call_ns,
          group.launch_delay_total_ns,
          static_cast<std::int64_t>(group.short_kernels)};
}

TEST(PartialResults, KernelsAreTheSumsOfThoseOfEachTrace) {
  for_random_jobs([](const Job& job, unsigned seed) {
    const auto group_by = static_cast<KernelGrouping>(seed % 4);
    std::map<KernelKey, Sums> expected;
    std::map<KernelKey, std::pair<std::int64_t, std::int64_t>> limits;
    Sums all;
    const auto key_of = [](const KernelGroup& group) {
      return KernelKey(group.name, group.op, static_cast<int>(group.family), sizes_of(group));
    };
    for (const Trace& trace : job.traces) {
      const KernelSummary summary = *kernel_summary(trace, {.group_by = group_by});
      for (const KernelGroup& group : summary.groups) {
        add(expected[key_of(group)], kernel_sums(group));
        const auto [known, is_new] = limits.try_emplace(key_of(group), group.min_ns, group.max_ns);
        known->second = {std::min(known->second.first, group.min_ns),
                         std::max(known->second.second, group.max_ns)};
      }
      add(all, kernel_sums(summary.all));
    }
    const KernelSummary found = kernels_of(job.partial->content(), group_by);
    ASSERT_EQ(found.groups.size(), expected.size());
    for (const KernelGroup& group : found.groups) {
      ASSERT_EQ(kernel_sums(group), expected[key_of(group)]) << group.name;
      ASSERT_EQ(std::pair(group.min_ns, group.max_ns), limits[key_of(group)]);
      ASSERT_DOUBLE_EQ(group.mean_ns,
                       static_cast<double>(group.total_ns) / static_cast<double>(group.count));
    }
    ASSERT_EQ(kernel_sums(found.all), all);
    ASSERT_TRUE(std::ranges::is_sorted(found.groups, std::greater(), &KernelGroup::total_ns));
  });
}

TEST(PartialResults, SpreadOfKernelsIsThatOfAllTheirDurations) {
  for_random_jobs([](const Job& job, unsigned) {
    // A name has a row of its own for what is communication.
    std::map<std::pair<std::string, bool>, std::vector<std::int64_t>> durations;
    for (const Trace& trace : job.traces) {
      const std::vector<bool> is_communication = analyses::communication_work(trace);
      for (const EventId event : trace.by_start()) {
        if (trace.kind(event) != EventKind::kernel) continue;
        durations[{std::string(trace.name(event)), is_communication[index(event)]}].push_back(
            trace.events().duration_ns(event));
      }
    }
    const KernelSummary found = kernels_of(job.partial->content(), KernelGrouping::name);
    ASSERT_EQ(found.groups.size(), durations.size());
    for (const KernelGroup& group : found.groups) {
      std::vector<std::int64_t>& all =
          durations[{group.name, group.family == KernelFamily::collective}];
      std::sort(all.begin(), all.end());
      long double mean = 0;
      for (const std::int64_t ns : all) mean += static_cast<long double>(ns);
      mean /= static_cast<long double>(all.size());
      long double squares = 0;
      for (const std::int64_t ns : all) {
        squares += (static_cast<long double>(ns) - mean) * (static_cast<long double>(ns) - mean);
      }
      const double deviation =
          all.size() < 2
              ? 0
              : static_cast<double>(std::sqrt(squares / static_cast<long double>(all.size() - 1)));
      ASSERT_NEAR(group.stddev_ns, deviation, 1e-9 * (1 + deviation));
      const std::int64_t median = all[(all.size() + 1) / 2 - 1];
      ASSERT_NEAR(static_cast<double>(group.median_ns), static_cast<double>(median),
                  static_cast<double>(median) / 100 + 0.5);
    }
  });
}

/// The modules of a tree by the paths and types of all modules around them.
std::map<std::string, Sums> modules_by_chain(const ModuleTree& tree) {
  std::map<std::string, Sums> sums;
  std::vector<std::string> chains;
  for (const ModuleRow& row : tree.modules) {
    chains.push_back((row.parent ? chains[*row.parent] : std::string()) + "/" + row.path + ":" +
                     row.type);
    Sums figures = costs_of(row);
    figures.push_back(static_cast<std::int64_t>(row.calls.value_or(0)));
    add(sums[chains.back()], figures);
  }
  return sums;
}

TEST(PartialResults, ModulesAreTheSumsOfThoseOfEachTrace) {
  std::size_t modules = 0;
  for_random_jobs([&](const Job& job, unsigned) {
    std::map<std::string, Sums> expected;
    Sums total;
    Sums unattributed;
    for (const Trace& trace : job.traces) {
      const ModuleTree tree = *module_tree(trace);
      for (const auto& [chain, figures] : modules_by_chain(tree)) add(expected[chain], figures);
      add(total, costs_of(tree.total));
      add(unattributed, costs_of(tree.unattributed));
    }
    const ModuleTree found = modules_of(job.partial->content());
    ASSERT_EQ(modules_by_chain(found), expected);
    ASSERT_EQ(costs_of(found.total), total);
    ASSERT_EQ(costs_of(found.unattributed), unattributed);
    modules += expected.size();
  });
  EXPECT_GT(modules, fixtures::random_rounds(100U));
}

TEST(PartialResults, LinesAreTheSumsOfThoseOfEachTrace) {
  std::size_t lines = 0;
  for_random_jobs([&](const Job& job, unsigned seed) {
    const bool libraries = seed % 2 == 0;
    using Key = std::tuple<std::string, std::int64_t, std::string, LineLevel>;
    const auto sums_in = [](const LineTable& table, std::map<Key, Sums>& sums) {
      for (const LineRow& row : table.lines) {
        Sums figures = costs_of(row);
        figures.push_back(static_cast<std::int64_t>(row.calls));
        add(sums[{row.file, row.line, row.function, row.level}], figures);
      }
    };
    std::map<Key, Sums> expected;
    Sums total;
    for (const Trace& trace : job.traces) {
      const LineTable table = *line_table(trace, {.libraries = libraries});
      sums_in(table, expected);
      add(total, costs_of(table.total));
    }
    std::map<Key, Sums> found;
    const LineTable table = lines_of(job.partial->content(), libraries);
    sums_in(table, found);
    ASSERT_EQ(found, expected);
    ASSERT_EQ(table.lines.size(), expected.size());
    ASSERT_EQ(costs_of(table.total), total);
    lines += expected.size();
  });
  EXPECT_GT(lines, fixtures::random_rounds(100U));
}

/// The lines of folded stacks, which have the weight after the last blank.
void add_folded(const std::string& text, std::map<std::string, std::int64_t>& sums) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    const std::size_t blank = line.rfind(' ');
    sums[line.substr(0, blank)] += std::stoll(line.substr(blank + 1));
    at = end + 1;
  }
}

TEST(PartialResults, StacksAreTheSumsOfThoseOfEachTrace) {
  for_random_jobs([](const Job& job, unsigned) {
    for (const char* const weight : {"self_cpu_time_total", "self_cuda_time_total", "cpu_memory"}) {
      std::map<std::string, std::int64_t> expected;
      for (const Trace& trace : job.traces) {
        add_folded(folded_stacks(*flame_graph(trace, {.weight = weight})), expected);
      }
      std::map<std::string, std::int64_t> found;
      add_folded(folded_stacks(*flame_graph(*job.partial, {.weight = weight})), found);
      ASSERT_EQ(found, expected) << weight;
    }
  });
}

/// The reports of the traces one after the other.
template <typename Make>
std::string joined(const Job& job, Make make) {
  std::vector<ReportOfInput> reports;
  for (std::size_t trace = 0; trace < job.traces.size(); ++trace) {
    const Trace& from = job.traces[trace];
    reports.push_back({from.identity().rank, job.names[trace], *make(from)});
  }
  return *report_text(join_inputs(std::move(reports), job.traces.size() > 1), kJson);
}

TEST(PartialResults, StepsGpuUseAndMemoryAreThoseOfEachTrace) {
  for_random_jobs([](const Job& job, unsigned seed) {
    ASSERT_EQ(*report_text(*steps_report(*job.partial), kJson), joined(job, [](const Trace& trace) {
      return steps_report(trace, step_breakdown(trace));
    }));
    const GpuOptions gpu = {.by_stream = seed % 2 == 0};
    ASSERT_EQ(*report_text(*gpu_report(*job.partial, gpu), kJson),
              joined(job, [&](const Trace& trace) { return gpu_report(trace, gpu); }));
    const MemoryOptions memory = {.view = seed % 2 == 0 ? MemoryView::peak : MemoryView::alive};
    ASSERT_EQ(*report_text(*memory_report(*job.partial, memory), kJson),
              joined(job, [&](const Trace& trace) { return memory_report(trace, memory); }));
  });
}

TEST(PartialResults, OfOneTraceAreTheTextsOfTheTrace) {
  for (unsigned seed = 0; seed < fixtures::random_rounds(300u); ++seed) {
    SCOPED_TRACE(seed);
    const Trace trace = random_trace(seed);
    const Partial partial = *parse_partial(*partial_bytes(*Partial::of(trace, "trace")));
    for (const TableDescription* const table : tables()) {
      if (table->in_partials == InPartials::no || table->make == nullptr) continue;
      ASSERT_EQ(*report_text(*tbtrace::make_table(*table, partial), kJson),
                *report_text(*tbtrace::make_table(*table, trace), kJson))
          << table->name;
    }
    const KernelsOptions kernels = {.group_by = static_cast<KernelGrouping>(seed % 4)};
    ASSERT_EQ(*report_text(*kernels_report(partial, kernels), kJson),
              *report_text(*kernels_report(trace, kernels), kJson));
    ModulesOptions modules;
    modules.group_by = static_cast<ModuleGrouping>(seed % 3);
    ASSERT_EQ(*report_text(*modules_report(partial, modules), kJson),
              *report_text(*modules_report(trace, modules), kJson));
    ASSERT_EQ(*report_text(*modules_report(partial, modules)),
              *report_text(*modules_report(trace, modules)));
  }
}

TEST(PartialResults, FindingsOfChecksAreThoseOfTheTraces) {
  for (unsigned seed = 0; seed < fixtures::random_rounds(60u); ++seed) {
    SCOPED_TRACE(seed);
    const Trace first = random_trace(seed);
    const Trace second = random_trace(seed + 1000);
    std::vector<CheckedInput> inputs = {checked_input("first", first),
                                        checked_input("second", second)};
    std::vector<CheckedTrace> traces = {checked_trace("first", first),
                                        checked_trace("second", second)};
    const bool is_in_order =
        comes_before_in_set(first.identity().rank, "first", second.identity().rank, "second");
    if (!is_in_order) {
      std::swap(inputs[0], inputs[1]);
      std::swap(traces[0], traces[1]);
    }
    Partial both = *Partial::of(first, "first");
    if (!both.merge(*Partial::of(second, "second")).ok()) continue;  // the same trace
    const Partial read = *parse_partial(*partial_bytes(both));
    const std::vector<CheckedInput> kept = *checked_inputs(read);
    ASSERT_EQ(kept.size(), 2u);
    for (std::size_t input = 0; input < kept.size(); ++input) {
      EXPECT_EQ(kept[input].input, inputs[input].input);
      ASSERT_EQ(kept[input].findings.size(), inputs[input].findings.size());
    }
    const std::vector<CheckedTrace> of_job = *checked_traces(read);
    ASSERT_EQ(of_job.size(), 2u);
    for (std::size_t trace = 0; trace < of_job.size(); ++trace) {
      EXPECT_EQ(of_job[trace].identity.rank, traces[trace].identity.rank);
      EXPECT_EQ(of_job[trace].start_ns, traces[trace].start_ns);
      EXPECT_EQ(of_job[trace].end_ns, traces[trace].end_ns);
    }
    inputs.push_back({.input = {}, .findings = job_checks(traces)});
    ASSERT_EQ(*report_text(*checks_report(read), kJson),
              *report_text(checks_report(inputs), kJson));
  }
}

TEST(PartialResults, WhatAPartialCannotAnswerIsAnError) {
  const Partial partial = random_partial(3);
  const StepRange steps = {0, 1};
  ModulesOptions module_steps;
  module_steps.steps = steps;
  const std::vector<Status> failures = {
      check_partial_figures(Figures::torch),
      operator_summary(partial, {.group_by_stack_n = 3}).status(),
      kernels_report(partial, {.by = {GroupKey::device}}).status(),
      kernels_report(partial, {.by = {GroupKey::stream}}).status(),
      kernels_report(partial, {.group_by = KernelGrouping::all}).status(),
      operator_summary(partial, {.by = {GroupKey::module}}).status(),
      kernels_report(partial, {.steps = steps}).status(),
      modules_report(partial, module_steps).status(),
      lines_report(partial, {.steps = steps}).status(),
      flame_graph(partial, {.all_frames = true}).status(),
      flame_graph(partial, {.steps = steps}).status(),
      flame_graph(partial, {.thread = "main"}).status(),
      flame_graph(partial, {.in_time_order = true}).status(),
      flame_graph(partial, {.weight = "weight"}).status(),
      gpu_report(partial, {.steps = steps}).status(),
      gpu_report(partial, {.kernel_wait_limit_ns = 5}).status(),
      memory_report(partial, {.view = MemoryView::curve}).status(),
      memory_report(partial, {.steps = steps}).status(),
      tbtrace::make_table(*tbtrace::table_named("steps"), partial, {{"infer_steps", true}})
          .status(),
      tbtrace::make_table(*tbtrace::table_named("kernels"), partial, {{"per_event", true}})
          .status(),
      tbtrace::make_table(*tbtrace::table_named("gpu"), partial,
                          {{"figures", std::string("plugin")}})
          .status(),
      tbtrace::make_table(*tbtrace::table_named("flops"), partial, {{"by_input_shape", true}})
          .status(),
      tbtrace::make_table(*tbtrace::table_named("gaps"), partial).status()};
  for (const Status& failure : failures) {
    EXPECT_EQ(failure.code(), StatusCode::invalid_argument);
    EXPECT_FALSE(failure.message().empty());
  }
}

TEST(PartialResults, ATableNeedsItsOwnPartOnly) {
  for (const TableDescription* const table : tables()) {
    if (table->in_partials == InPartials::no) continue;
    const Partial partial = *Partial::of(random_trace(3), "trace", {.parts = parts_for(*table)});
    EXPECT_TRUE(tbtrace::make_table(*table, partial).ok()) << table->name;
  }
}

TEST(PartialResults, PartsThatWereLeftOutAreAnError) {
  const Partial partial = *Partial::of(
      random_trace(3), "trace", {.parts = {false, false, false, false, false, false, false}});
  const std::vector<Status> failures = {
      operator_summary(partial).status(), kernels_report(partial).status(),
      modules_report(partial).status(),   lines_report(partial).status(),
      flame_graph(partial).status(),      steps_report(partial).status(),
      gpu_report(partial).status(),       memory_report(partial).status(),
      flops_report(partial).status(),     checks_report(partial).status()};
  for (const Status& failure : failures) {
    EXPECT_EQ(failure.code(), StatusCode::invalid_argument);
    EXPECT_NE(failure.message().find("made without"), std::string::npos) << failure.message();
  }
}

/// Seeds of two models with known numbers of parameters, different or the same.
std::pair<unsigned, unsigned> two_models(bool are_different) {
  std::map<std::uint64_t, unsigned> seed_of;
  for (unsigned seed = 0; seed < 900; seed += 3) {
    const auto parameters = module_tree(random_trace(seed))->parameters;
    if (!parameters) continue;
    const auto [known, is_new] = seed_of.try_emplace(*parameters, seed);
    if (!is_new && !are_different) return {known->second, seed};
    if (is_new && are_different && seed_of.size() == 2) {
      return {seed_of.begin()->second, seed_of.rbegin()->second};
    }
  }
  ADD_FAILURE() << "no such models";
  return {};
}

TEST(PartialResults, NumbersOfParametersAreKnownIfTheRanksAgree) {
  for (const bool are_different : {true, false}) {
    const auto [one, two] = two_models(are_different);
    Partial sum = random_partial(one);
    const auto parameters = module_tree(random_trace(one))->parameters;
    ASSERT_EQ(modules_of(sum.content()).parameters, parameters);
    ASSERT_TRUE(sum.merge(random_partial(two)).ok());
    EXPECT_EQ(modules_of(sum.content()).parameters, are_different ? std::nullopt : parameters);
  }
}

}  // namespace
}  // namespace tbtrace::partials
