#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include <tbtrace/analyses.h>
#include <tbtrace/capabilities.h>
#include <tbtrace/trace.h>
#include <tbtrace/writers.h>

#include "command.h"
#include "options.h"

namespace tbtrace::tools {
namespace {

constexpr const char* kAbout =
    "Flame graph of a saved trace: operators under the Python frames and modules that called\n"
    "them, and kernels under the operators that launched them.\n";

constexpr const char* kExamples =
    "  tbtrace flamegraph trace.json.gz -o flame.svg\n"
    "      CPU time; open the file in a browser, click to zoom, Ctrl+F to search\n"
    "  tbtrace flamegraph trace.json.gz --weight self_cuda_time_total --inverted -o gpu.svg\n"
    "      GPU time under the lines that caused it, root on top\n"
    "  tbtrace flamegraph trace.json.gz -o flame.png\n"
    "      a still picture, for TensorBoard's Images tab and for documents\n"
    "  tbtrace flamegraph trace.json -o stacks.folded\n"
    "      stacks as text, as flamegraph.pl, inferno and speedscope read them\n"
    "  tbtrace flamegraph trace.json --format folded --compat torch\n"
    "      the lines that prof.export_stacks() writes\n";

int fail(const Status& status, const std::string& subject, Console& console) {
  console.error(subject, status.message());
  return exit_code(status);
}

std::string title_of(const std::string& weight) {
  if (weight == "self_cpu_time_total") return "CPU time";
  return weight == "cpu_memory" ? "CPU memory, allocated" : "Device time";
}

/// Takes --inverted, --width and --scale; says what is wrong with them, nothing if all is well. An
/// SVG's options are among those of a PNG.
std::string take_picture_options(const OptionParser& parser, const std::string& format,
                                 FlameGraphPngOptions& picture) {
  constexpr std::int64_t kMostPngPixels = 16000;
  const bool is_png = format == "png";
  const auto number = [&](const char* option, std::int64_t otherwise) {
    const cxxopts::ParseResult& values = parser.values();
    if (values.count(option) == 0) return std::optional(otherwise);
    return whole_number(values[option].as<std::string>());
  };
  picture.inverted = parser.flag("inverted");
  if (!is_png && parser.values().count("scale") > 0) return "--scale goes with --format png";
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
  return {};
}

Result<std::string> drawn(const StackTree& stacks, const std::string& format,
                          const FlameGraphPngOptions& picture) {
  if (format == "png") return flame_graph_png(stacks, picture);
  return flame_graph_svg(stacks, {.title = picture.title,
                                  .subtitle = picture.subtitle,
                                  .width = picture.width,
                                  .inverted = picture.inverted});
}

}  // namespace

int run_flamegraph(const std::vector<std::string>& arguments) {
  OptionParser parser("flamegraph", "[OPTIONS] INPUT", kAbout, kExamples);
  const auto text = [] { return cxxopts::value<std::string>(); };
  parser.add("Stacks")  //
      ("weight", "self_cpu_time_total, self_device_time_total (or self_cuda_..) or cpu_memory",
       text()->default_value("self_cpu_time_total"), "W")  //
      ("compat", "torch: the lines that prof.export_stacks() writes (folded only)", text(), "WHO");
  parser.add("Picture")                                                                        //
      ("format", "svg, png or folded (default: by the output's name, else svg)", text(), "F")  //
      ("inverted", "the root on top, an icicle graph")                                         //
      ("title", "a title for the picture", text(), "TEXT")                                     //
      ("width", "its width in px (default: 1200, png 1600)", text(), "PX")                     //
      ("scale", "pixels of a png for each px, 1 to 4 (default: 2)", text(), "N");
  if (const std::optional<int> code = parser.parse(arguments)) return *code;
  const StandardOptions& standard = parser.standard();
  const cxxopts::ParseResult& values = parser.values();

  std::string format = standard.format;
  if (format.empty()) {
    format = format_of_suffix(
        standard.output,
        {{".svg", "svg"}, {".png", "png"}, {".folded", "folded"}, {".txt", "folded"}});
  }
  const bool compat = values.count("compat") > 0;
  if (format.empty()) format = compat ? "folded" : "svg";
  if (format != "svg" && format != "png" && format != "folded") {
    return parser.wrong("there is no format '" + format + "'; use svg, png or folded");
  }
  if (compat && values["compat"].as<std::string>() != "torch") {
    return parser.wrong("--compat takes torch");
  }
  if (compat && format != "folded") return parser.wrong("--compat torch goes with --format folded");
  if (!compat && standard.inputs.size() > 1) {
    return parser.wrong("a flame graph is of one input; several go with --compat torch only");
  }
  const bool to_output = standard.output.empty() || standard.output == "-";
  if (format != "folded" && to_output && ::isatty(STDOUT_FILENO) != 0) {
    return parser.wrong("a picture does not go to a terminal; name a file with -o");
  }
  FlameGraphPngOptions picture;
  if (const std::string problem = take_picture_options(parser, format, picture); !problem.empty()) {
    return parser.wrong(problem);
  }
  if (format == "png" && !capabilities().pictures) {
    return parser.wrong(
        "this build draws no png, since cairo was not there when it was made; use svg");
  }

  Console console(standard.console);
  const std::string output = to_output ? "-" : standard.output;
  if (const Status place = check_output(output, standard.overwrite); !place.ok()) {
    return fail(place, output, console);
  }
  ReadOptions reading = standard.reading;
  reading.inputs = false;
  std::vector<Trace> traces;
  for (const std::string& input : standard.inputs) {
    Result<Trace> trace = read_input(input, reading, console);
    if (!trace.ok()) return exit_code(trace.status());
    traces.push_back(*std::move(trace));
  }
  if (const Status same = check_same_process(standard.inputs, traces); !same.ok()) {
    return fail(same, "flamegraph", console);
  }
  const std::string weight = values["weight"].as<std::string>();
  std::string result;
  if (compat) {
    std::vector<const Trace*> pointers;
    pointers.reserve(traces.size());
    for (const Trace& trace : traces) pointers.push_back(&trace);
    Result<std::string> lines = exported_stacks(pointers, weight);
    if (!lines.ok()) return fail(lines.status(), "flamegraph", console);
    result = *std::move(lines);
  } else {
    const Result<StackTree> stacks = flame_graph(traces.front(), {.weight = weight});
    if (!stacks.ok()) return fail(stacks.status(), "flamegraph", console);
    if (stacks->total() == 0) {
      console.warning(subject_of(standard.inputs.front()),
                      "there is nothing of weight " + weight + " in it; try another --weight");
    }
    picture.title =
        values.count("title") > 0 ? values["title"].as<std::string>() : title_of(weight);
    picture.subtitle = standard.inputs.front() == "-" ? "" : standard.inputs.front();
    Result<std::string> made =
        format == "folded" ? folded_stacks(*stacks) : drawn(*stacks, format, picture);
    if (!made.ok()) return fail(made.status(), "flamegraph", console);
    result = *std::move(made);
  }
  const Status written = write_text(result, output, standard.overwrite);
  if (!written.ok()) {
    return fail(written, to_output ? "standard output" : standard.output, console);
  }
  return kDone;
}

}  // namespace tbtrace::tools
