#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/capabilities.h>
#include <tbtrace/report.h>
#include <tbtrace/version.h>

#include "command.h"
#include "console.h"
#include "inputs.h"
#include "options.h"
#include "out_of_memory.h"

namespace tbtrace::tools {
namespace {

constexpr const char* kAbout =
    "Prints the version. With --verbose, also which libraries this build has and whether the work\n"
    "of GPUs can be recorded on this machine; where it cannot, the reason and what to do. It "
    "tries\n"
    "it, which initialises CUDA for a moment. With --strict the exit code is 1 where GPUs cannot "
    "be\n"
    "recorded.\n";

std::string row(std::string_view what, const std::string& text) {
  constexpr std::size_t kWidth = 14;
  std::string line(what);
  line.resize(std::max(kWidth, line.size() + 1), ' ');
  return line + text + "\n";
}

/// Names come from drivers, paths from the environment: both have to be made printable.
std::string text_of(const Capabilities& can, const DeviceTracing& gpus) {
  std::string text = row("tbtrace", std::string(can.version));
  text += row("gzip", std::string(can.gzip_library));
  text += row("zstd", can.zstd ? "yes" : "no: built without libzstd");
  const std::string archives = Capabilities::archives_problem();
  text += row("archives", archives.empty() ? "yes" : "no: " + printable(archives));
  text += row("stack lines", can.stack_lines ? "yes" : "no: built without libbacktrace");
  const std::string lacks =
      can.pictures_problem.empty() ? "built without cairo" : printable(can.pictures_problem);
  text += row("pictures", can.pictures ? "yes" : "no: " + lacks);
  text += row("PNG files", can.png_files ? "yes" : "no: built without libpng");
  text += row("event files", can.event_files ? "yes" : "no: built without protobuf");
  text += row("GPU tracing", gpus.available ? "yes" : "no: " + printable(gpus.problem));
  if (!gpus.driver.empty()) text += row("  driver", "CUDA " + gpus.driver);
  if (!gpus.cupti.empty()) text += row("  CUPTI", gpus.cupti + ", " + printable(gpus.cupti_path));
  for (std::size_t number = 0; number < gpus.devices.size(); ++number) {
    text += row("  GPU " + std::to_string(number), printable(gpus.devices[number]));
  }
  return text;
}

int run(const OptionParser& parser) {
  const StandardOptions& standard = parser.standard();
  const bool as_json = parser.text("format") == "json";
  Console console(standard.console);
  const bool is_long = as_json || console.verbose();
  const Subjects subjects = subjects_of("--version", standard);
  if (const Status place = check_output(subjects.output, standard.overwrite); !place.ok()) {
    return finish(place, subjects, console);
  }
  bool available = true;
  const Status written = within_memory([&] {
    if (!is_long && !standard.reading.strict) {
      return write_text("tbtrace " + std::string(version()) + "\n", subjects.output,
                        standard.overwrite);
    }
    const Capabilities can = capabilities();
    const DeviceTracing gpus = Capabilities::device_tracing();
    available = gpus.available;
    const std::string text = as_json ? capabilities_json(can, gpus) : text_of(can, gpus);
    return write_text(text, subjects.output, standard.overwrite);
  });
  if (!written.ok()) return finish(written, subjects, console);
  return standard.reading.strict && !available ? kCheckFailed : kDone;
}

}  // namespace

Command version_command() {
  return {
      .name = "--version",
      .summary = "the version; with --verbose what this build and this machine can do",
      .usage = "[OPTIONS]",
      .about = kAbout,
      .options = {{"Output",
                   {{.name = "format",
                     .value = "F",
                     .help = "text or json",
                     .choices = {"text", "json"}}}}},
      .examples = {{"tbtrace --version --verbose",
                    "can GPUs be recorded here? if not: why, what to do"},
                   {"tbtrace --version --strict && train", "train only where they can"},
                   {"tbtrace --version --format json", "for scripts"}},
      .inputs = Inputs::none,
      .run = run,
  };
}

}  // namespace tbtrace::tools
