#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include <tbtrace/analyses.h>
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

}  // namespace

int run_flamegraph(const std::vector<std::string>& arguments) {
  OptionParser parser("flamegraph", "[OPTIONS] INPUT", kAbout, kExamples);
  const auto text = [] { return cxxopts::value<std::string>(); };
  parser.add("Stacks")  //
      ("weight", "self_cpu_time_total, self_device_time_total (or self_cuda_..) or cpu_memory",
       text()->default_value("self_cpu_time_total"), "W")  //
      ("compat", "torch: the lines that prof.export_stacks() writes (folded only)", text(), "WHO");
  parser.add("Picture")                                                                   //
      ("format", "svg or folded (default: by the output's name, else svg)", text(), "F")  //
      ("inverted", "the root on top, an icicle graph")                                    //
      ("title", "a title for the picture", text(), "TEXT")                                //
      ("width", "its width in px", text()->default_value("1200"), "PX");
  if (const std::optional<int> code = parser.parse(arguments)) return *code;
  const StandardOptions& standard = parser.standard();
  const cxxopts::ParseResult& values = parser.values();

  std::string format = standard.format;
  if (format.empty()) {
    format = format_of_suffix(standard.output,
                              {{".svg", "svg"}, {".folded", "folded"}, {".txt", "folded"}});
  }
  const bool compat = values.count("compat") > 0;
  if (format.empty()) format = compat ? "folded" : "svg";
  if (format != "svg" && format != "folded") {
    return parser.wrong("there is no format '" + format + "'; use svg or folded");
  }
  if (compat && values["compat"].as<std::string>() != "torch") {
    return parser.wrong("--compat takes torch");
  }
  if (compat && format != "folded") return parser.wrong("--compat torch goes with --format folded");
  if (!compat && standard.inputs.size() > 1) {
    return parser.wrong("a flame graph is of one input; several go with --compat torch only");
  }
  const bool to_output = standard.output.empty() || standard.output == "-";
  if (format == "svg" && to_output && ::isatty(STDOUT_FILENO) != 0) {
    return parser.wrong("a picture does not go to a terminal; name a file with -o");
  }
  FlameGraphSvgOptions picture;
  picture.inverted = parser.flag("inverted");
  const auto width = whole_number(values["width"].as<std::string>());
  if (!width || *width < 200 || *width > 100000) {
    return parser.wrong("--width takes 200 to 100000 px");
  }
  picture.width = static_cast<int>(*width);

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
    result = format == "svg" ? flame_graph_svg(*stacks, picture) : folded_stacks(*stacks);
  }
  const Status written = write_text(result, output, standard.overwrite);
  if (!written.ok()) {
    return fail(written, to_output ? "standard output" : standard.output, console);
  }
  return kDone;
}

}  // namespace tbtrace::tools
