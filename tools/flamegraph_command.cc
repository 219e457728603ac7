#include <algorithm>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include <tbtrace/capabilities.h>
#include <tbtrace/flame_graph.h>
#include <tbtrace/memory_snapshot.h>
#include <tbtrace/operators.h>
#include <tbtrace/tables.h>
#include <tbtrace/trace.h>

#include "command.h"
#include "inputs.h"
#include "joined_inputs.h"
#include "options.h"
#include "out_of_memory.h"
#include "rank_choice.h"
#include "snapshot_inputs.h"
#include "table_options.h"

namespace tbtrace::tools {
namespace {

constexpr const char* kAbout =
    "Flame graph of a saved trace: operators under the Python frames and modules that called\n"
    "them, and kernels under the operators that launched them. Of a memory snapshot, what is\n"
    "allocated by the stack that allocated it.\n";

/// What to draw or write, and how.
struct GraphOptions {
  std::string format;
  FlameGraphOptions stacks;
  bool exported_stacks = false;  ///< the lines of prof.export_stacks()
  FlameGraphPngOptions picture;
  std::optional<int> svg_width;
  RankChoice rank;
};

const TableDescription& snapshot_table() { return *table_of_schema("tbtrace.memory_snapshot/1"); }

/// Those that say which moment of a memory snapshot.
std::vector<const OptionDescription*> moment_options() {
  return {snapshot_table().option("at"), snapshot_table().option("at_ns")};
}

constexpr const char* kSnapshotWeight = "memory";

std::string title_of(const std::string& weight) {
  if (weight == kSnapshotWeight) return "GPU memory, allocated";
  if (weight == "self_cpu_time_total") return "CPU time";
  return weight == "cpu_memory" ? "CPU memory, allocated" : "Device time";
}

/// Takes the options that say what the picture looks like. Returns what is wrong with them, empty
/// if nothing is.
std::string take_picture_options(const OptionParser& parser, GraphOptions& graph) {
  constexpr std::int64_t kMostPngPixels = 16000;
  const bool is_png = graph.format == "png";
  FlameGraphPngOptions& picture = graph.picture;
  const auto number = [&](const char* option, std::int64_t otherwise) {
    return parser.given(option) ? whole_number(parser.text(option)) : std::optional(otherwise);
  };
  picture.inverted = parser.flag("inverted");
  const std::string& order = parser.text("order");
  picture.order = order == "time"     ? FrameOrder::time
                  : order == "weight" ? FrameOrder::weight
                                      : FrameOrder::name;
  if (!is_png && parser.given("scale")) return "--scale goes with --format png";
  for (const char* const option : {"inverted", "title", "width"}) {
    if (graph.format == "folded" && parser.given(option))
      return "--" + std::string(option) + " goes with a picture, not with folded stacks";
  }
  const auto scale = number("scale", picture.scale);
  if (!scale || *scale < 1 || *scale > 4) return "--scale takes 1 to 4";
  picture.scale = static_cast<int>(*scale);
  const auto width = number("width", picture.width);
  const std::int64_t most = is_png ? kMostPngPixels / *scale : 100000;
  if (!width || *width < 200 || *width > most) {
    return "--width takes 200 to " + std::to_string(most) + " px" +
           (is_png ? " at --scale " + std::to_string(*scale) : "");
  }
  picture.width = static_cast<int>(*width);
  if (parser.given("width")) graph.svg_width = picture.width;
  picture.title = parser.given("title") ? parser.text("title") : title_of(graph.stacks.weight);
  return {};
}

/// What the stacks are of, such as `trace.json, steps 3-5, thread main`.
std::string subtitle_of(const std::string& input, const OptionParser& parser) {
  std::string text = input == "-" ? "standard input" : input;
  for (const char* const option : {"steps", "thread"}) {
    if (parser.given(option))
      text.append(", ").append(option).append(" ").append(parser.text(option));
  }
  return input == "-" && text == "standard input" ? "" : text;
}

/// Takes the options that say which stacks there are. Returns what is wrong with them.
std::string take_stack_options(const OptionParser& parser, GraphOptions& graph) {
  FlameGraphOptions& stacks = graph.stacks;
  stacks.all_frames = parser.flag("all-frames");
  stacks.merge_recursion = parser.flag("merge-recursion");
  stacks.by_thread = parser.flag("by-thread");
  stacks.in_time_order = parser.text("order") == "time";
  if (parser.given("thread")) stacks.thread = parser.text("thread");
  if (parser.given("thread") && stacks.thread.empty()) return "--thread takes an id or a name";
  const Result<std::optional<StepRange>> steps = chosen_steps(parser);
  if (!steps.ok()) return steps.status().message();
  stacks.steps = *steps;
  const Result<RankChoice> rank = RankChoice::of(parser);
  if (!rank.ok()) return rank.status().message();
  graph.rank = *rank;
  if (graph.exported_stacks) {
    for (const char* const option : {"all-frames", "merge-recursion", "by-thread", "order",
                                     "thread", "steps", "rank", "iteration"}) {
      if (parser.given(option))
        return "--" + std::string(option) + " does not go with --compat torch";
    }
  }
  if (graph.format == "folded" && parser.given("order")) {
    return "--order goes with a picture; folded stacks are sorted by their text";
  }
  return {};
}

/// Takes --format and --compat and checks that they go together. Returns what is wrong with them.
std::string take_format(const OptionParser& parser, GraphOptions& graph) {
  const StandardOptions& standard = parser.standard();
  graph.exported_stacks = parser.given("compat");
  std::string& format = graph.format;
  format = parser.text("format");
  if (format.empty()) {
    format = format_of_suffix(
        standard.output,
        {{".svg", "svg"}, {".png", "png"}, {".folded", "folded"}, {".txt", "folded"}});
    const std::string suffix = std::filesystem::path(standard.output).extension().string();
    if (format.empty() && !suffix.empty()) {
      return "cannot tell the format of '" + standard.output +
             "' from its suffix; use .svg, .png, .folded or .txt, or --format";
    }
  }
  if (format.empty()) format = graph.exported_stacks ? "folded" : "svg";
  if (graph.exported_stacks && format != "folded") {
    return "--compat torch goes with --format folded";
  }
  if (!graph.exported_stacks && standard.inputs.size() > 1 && !parser.given("rank") &&
      !parser.given("iteration") && !parser.flag("sum-inputs") && !any_partial(standard.inputs)) {
    return "a flame graph is of one input; choose one of several with --rank, or add them up with "
           "--sum-inputs";
  }
  return {};
}

/// Returns what is wrong with the options, empty if nothing is.
std::string take_options(const OptionParser& parser, GraphOptions& graph) {
  graph.stacks.weight = parser.text("weight");
  if (std::string problem = take_format(parser, graph); !problem.empty()) return problem;
  const Status weight = graph.exported_stacks ? check_stack_metric(graph.stacks.weight)
                                              : check_flame_graph_options(graph.stacks);
  if (!weight.ok()) return weight.message();
  if (std::string problem = take_stack_options(parser, graph); !problem.empty()) return problem;
  const bool to_output = output_of(parser.standard()) == "-";
  if (graph.format != "folded" && to_output && ::isatty(STDOUT_FILENO) != 0) {
    return "a picture does not go to a terminal; name a file with -o";
  }
  return take_picture_options(parser, graph);
}

/// Whether PNG files can be written here.
Status check_png() {
  const Capabilities can = capabilities();
  if (can.pictures) return {};
  return {StatusCode::invalid_argument,
          can.pictures_problem.empty()
              ? "this build cannot write PNG files: it was built without cairo; use svg"
              : "cannot write PNG files: " + can.pictures_problem + ", or use svg"};
}

Status write_stacks(const StackTree& stacks, const GraphOptions& graph, const std::string& output,
                    bool overwrite) {
  if (graph.format == "folded") return write_folded_stacks(stacks, output, overwrite);
  const FlameGraphPngOptions& picture = graph.picture;
  if (graph.format == "png") return write_flame_graph_png(stacks, output, picture, overwrite);
  const FlameGraphSvgOptions svg = {.title = picture.title,
                                    .subtitle = picture.subtitle,
                                    .width = graph.svg_width,
                                    .inverted = picture.inverted,
                                    .order = picture.order};
  return write_flame_graph_svg(stacks, output, svg, overwrite);
}

/// Writes what was analysed.
Status write_graph(const Result<StackTree>& stacks, const std::string& input,
                   const GraphOptions& graph, const StandardOptions& standard, Console& console) {
  if (!stacks.ok()) return stacks.status();
  if (stacks->total() == 0) {
    const bool is_part = graph.stacks.steps || !graph.stacks.thread.empty();
    console.warning(subject_of(input),
                    graph.stacks.weight == kSnapshotWeight
                        ? "nothing was allocated at that moment, so the flame graph is empty; "
                          "choose another with --at"
                        : "no stack has any " + graph.stacks.weight +
                              (is_part ? " in the chosen part" : "") +
                              ", so the flame graph is empty; try another --weight");
  }
  return write_stacks(*stacks, graph, output_of(standard), standard.overwrite);
}

/// Writes the lines of prof.export_stacks().
Status write_exported(std::span<const Trace* const> traces, const GraphOptions& graph,
                      const StandardOptions& standard, Console& console) {
  const bool has_stacks = std::any_of(traces.begin(), traces.end(), [](const Trace* trace) {
    return !trace->argument(Argument::call_stack).empty();
  });
  if (!has_stacks) {
    console.warning(subjects_of("flamegraph", standard).input,
                    "no event has a call stack, so the output is empty; record with "
                    "with_stack=True and "
                    "experimental_config=torch._C._profiler._ExperimentalConfig(verbose=True)");
  }
  return write_exported_stacks(traces, output_of(standard), graph.stacks.weight,
                               standard.overwrite);
}

/// Draws the only input, or the only one that is of the rank. Returns the exit code.
int run_of_one(const OptionParser& parser, GraphOptions& graph, const ReadOptions& reading,
               Console& console) {
  const StandardOptions& standard = parser.standard();
  const bool by_rank = parser.given("rank") || parser.given("iteration");
  std::string chosen;
  std::optional<Trace> trace;
  InputLoop loop("flamegraph", standard, reading, console,
                 {.needs_all = !by_rank, .rank = graph.rank});
  if (const int code = loop.find(); code != kDone) return code;
  if (!by_rank && loop.size() > 1) {
    return parser.wrong("a flame graph is of one input; " + standard.inputs.front() + " has " +
                        std::to_string(loop.size()) +
                        " traces: name one of them, choose one with --rank, or add them up with "
                        "--sum-inputs");
  }
  return loop.run(
      [&](Trace read, const std::string& path) {
        if (trace) {
          loop.stop();
          return parser.wrong("a flame graph is of one input; " + chosen + " and " + path +
                              " are both of rank " + parser.text("rank"));
        }
        chosen = path;
        trace = std::move(read);
        return kDone;
      },
      {},
      [&] {
        graph.picture.subtitle = subtitle_of(chosen, parser);
        const auto draw = [&] {
          return write_graph(flame_graph(*trace, graph.stacks), chosen, graph, standard, console);
        };
        return finish_work(draw, {"flamegraph", subject_of(chosen), output_of(standard)}, console);
      });
}

/// Writes the lines of prof.export_stacks() for all inputs. Returns the exit code.
int run_exported(const GraphOptions& graph, const StandardOptions& standard,
                 const ReadOptions& reading, Console& console) {
  const Subjects subjects = subjects_of("flamegraph", standard);
  std::deque<Trace> traces;
  std::vector<JoinedInput> inputs;
  InputLoop loop("flamegraph", standard, reading, console, {.needs_all = true});
  return loop.run(
      [&](Trace trace, const std::string& path) {
        inputs.push_back({path, trace.identity()});
        traces.push_back(std::move(trace));
        return finish(check_same_process(inputs, "name recordings of one process"), subjects,
                      console);
      },
      {},
      [&] {
        const auto write = [&] {
          std::vector<const Trace*> pointers;
          pointers.reserve(traces.size());
          for (const Trace& trace : traces) pointers.push_back(&trace);
          return write_exported(pointers, graph, standard, console);
        };
        return finish_work(write, subjects, console);
      });
}

/// Draws the stacks of all inputs together, or of a partial.
int run_added_up(const OptionParser& parser, GraphOptions& graph, Console& console) {
  const StandardOptions& standard = parser.standard();
  if (graph.exported_stacks || parser.given("rank") || parser.given("iteration")) {
    return parser.wrong("sums of inputs go without --compat torch, --rank and --iteration");
  }
  PartialOptions made;
  if (!any_partial(standard.inputs)) made.parts = {false, false, false, false, true, false};
  return run_sum("flamegraph", standard, console, made, {.needs_all = true},
                 [&](const Partial& sum) {
                   const Subjects subjects = subjects_of("flamegraph", standard);
                   graph.picture.subtitle = subtitle_of(subjects.input, parser);
                   const auto draw = [&] {
                     return write_graph(flame_graph(sum, graph.stacks), standard.inputs.front(),
                                        graph, standard, console);
                   };
                   return finish_work(draw, subjects, console);
                 });
}

/// Draws what a memory snapshot has allocated. Returns the exit code.
int run_snapshot(const OptionParser& parser, Console& console) {
  const StandardOptions& standard = parser.standard();
  std::string wrong =
      wrong_for_snapshots(parser, {"weight", "compat", "steps", "thread", "by-thread", "iteration",
                                   "sum-inputs", "all-frames", "merge-recursion"});
  GraphOptions graph;
  graph.stacks.weight = kSnapshotWeight;
  if (wrong.empty() && parser.text("order") == "time") wrong = "--order time is for traces";
  if (wrong.empty()) wrong = take_format(parser, graph);
  if (wrong.empty()) wrong = take_picture_options(parser, graph);
  if (!wrong.empty()) return parser.wrong(wrong);
  const Result<OptionValues> moment = given_options(snapshot_table(), parser);
  if (!moment.ok()) return parser.wrong(moment.status().message());
  const Result<RankChoice> rank = RankChoice::of(parser);
  if (!rank.ok()) return parser.wrong(rank.status().message());
  std::vector<std::pair<std::string, MemorySnapshot>> read;
  const int code = each_snapshot("flamegraph", standard, *rank, console,
                                 [&](const MemorySnapshot& snapshot, const std::string& path) {
                                   read.emplace_back(path, snapshot);
                                   return kDone;
                                 });
  if (read.empty()) return code;
  if (read.size() > 1) {
    return parser.wrong("a flame graph is of one input; choose one of several with --rank");
  }
  if (graph.format == "png") {
    if (const Status png = within_memory(check_png); !png.ok()) return parser.wrong(png.message());
  }
  const std::string& path = read.front().first;
  const MemorySnapshot& snapshot = read.front().second;
  graph.picture.subtitle = path;
  const auto draw = [&] {
    return write_graph(memory_snapshot_stacks(snapshot, *moment), path, graph, standard, console);
  };
  return finish_work(draw, {"flamegraph", subject_of(path), output_of(standard)}, console);
}

int run(const OptionParser& parser) {
  if (any_snapshot(parser.standard().inputs)) {
    Console console(parser.standard().console);
    return run_snapshot(parser, console);
  }
  for (const OptionDescription* const option : moment_options()) {
    const std::string name(option->spelling);
    if (parser.given(name)) return parser.wrong("--" + name + " is for memory snapshots");
  }
  GraphOptions graph;
  if (const std::string problem = take_options(parser, graph); !problem.empty()) {
    return parser.wrong(problem);
  }
  const StandardOptions& standard = parser.standard();
  ReadOptions reading = standard.reading;
  reading.arguments =
      (reading.arguments - ArgumentSet{ArgumentGroup::inputs}) | ArgumentSet{ArgumentGroup::graphs};
  Console console(standard.console);
  if (graph.format == "png") {
    const Status png = within_memory(check_png);
    if (png.code() == StatusCode::invalid_argument) return parser.wrong(png.message());
    if (!png.ok()) return finish(png, subjects_of("flamegraph", standard), console);
  }
  if (parser.flag("sum-inputs") || any_partial(standard.inputs)) {
    return run_added_up(parser, graph, console);
  }
  return graph.exported_stacks ? run_exported(graph, standard, reading, console)
                               : run_of_one(parser, graph, reading, console);
}

OptionGroup moment_group() {
  OptionGroup group = {"Memory snapshots", {}};
  for (const OptionDescription* const option : moment_options()) {
    group.options.push_back(command_line_option(snapshot_table(), *option));
  }
  return group;
}

std::vector<OptionGroup> own_options() {
  return {
      {"Stacks",
       {{.name = "weight",
         .value = "W",
         .help = "self_cpu_time_total, self_device_time_total (or self_cuda_..) or cpu_memory",
         .otherwise = "self_cpu_time_total",
         .choices = {"self_cpu_time_total", "self_device_time_total", "self_cuda_time_total",
                     "cpu_memory"},
         .takes_others = true},
        {.name = "compat",
         .value = "WHO",
         .help = "torch: the lines that prof.export_stacks() writes (folded only)",
         .choices = {"torch"}},
        steps_range_option(),
        {.name = "thread", .value = "T", .help = "only the host thread of this id or name"},
        {.name = "by-thread", .help = "a frame for each host thread around its stacks"},
        RankChoice::option(),
        RankChoice::iteration_option(),
        {.name = "sum-inputs", .help = "the stacks of all inputs together"},
        {.name = "all-frames",
         .help = "keep frames that only pass a call on, and the addresses of objects"},
        {.name = "merge-recursion", .help = "a function inside itself counts as one"}}},
      moment_group(),
      {"Picture",
       {{.name = "format",
         .value = "F",
         .help = "svg, png or folded (default: by the output's name, else svg)",
         .choices = {"svg", "png", "folded"}},
        {.name = "order",
         .value = "ORDER",
         .help = "of frames on one frame: name, weight (widest first) or time (each call apart)",
         .otherwise = "name",
         .choices = {"name", "weight", "time"}},
        {.name = "inverted", .help = "the root on top, an icicle graph"},
        {.name = "title", .value = "TEXT", .help = "a title for the picture"},
        {.name = "width",
         .value = "PX",
         .help = "its width in px (default: the browser's window, png 1600)"},
        {.name = "scale",
         .value = "N",
         .help = "pixels of a png for each px, 1 to 4 (default: 2)"}}}};
}

}  // namespace

Command flamegraph_command() {
  return {
      .name = "flamegraph",
      .summary = "flame graph: CPU time, device time or memory by call stack",
      .usage = "[OPTIONS] INPUT",
      .about = kAbout,
      .options = own_options(),
      .examples = {{"tbtrace flamegraph trace.json.gz -o flame.svg",
                    "CPU time; open the file in a browser, click to zoom, Ctrl+F to search"},
                   {"tbtrace flamegraph a.json --weight self_cuda_time_total --inverted -o gpu.svg",
                    "GPU time under the lines that caused it, root on top"},
                   {"tbtrace flamegraph trace.json.gz -o flame.png",
                    "a still picture, for TensorBoard's Images tab and for documents"},
                   {"tbtrace flamegraph trace.json.gz --steps 3 --order time -o step.svg",
                    "one step, each call by itself, in the order of their starts"},
                   {"tbtrace flamegraph traces/ --rank 0 --thread python -o rank0.svg",
                    "one thread of one rank of a job"},
                   {"tbtrace flamegraph traces/ --sum-inputs -o job.svg",
                    "all ranks of a job together"},
                   {"tbtrace flamegraph trace.json -o stacks.folded",
                    "stacks as text, as flamegraph.pl, inferno and speedscope read them"},
                   {"tbtrace flamegraph snapshot.pickle -o memory.svg",
                    "who holds a GPU's memory, by stack"},
                   {"tbtrace flamegraph trace.json --format folded --compat torch",
                    "the lines that prof.export_stacks() writes"}},
      .run = run,
  };
}

}  // namespace tbtrace::tools
