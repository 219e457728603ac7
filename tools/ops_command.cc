#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tbtrace/analyses.h>
#include <tbtrace/trace.h>
#include <tbtrace/writers.h>

#include "command.h"
#include "each_input.h"
#include "inputs.h"
#include "options.h"

namespace tbtrace::tools {
namespace {

constexpr const char* kAbout =
    "Operator summary of a saved trace: by default the very text that torch.profiler's\n"
    "key_averages().table() would have printed in the process that made it.\n";

struct OpsOptions {
  OutputFormat output;
  SummaryOptions summary;
  TableOptions table;
  bool per_event = false;
  bool each = false;
};

// Each of these takes some options and returns what is wrong with them, empty if nothing is.

/// Which rows exist, and which of them are shown.
std::string take_rows(const OptionParser& parser, OpsOptions& ops) {
  if (parser.given("sort-by")) ops.table.sort_by = parser.text("sort-by");
  ops.table.row_limit = ops.output.format == TableFormat::text ? 100 : -1;
  if (parser.given("row-limit")) {
    const auto limit = whole_number(parser.text("row-limit"));
    if (!limit || *limit < -1) return "--row-limit takes a number, -1 for all";
    ops.table.row_limit = *limit;
  }
  ops.summary.group_by_input_shape = parser.flag("group-by-input-shape");
  ops.summary.group_by_overload_name = parser.flag("group-by-overload-name");
  if (parser.given("group-by-stack-n")) {
    const auto frames = whole_number(parser.text("group-by-stack-n"));
    if (!frames || *frames < 0 || *frames > 1000000) return "--group-by-stack-n takes a number";
    ops.summary.group_by_stack_n = static_cast<int>(*frames);
  }
  ops.summary.threads = parser.standard().reading.threads;
  ops.table.top_level_events_only = parser.flag("top-level-events-only");
  ops.per_event = parser.flag("per-event");
  ops.each = parser.flag("each");
  return {};
}

std::string take_layout(const OptionParser& parser, TableOptions& table) {
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
  if (compat == "plugin") ops.summary.figures = Figures::plugin;
  if (parser.flag("strict-totals")) {
    if (compat == "plugin") return "--strict-totals and --compat plugin exclude each other";
    ops.summary.figures = Figures::exact;
  }
  if (ops.per_event && ops.summary.figures != Figures::torch) {
    return "--per-event lists torch's events; it does not go with --strict-totals or --compat "
           "plugin";
  }
  return {};
}

std::string take_options(const OptionParser& parser, OpsOptions& ops) {
  ops.output = output_format(parser, parser.flag("each"));
  std::string problem = take_rows(parser, ops);
  if (problem.empty()) problem = take_layout(parser, ops.table);
  if (problem.empty()) problem = take_figures(parser, ops);
  return problem;
}

/// Keeps arguments that no option needs out of memory.
ReadOptions reading_for(const OpsOptions& ops, ReadOptions reading) {
  const bool stacks = ops.per_event || ops.summary.group_by_stack_n > 0;
  if (!stacks) reading.arguments = reading.arguments - ArgumentSet{ArgumentGroup::call_stacks};
  reading.inputs_for_flops_only = !ops.per_event && !ops.summary.group_by_input_shape;
  return reading;
}

Result<std::string> summary_text(const OpsOptions& ops, std::span<const Trace* const> traces) {
  const OperatorSummary summary = operator_summary(traces, ops.summary);
  if (ops.output.format == TableFormat::text) return summary.table(ops.table);
  if (ops.output.format == TableFormat::json) return summary.json(ops.table);
  const Result<Table> rows = summary.report(ops.table);
  if (!rows.ok()) return rows.status();
  return ops.output.format == TableFormat::csv ? table_csv(*rows) : table_markdown(*rows);
}

/// torch's numbers assign work to a limited number of operators with its id. If the limit was
/// reached, warns; with strict reading, fails.
Status check_limit(const Trace& trace, const std::string& input, bool strict, Console& console) {
  const std::uint64_t limited = trace.device() ? trace.links().work_over_operator_limit : 0;
  if (limited == 0) return {};
  const std::string text =
      "more than " + std::to_string(LinkReport::kMostOperators) +
      " operators bear one External id; only the first ones get its kernels, memcpys and memsets; "
      "--strict-totals counts each of these once [work_over_operator_limit, " +
      std::to_string(limited) + " x]";
  if (strict) return {StatusCode::check_failed, "strict reading failed: " + text};
  console.warning(subject_of(input), text);
  return {};
}

/// Analyses and writes.
Status summarise(const OpsOptions& ops, std::span<const Trace* const> traces,
                 std::span<const std::string> inputs, const std::string& output,
                 const StandardOptions& standard, Console& console) {
  // The summary comes first, because it finds the links in parallel; check_limit() would find them
  // on one thread.
  std::optional<Result<std::string>> text;
  if (!ops.per_event) text = summary_text(ops, traces);
  for (std::size_t input = 0; input < inputs.size() && ops.summary.figures == Figures::torch;
       ++input) {
    Status within = check_limit(*traces[input], inputs[input], standard.reading.strict, console);
    if (!within.ok()) return within;
  }
  const bool overwrite = standard.overwrite;
  if (!text) return write_events(traces, output, ops.output.format, ops.table, overwrite);
  return text->ok() ? write_text(**text, output, overwrite) : text->status();
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
  if (ops.each) {
    return run_each("ops", ops.output, standard.inputs, standard,
                    reading_for(ops, standard.reading), console,
                    [&](const Trace& trace, const std::string& input, const std::string& output) {
                      const Trace* one[] = {&trace};
                      return summarise(ops, one, {&input, 1}, output, standard, console);
                    });
  }
  return run_together("ops", standard, reading_for(ops, standard.reading), console,
                      [&](std::span<const Trace* const> traces) {
                        return summarise(ops, traces, standard.inputs, output_of(standard),
                                         standard, console);
                      });
}

std::vector<OptionGroup> own_options() {
  return {{"Rows",
           {{.name = "sort-by",
             .value = "KEY",
             .help = "a column as torch names it, such as self_cpu_time_total or count",
             .choices = {"cpu_time", "cpu_time_total", "self_cpu_time_total", "device_time",
                         "device_time_total", "self_device_time_total", "cpu_memory_usage",
                         "self_cpu_memory_usage", "device_memory_usage", "self_device_memory_usage",
                         "count", "flops", "key"},
             .takes_others = true},
            {.name = "row-limit",
             .value = "N",
             .help = "rows to show, -1 for all (default: 100 as text, all otherwise)"},
            {.name = "group-by-input-shape", .help = "a row per operator and input shapes"},
            {.name = "group-by-stack-n",
             .value = "N",
             .help = "a row per operator and N frames of its Python stack"},
            {.name = "group-by-overload-name", .help = "a row per operator and overload"},
            {.name = "top-level-events-only", .help = "only what lies in nothing else"},
            {.name = "per-event", .help = "a row per event instead of averages"},
            {.name = "each", .help = "a summary per input instead of one of all"}}},
          {"Figures",
           {{.name = "compat",
             .value = "WHO",
             .help = "whose figures: torch, or plugin for torch-tb-profiler's operator table",
             .otherwise = "torch",
             .choices = {"torch", "plugin"}},
            {.name = "strict-totals",
             .help = "exact figures that add up, with [idle] and [unattributed]"}}},
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
             .takes_others = true}}}};
}

}  // namespace

Command ops_command() {
  return {
      .name = "ops",
      .summary = "operator summary: what key_averages().table() would have printed",
      .usage = "[OPTIONS] INPUT...",
      .about = kAbout,
      .options = own_options(),
      .examples = {{"tbtrace ops trace.json.gz --sort-by self_cuda_time_total --row-limit 20",
                    "the most expensive operators on the GPU"},
                   {"tbtrace ops trace.json --group-by-input-shape --format csv -o ops.csv",
                    "every operator and shape, for a spreadsheet"},
                   {"tbtrace ops trace.json --format json --strict-totals",
                    "exact nanoseconds that add up, with what is idle or belongs to nobody"},
                   {"tbtrace ops rank*.json.gz --each --format md -o summaries",
                    "one summary per rank"},
                   {"zcat trace.json.gz | tbtrace ops -", "from a pipe"}},
      .run = run,
  };
}

}  // namespace tbtrace::tools
