#include "report_command.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

#include <tbtrace/memory_snapshot.h>
#include <tbtrace/report.h>
#include <tbtrace/views.h>

#include "command.h"
#include "console.h"
#include "inputs.h"
#include "options.h"
#include "rank_choice.h"
#include "size_option.h"
#include "snapshot_inputs.h"
#include "table_options.h"

namespace tbtrace::tools {
namespace {

constexpr const char* kAbout =
    "One page in one file that shows what a trace has: what takes the time and what to do about "
    "it,\n"
    "steps, operators, kernels, GPUs, memory, modules, the model, lines, FLOPs, a flame graph and\n"
    "checks. It opens in any browser without a network, and can be sent to others. Several traces\n"
    "are chosen at the top. If they are the ranks of a job, the page begins with the job: who "
    "holds\n"
    "it up, who waits for whom, and how fast collectives are. Memory snapshots have the views "
    "memory\n"
    "and flame_graph, also beside the trace of the same run.\n";

std::vector<std::string> names_in(std::string_view list) {
  std::vector<std::string> names;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    if (end > 0) names.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return names;
}

/// The inputs that are memory snapshots, and the others.
std::pair<StandardOptions, StandardOptions> split_inputs(const StandardOptions& standard) {
  std::pair<StandardOptions, StandardOptions> split = {standard, standard};
  const auto is_snapshot = [](const std::string& input) { return any_snapshot({input}); };
  std::erase_if(split.first.inputs, std::not_fn(is_snapshot));
  std::erase_if(split.second.inputs, is_snapshot);
  return split;
}

int run(const OptionParser& parser) {
  const StandardOptions& standard = parser.standard();
  if (output_of(standard) == "-" && ::isatty(STDOUT_FILENO) != 0) {
    return parser.wrong("a page does not go to a terminal; name a file with -o");
  }
  Console console(standard.console);
  return write_report(parser, standard, console);
}

}  // namespace

int write_report(const OptionParser& parser, const StandardOptions& standard, Console& console,
                 const OnTrace& read) {
  const Result<RankChoice> rank = RankChoice::of(parser);
  if (!rank.ok()) return parser.wrong(rank.status().message());
  const std::optional<std::size_t> bytes = size_in_bytes(parser.text("limit"));
  if (!bytes) return parser.wrong("--limit takes a size such as 500KB or 2MB");
  const Result<std::optional<StepRange>> steps = chosen_steps(parser);
  if (!steps.ok()) return parser.wrong(steps.status().message());
  ReportPageOptions options = {.title = parser.text("title"),
                               .views = names_in(parser.text("views")),
                               .steps = *steps,
                               .source_root = parser.text("source-root"),
                               .bytes = *bytes,
                               .threads = standard.reading.threads};
  if (const Status right = check_report_page_options(options); !right.ok()) {
    return parser.wrong(right.message());
  }
  ReportPage page(std::move(options));
  const auto write = [&] {
    const Result<std::string> html = page.html();
    if (!html.ok()) return html.status();
    return write_text(*html, output_of(standard), standard.overwrite);
  };
  const auto write_page = [&] {
    return finish_work(write, subjects_of("report", standard), console);
  };
  const auto [snapshots, traces] = split_inputs(standard);
  int of_snapshots = kDone;
  if (!snapshots.inputs.empty()) {
    const Subjects subjects = subjects_of("report", standard);
    if (const Status place = check_output(subjects.output, standard.overwrite); !place.ok()) {
      return finish(place, subjects, console);
    }
    of_snapshots = each_snapshot("report", snapshots, *rank, console,
                                 [&](const MemorySnapshot& snapshot, const std::string& path) {
                                   return finish_work([&] { return page.add(snapshot, path); },
                                                      subjects_of_input(path, standard), console);
                                 });
    const bool has_some = of_snapshots == kDone || of_snapshots == kSomeInputsFailed;
    if (!has_some) return of_snapshots;
    if (traces.inputs.empty()) {
      const int written = write_page();
      return written == kDone ? of_snapshots : written;
    }
  }
  ReadOptions reading = standard.reading;
  reading.arguments = ArgumentSet::all();  // a timeline shows them
  InputLoop loop("report", traces, reading, console, {.rank = *rank});
  const int of_traces = loop.run(
      [&](const Trace& trace, const std::string& path) {
        if (read) read(trace, path);
        return finish_work([&] { return page.add(trace, path == "-" ? "standard input" : path); },
                           subjects_of_input(path, standard), console);
      },
      {},
      [&] {
        for (const std::string& remark : loop.remarks()) page.add_remark(remark);
        return write_page();
      });
  return of_traces == kDone ? of_snapshots : of_traces;
}

std::vector<OptionGroup> report_options() {
  return {{"Inputs", {RankChoice::option(), RankChoice::iteration_option(), steps_range_option()}},
          {"Page",
           {{.name = "source-root",
             .value = "DIR",
             .help = "a directory: lines in source files below it are shown with their text"},
            {.name = "title",
             .value = "TEXT",
             .help = "the page's title (default: the name of the trace)"},
            {.name = "views",
             .value = "NAMES",
             .help = "only these views, separated by commas: ranks (of a job), summary, "
                     "timeline, steps, operators, "
                     "kernels, gpu, serving, memory, "
                     "modules, model, lines, flops, flame_graph, threads, checks"},
            {.name = "limit",
             .value = "SIZE",
             .help = "size of the file, such as 500KB; rows and frames are left out to "
                     "keep it, of a job also views of ranks, and counted in the page",
             .otherwise = "2MB"}}}};
}

Command report_command() {
  return {
      .name = "report",
      .summary = "one page for the browser, complete in one file, to look at and to send",
      .usage = "[OPTIONS] INPUT... -o report.html",
      .about = kAbout,
      .options = report_options(),
      .examples = {{"tbtrace report trace.json.gz -o report.html",
                    "all there is to see of a trace; then open report.html"},
                   {"tbtrace report ranks/ -o job.html --limit 10MB",
                    "a job: who holds it up and why; a rank is chosen at the top"},
                   {"tbtrace report trace.json.gz -o steps.html --steps 3-5", "three steps"},
                   {"tbtrace report trace.json.gz -o memory.html --views summary,memory",
                    "two views"},
                   {"tbtrace report snapshot.pickle -o memory.html",
                    "a memory snapshot: who held the memory when, and why there was none left"}},
      .run = run,
  };
}

}  // namespace tbtrace::tools
