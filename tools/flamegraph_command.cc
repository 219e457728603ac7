#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <unistd.h>

#include <tbtrace/analyses.h>
#include <tbtrace/capabilities.h>
#include <tbtrace/trace.h>
#include <tbtrace/writers.h>

#include "command.h"
#include "inputs.h"
#include "options.h"

namespace tbtrace::tools {
namespace {

constexpr const char* kAbout =
    "Flame graph of a saved trace: operators under the Python frames and modules that called\n"
    "them, and kernels under the operators that launched them.\n";

/// What to draw or write, and how.
struct GraphOptions {
  std::string format;
  std::string weight;
  bool exported_stacks = false;  ///< the lines of prof.export_stacks()
  FlameGraphPngOptions picture;  ///< an SVG's options are among those of a PNG
};

std::string title_of(const std::string& weight) {
  if (weight == "self_cpu_time_total") return "CPU time";
  return weight == "cpu_memory" ? "CPU memory, allocated" : "Device time";
}

/// Takes --inverted, --title, --width and --scale. Returns what is wrong with them, empty if
/// nothing is.
std::string take_picture_options(const OptionParser& parser, GraphOptions& graph) {
  constexpr std::int64_t kMostPngPixels = 16000;
  const bool is_png = graph.format == "png";
  FlameGraphPngOptions& picture = graph.picture;
  const auto number = [&](const char* option, std::int64_t otherwise) {
    return parser.given(option) ? whole_number(parser.text(option)) : std::optional(otherwise);
  };
  picture.inverted = parser.flag("inverted");
  if (!is_png && parser.given("scale")) return "--scale goes with --format png";
  const auto scale = number("scale", picture.scale);
  if (!scale || *scale < 1 || *scale > 4) return "--scale takes 1 to 4";
  picture.scale = static_cast<int>(*scale);
  const auto width = number("width", is_png ? picture.width : FlameGraphSvgOptions().width);
  const std::int64_t most = is_png ? kMostPngPixels / *scale : 100000;
  if (!width || *width < 200 || *width > most) {
    return "--width takes 200 to " + std::to_string(most) + " px" +
           (is_png ? " at --scale " + std::to_string(*scale) : "");
  }
  picture.width = static_cast<int>(*width);
  picture.title = parser.given("title") ? parser.text("title") : title_of(graph.weight);
  const std::string& input = parser.standard().inputs.front();
  picture.subtitle = input == "-" ? "" : input;
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
  }
  if (format.empty()) format = graph.exported_stacks ? "folded" : "svg";
  if (graph.exported_stacks && format != "folded") {
    return "--compat torch goes with --format folded";
  }
  if (!graph.exported_stacks && standard.inputs.size() > 1) {
    return "a flame graph is of one input; several go with --compat torch only";
  }
  return {};
}

/// Returns what is wrong with the options, empty if nothing is.
std::string take_options(const OptionParser& parser, GraphOptions& graph) {
  graph.weight = parser.text("weight");
  if (std::string problem = take_format(parser, graph); !problem.empty()) return problem;
  const Status weight = graph.exported_stacks ? check_stack_metric(graph.weight)
                                              : check_flame_graph_options({.weight = graph.weight});
  if (!weight.ok()) return weight.message();
  const bool to_output = output_of(parser.standard()) == "-";
  if (graph.format != "folded" && to_output && ::isatty(STDOUT_FILENO) != 0) {
    return "a picture does not go to a terminal; name a file with -o";
  }
  if (std::string problem = take_picture_options(parser, graph); !problem.empty()) return problem;
  if (graph.format == "png" && !capabilities().pictures) {
    return "this build draws no png, since cairo was not there when it was made; use svg";
  }
  return {};
}

Status write_stacks(const StackTree& stacks, const GraphOptions& graph, const std::string& output,
                    bool overwrite) {
  if (graph.format == "folded") return write_folded_stacks(stacks, output, overwrite);
  const FlameGraphPngOptions& picture = graph.picture;
  if (graph.format == "png") return write_flame_graph_png(stacks, output, picture, overwrite);
  const FlameGraphSvgOptions svg = {.title = picture.title,
                                    .subtitle = picture.subtitle,
                                    .width = picture.width,
                                    .inverted = picture.inverted};
  return write_flame_graph_svg(stacks, output, svg, overwrite);
}

/// Analyses and writes.
Status write_graph(std::span<const Trace* const> traces, const GraphOptions& graph,
                   const StandardOptions& standard, Console& console) {
  const std::string output = output_of(standard);
  if (graph.exported_stacks) {
    return write_exported_stacks(traces, output, graph.weight, standard.overwrite);
  }
  const Result<StackTree> stacks = flame_graph(*traces.front(), {.weight = graph.weight});
  if (!stacks.ok()) return stacks.status();
  if (stacks->total() == 0) {
    console.warning(subject_of(standard.inputs.front()),
                    "there is nothing of weight " + graph.weight + " in it; try another --weight");
  }
  return write_stacks(*stacks, graph, output, standard.overwrite);
}

int run(const OptionParser& parser) {
  GraphOptions graph;
  if (const std::string problem = take_options(parser, graph); !problem.empty()) {
    return parser.wrong(problem);
  }
  const StandardOptions& standard = parser.standard();
  ReadOptions reading = standard.reading;
  reading.arguments = reading.arguments - ArgumentSet{ArgumentGroup::inputs};
  Console console(standard.console);
  return run_together("flamegraph", standard, reading, console,
                      [&](std::span<const Trace* const> traces) {
                        return write_graph(traces, graph, standard, console);
                      });
}

std::vector<OptionGroup> own_options() {
  return {{"Stacks",
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
             .choices = {"torch"}}}},
          {"Picture",
           {{.name = "format",
             .value = "F",
             .help = "svg, png or folded (default: by the output's name, else svg)",
             .choices = {"svg", "png", "folded"}},
            {.name = "inverted", .help = "the root on top, an icicle graph"},
            {.name = "title", .value = "TEXT", .help = "a title for the picture"},
            {.name = "width", .value = "PX", .help = "its width in px (default: 1200, png 1600)"},
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
      .examples =
          {{"tbtrace flamegraph trace.json.gz -o flame.svg",
            "CPU time; open the file in a browser, click to zoom, Ctrl+F to search"},
           {"tbtrace flamegraph trace.json.gz --weight self_cuda_time_total --inverted -o gpu.svg",
            "GPU time under the lines that caused it, root on top"},
           {"tbtrace flamegraph trace.json.gz -o flame.png",
            "a still picture, for TensorBoard's Images tab and for documents"},
           {"tbtrace flamegraph trace.json -o stacks.folded",
            "stacks as text, as flamegraph.pl, inferno and speedscope read them"},
           {"tbtrace flamegraph trace.json --format folded --compat torch",
            "the lines that prof.export_stacks() writes"}},
      .run = run,
  };
}

}  // namespace tbtrace::tools
