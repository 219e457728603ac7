#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tbtrace/operators.h>
#include <tbtrace/report.h>
#include <tbtrace/steps.h>
#include <tbtrace/tables.h>
#include <tbtrace/trace.h>

#include "command.h"
#include "each_input.h"
#include "inputs.h"
#include "joined_inputs.h"
#include "ops_result.h"
#include "options.h"
#include "rank_choice.h"
#include "row_choice.h"
#include "table_options.h"
#include "terminal.h"

namespace tbtrace::tools {
namespace {

constexpr int kUsualFrames = 5;  // of `--group-by stack`, as in Python

std::vector<std::string_view> groupings() {
  return {"name",   "shape",  "stack",  "overload_name", "module", "line",
          "device", "stream", "thread", "rank",          "step"};
}

// Each of these takes some options and returns what is wrong with them, empty if nothing is.

/// `--group-by module,step`. Shapes, stacks and overloads have options of their own as well.
std::string take_groups(const OptionParser& parser, SummaryOptions& summary) {
  if (!parser.given("group-by")) return {};
  std::string_view rest = parser.text("group-by");
  while (true) {
    const std::size_t comma = rest.find(',');
    const std::string_view part = rest.substr(0, comma);
    const std::optional<GroupKey> key = group_key_named(part);
    if (part == "overload_name") {
      summary.group_by_overload_name = true;
    } else if (key == GroupKey::shape) {
      summary.group_by_input_shape = true;
    } else if (key == GroupKey::stack) {
      if (!parser.given("group-by-stack-n")) summary.group_by_stack_n = kUsualFrames;
      summary.stack_source = StackSource::either;
    } else if (key) {
      summary.by.add(*key);
    } else if (part != "name") {
      return "--group-by takes " + listed(groupings()) + ", or several of them with commas";
    }
    if (comma == std::string_view::npos) return {};
    rest.remove_prefix(comma + 1);
  }
}

/// Which rows exist, and which of them are shown.
std::string take_rows(const OptionParser& parser, OpsOptions& ops) {
  ops.per_event = parser.flag("per-event");
  for (const char* const option : {"group-by", "group-by-input-shape", "group-by-stack-n",
                                   "group-by-overload-name", "stack-source"}) {
    if (ops.per_event && parser.given(option))
      return "--per-event and --" + std::string(option) + " exclude each other";
  }
  // People look for what is expensive; programs, and lists of events, have torch's order.
  ops.sorts_by_self_time =
      !parser.given("sort-by") && !ops.per_event &&
      (ops.output.format == TableFormat::text || ops.output.format == TableFormat::markdown);
  if (parser.given("sort-by") && parser.text("sort-by") != "none") {
    ops.table.sort_by = parser.text("sort-by");
  }
  ops.table.row_limit = ops.output.format == TableFormat::text ? 100 : -1;
  if (parser.given("row-limit")) {
    const auto limit = whole_number(parser.text("row-limit"));
    if (!limit || *limit < -1) return row_limit_range();
    ops.table.row_limit = *limit;
  }
  ops.summary.group_by_input_shape = parser.flag("group-by-input-shape");
  ops.summary.group_by_overload_name = parser.flag("group-by-overload-name");
  if (parser.given("group-by-stack-n")) {
    const auto frames = whole_number(parser.text("group-by-stack-n"));
    if (!frames || *frames < 0 || *frames > 1000000) return "--group-by-stack-n takes a number";
    ops.summary.group_by_stack_n = static_cast<int>(*frames);
  }
  if (std::string problem = take_groups(parser, ops.summary); !problem.empty()) return problem;
  if (parser.given("stack-source")) {
    if (ops.summary.group_by_stack_n <= 0) return "--stack-source needs --group-by-stack-n";
    const std::string& source = parser.text("stack-source");
    if (source == "call_stack") ops.summary.stack_source = StackSource::call_stack;
    if (source == "frames") ops.summary.stack_source = StackSource::frames;
    if (source == "auto") ops.summary.stack_source = StackSource::either;
  }
  ops.summary.threads = parser.standard().reading.threads;
  ops.table.top_level_events_only = parser.flag("top-level-events-only");
  ops.each = parser.flag("each");
  return take_row_choice(parser, ops.table).message();
}

/// Which inputs, and what of them.
std::string take_inputs(const OptionParser& parser, OpsOptions& ops) {
  const Result<RankChoice> rank = RankChoice::of(parser);
  if (!rank.ok()) return rank.status().message();
  ops.rank = *rank;
  const Result<std::optional<StepRange>> steps = chosen_steps(parser);
  if (!steps.ok()) return steps.status().message();
  ops.steps = *steps;
  // The table's text is of the steps, so it says so itself.
  if (ops.steps && !ops.table.header) ops.table.header = steps_text(*ops.steps);
  return {};
}

/// Where torch's own text is asked for, it stays whole.
bool is_cut_to_fit(const OptionParser& parser) {
  return !parser.flag("wide") && !parser.given("torch") && parser.text("sort-by") != "none";
}

std::string take_layout(const OptionParser& parser, TableOptions& table) {
  if (is_cut_to_fit(parser)) {
    table.width = terminal_width(parser.standard());
    table.how_to_show_all_columns = "--wide shows all";
  }
  if (parser.given("header")) table.header = parser.text("header");
  if (parser.given("time-unit")) table.time_unit = parser.text("time-unit");
  for (const auto& [name, width] :
       {std::pair{"max-name-column-width", &table.max_name_column_width},
        std::pair{"max-src-column-width", &table.max_src_column_width},
        std::pair{"max-shapes-column-width", &table.max_shapes_column_width}}) {
    *width = std::nullopt;
    if (parser.text(name) == "none") continue;
    const auto characters = whole_number(parser.text(name));
    if (!characters || *characters < 0 || *characters > 1000000) {
      return "--" + std::string(name) + " takes a number or none";
    }
    *width = static_cast<int>(*characters);
  }
  return {};
}

/// Which definition of the numbers to use, and what it cannot be combined with.
std::string take_figures(const OptionParser& parser, OpsOptions& ops) {
  const std::string& compat = parser.text("compat");
  if (compat == "plugin") ops.figures = Figures::plugin;
  ops.summary.torch = *torch_version_named(parser.text("torch"));
  const std::vector<OperatorKind>& kinds = ops.table.kinds;
  ops.summary.include_python_functions =
      parser.flag("include-python-functions") ||
      std::ranges::find(kinds, OperatorKind::frame) != kinds.end();
  if (parser.flag("strict-totals")) {
    if (compat == "plugin") return "--strict-totals and --compat plugin exclude each other";
    ops.figures = Figures::exact;
  }
  if (compat == "plugin" && ops.table.top_level_events_only) {
    return "--top-level-events-only and --compat plugin exclude each other";
  }
  if (ops.figures == Figures::torch) return {};
  if (ops.per_event) {
    return "--per-event lists torch's events; it does not go with --strict-totals or --compat "
           "plugin";
  }
  for (const char* const option : {"torch", "include-python-functions"}) {
    if (!parser.given(option)) continue;
    return "--" + std::string(option) +
           " is about torch's figures; it does not go with --strict-totals or --compat plugin";
  }
  return {};
}

std::string take_options(const OptionParser& parser, OpsOptions& ops) {
  const Result<OutputFormat> output = output_format(parser, parser.flag("each"));
  if (!output.ok()) return output.status().message();
  ops.output = *output;
  std::string problem = take_rows(parser, ops);
  if (problem.empty()) problem = take_layout(parser, ops.table);
  if (problem.empty()) problem = take_figures(parser, ops);
  if (problem.empty()) problem = take_inputs(parser, ops);
  return problem;
}

/// Keeps arguments that no option needs out of memory.
ReadOptions reading_for(const OpsOptions& ops, ReadOptions reading) {
  const bool stacks =
      ops.per_event || ops.summary.group_by_stack_n > 0 || ops.summary.by.has(GroupKey::line);
  if (!stacks) reading.arguments = reading.arguments - ArgumentSet{ArgumentGroup::call_stacks};
  reading.inputs_for_flops_only = !ops.per_event && !ops.summary.group_by_input_shape;
  return reading;
}

/// Makes the trace one of the steps, if there are any.
Status keep_steps(Trace& trace, const std::optional<StepRange>& steps) {
  if (!steps) return {};
  Result<Trace> part = trace_of_steps(trace, *steps);
  if (!part.ok()) return part.status();
  trace = *std::move(part);
  return {};
}

int run_each(const OpsOptions& ops, const StandardOptions& standard, const ReadOptions& reading,
             Console& console) {
  EachOutput each("ops", ops.output, standard, console);
  if (const int code = each.prepare(); code != kDone) return code;
  InputLoop loop("ops", standard, reading, console, {.writes_files_each = true, .rank = ops.rank});
  return loop.run(
      [&](Trace trace, const std::string& path) {
        return each.write(path, [&](const std::string& output) {
          if (Status cut = keep_steps(trace, ops.steps); !cut.ok()) return cut;
          const JoinedInput input = {path, trace.identity()};
          OpsResult result(ops, standard, console);
          result.add(trace);
          return result.write({&input, 1}, output);
        });
      },
      {});
}

int run_all(const OpsOptions& ops, const StandardOptions& standard, const ReadOptions& reading,
            Console& console) {
  const Subjects subjects = subjects_of("ops", standard);
  const bool is_exact = !OpsResult::keeps_traces(ops);
  const std::string_view remedy =
      ops.per_event ? "--each lists the events of each input by itself"
                    : "--each summarises each input by itself, and --strict-totals adds up exact "
                      "figures of all";
  OpsResult result(ops, standard, console);
  std::deque<Trace> traces;
  std::vector<JoinedInput> inputs;
  const bool has_choice = ops.rank.rank() || ops.rank.iteration();
  InputLoop loop("ops", standard, reading, console, {.needs_all = !has_choice, .rank = ops.rank});
  return loop.run(
      [&](Trace trace, const std::string& path) {
        const auto add = [&] {
          if (Status cut = keep_steps(trace, ops.steps); !cut.ok()) return cut;
          inputs.push_back({path, trace.identity()});
          if (is_exact) {
            result.add(trace);
            return Status();
          }
          if (Status same = check_same_process(inputs, remedy); !same.ok()) return same;
          traces.push_back(std::move(trace));
          result.add(traces.back());
          return Status();
        };
        return finish_work(add, subjects, console);
      },
      {},
      [&] {
        const auto write = [&] {
          if (inputs.size() > 1) {
            console.message("ops", std::to_string(inputs.size()) +
                                       " inputs added up: " + described_recordings(inputs));
          }
          return result.write(inputs, output_of(standard));
        };
        return finish_work(write, subjects, console);
      });
}

/// Adds up partials, and traces with them.
int run_partials(const OpsOptions& ops, const StandardOptions& standard, Console& console) {
  PartialOptions made;
  if (ops.summary.group_by_stack_n > 0) made.group_by_stack_n = ops.summary.group_by_stack_n;
  return run_sum("ops", standard, console, made, {.needs_all = true}, [&](const Partial& sum) {
    const Subjects subjects = subjects_of("ops", standard);
    OpsResult result(ops, standard, console);
    return finish_work([&] { return result.write(sum, subjects); }, subjects, console);
  });
}

/// What of torch's figures was asked for by name; nothing if a partial's own are meant.
std::string asked_of_torch(const OptionParser& parser) {
  for (const char* const option : {"compat", "torch", "include-python-functions", "per-event",
                                   "each", "stack-source", "steps", "rank", "iteration"}) {
    if (parser.given(option)) return "--" + std::string(option);
  }
  return {};
}

int run(const OptionParser& parser) {
  OpsOptions ops;
  if (const std::string problem = take_options(parser, ops); !problem.empty()) {
    return parser.wrong(problem);
  }
  const StandardOptions& standard = parser.standard();
  Console console(standard.console);
  if (const Status known = check_table_options(ops.table, ops.output.format); !known.ok()) {
    return finish(known, subjects_of("ops", standard), console);
  }
  if (any_partial(standard.inputs)) {
    if (const std::string option = asked_of_torch(parser); !option.empty()) {
      return parser.wrong("partials have exact sums; " + option + " goes with traces");
    }
    ops.figures = Figures::exact;
    return run_partials(ops, standard, console);
  }
  const ReadOptions reading = reading_for(ops, standard.reading);
  return ops.each ? run_each(ops, standard, reading, console)
                  : run_all(ops, standard, reading, console);
}

std::vector<Option> row_options() {
  std::vector<Option> options = row_choice_options();
  std::vector<Option> others = {
      {.name = "sort-by",
       .value = "KEY",
       .help = "a column as torch names it, largest first (cuda_ and xpu_ mean device_); none is "
               "torch's order (default: self time, on devices if there are any, in text and "
               "Markdown; none in CSV, JSON and with --per-event)",
       .choices = {"none", "cpu_time", "cpu_time_total", "self_cpu_time_total", "device_time",
                   "device_time_total", "self_device_time_total", "cpu_memory_usage",
                   "self_cpu_memory_usage", "device_memory_usage", "self_device_memory_usage",
                   "count", "flops", "key"},
       .takes_others = true},
      {.name = "row-limit",
       .value = "N",
       .help = "rows to show, -1 for all (default: 100 as text, all otherwise)"},
      {.name = "group-by",
       .value = "WHAT",
       .help = "a row per operator and these, one or several: `module,step`; `name` alone is the "
               "default",
       .choices = groupings(),
       .takes_others = true},
      {.name = "group-by-input-shape", .help = "a row per operator and input shapes"},
      {.name = "group-by-stack-n",
       .value = "N",
       .help = "a row per operator and N frames of its Python stack"},
      {.name = "stack-source",
       .value = "WHAT",
       .help = "where stacks come from: call_stack, the events' argument, as in torch; "
               "frames, the Python functions around each event; auto, frames where there is "
               "no argument",
       .otherwise = "call_stack",
       .choices = {"auto", "call_stack", "frames"}},
      {.name = "group-by-overload-name", .help = "a row per operator and overload"},
      {.name = "top-level-events-only", .help = "only what lies in nothing else"},
      {.name = "per-event", .help = "a row per event instead of averages"},
      {.name = "each", .help = "a summary per input instead of one of all"},
      steps_range_option(),
      RankChoice::option(),
      RankChoice::iteration_option()};
  for (Option& option : others) {
    options.push_back(std::move(option));
  }
  return options;
}

std::vector<OptionGroup> own_options() {
  return {
      {"Rows", row_options()},
      {"Figures",
       {{.name = "compat",
         .value = "WHO",
         .help = "whose figures: torch, or plugin for torch-tb-profiler's operator table",
         .otherwise = "torch",
         .choices = {"torch", "plugin"}},
        {.name = "torch",
         .value = "VERSION",
         .help = "the version of torch whose text and numbers are printed, whatever version "
                 "made the file",
         .otherwise = "2.15",
         .choices = {"2.13", "2.14", "2.15"}},
        {.name = "include-python-functions",
         .help = "rows of Python functions and modules too; so does --kind frames, and torch 2.13 "
                 "always has them"},
        {.name = "strict-totals",
         .help = "exact figures that add up, with [idle] and [unattributed]; also over several "
                 "ranks, hosts and processes"}}},
      {"Layout",
       {{.name = "format",
         .value = "F",
         .help = "text, csv, json or md (default: by the output's name, else text)",
         .choices = {"text", "csv", "json", "md"}},
        {.name = "header", .value = "TEXT", .help = "a title above the table"},
        {.name = "time-unit",
         .value = "UNIT",
         .help = "s, ms or us for all times",
         .choices = {"s", "ms", "us"}},
        {.name = "max-name-column-width",
         .value = "N",
         .help = "characters, or none",
         .otherwise = "55",
         .choices = {"none"},
         .takes_others = true},
        {.name = "max-src-column-width",
         .value = "N",
         .help = "characters, or none",
         .otherwise = "75",
         .choices = {"none"},
         .takes_others = true},
        {.name = "max-shapes-column-width",
         .value = "N",
         .help = "characters, or none",
         .otherwise = "80",
         .choices = {"none"},
         .takes_others = true},
        {.name = "wide",
         .help = "torch's whole table; on a terminal, columns are left out otherwise, unless "
                 "--torch or --sort-by none is given"}}}};
}

}  // namespace

Command ops_command() {
  return {
      .name = "ops",
      .summary = table_named("ops")->summary,
      .usage = "[OPTIONS] INPUT...",
      .about = table_named("ops")->about,
      .options = own_options(),
      .examples = {{"tbtrace ops trace.json.gz --sort-by self_cuda_time_total --row-limit 20",
                    "the most expensive operators on the GPU"},
                   {"tbtrace ops trace.json --group-by-input-shape --format csv -o ops.csv",
                    "every operator and shape, for a spreadsheet"},
                   {"tbtrace ops trace.json.gz --group-by module,step --strict-totals",
                    "the operators of each module in each step"},
                   {"tbtrace ops trace.json --format json --strict-totals",
                    "exact nanoseconds that add up, with what is idle or belongs to nobody"},
                   {"tbtrace ops ranks/ --rank 0 --steps 3-5", "three steps of one rank"},
                   {"tbtrace ops rank*.json.gz --each --format md -o summaries",
                    "one summary per rank"},
                   {"tbtrace ops trace.json.gz --kind kernels --name '(?i)gemm'",
                    "only kernels with gemm in their name"},
                   {"tbtrace ops ranks/ --strict-totals", "exact sums over all ranks of a job"},
                   {"zcat trace.json.gz | tbtrace ops -", "from a pipe"}},
      .run = run,
  };
}

}  // namespace tbtrace::tools
