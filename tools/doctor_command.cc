#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/capabilities.h>
#include <tbtrace/writers.h>

#include "command.h"
#include "console.h"
#include "inputs.h"
#include "options.h"
#include "out_of_memory.h"

namespace tbtrace::tools {

namespace {

constexpr const char* kExamples =
    "  tbtrace doctor                       can GPUs be recorded here? if not: why, what to do\n"
    "  tbtrace doctor --strict && train     train only where they can\n"
    "  tbtrace doctor --format json         for scripts\n";

std::string row(std::string_view what, const std::string& text) {
  constexpr std::size_t kWidth = 14;
  std::string line(what);
  line.resize(std::max(kWidth, line.size() + 1), ' ');
  return line + text + "\n";
}

/// Names come from drivers, paths from the environment.
std::string text_of(const Capabilities& can, const DeviceTracing& gpus) {
  std::string text = row("tbtrace", std::string(can.version));
  text += row("gzip", std::string(can.gzip_library));
  text += row("stack lines", can.stack_lines ? "yes" : "no: built without libbacktrace");
  text += row("pictures", can.pictures ? "yes" : "no: built without cairo");
  text += row("GPU tracing", gpus.available ? "yes" : "no: " + printable(gpus.problem));
  if (!gpus.driver.empty()) text += row("  driver", "CUDA " + gpus.driver);
  if (!gpus.cupti.empty()) text += row("  CUPTI", gpus.cupti + ", " + printable(gpus.cupti_path));
  for (std::size_t number = 0; number < gpus.devices.size(); ++number) {
    text += row("  GPU " + std::to_string(number), printable(gpus.devices[number]));
  }
  return text;
}

}  // namespace

int run_doctor(const std::vector<std::string>& arguments) {
  OptionParser parser("doctor", "[OPTIONS]",
                      "Prints which libraries this build has and whether the work of GPUs can be "
                      "recorded on this machine;\nwhere it cannot, the reason and what to do. It "
                      "tries it, which initialises CUDA for a moment.\nWith --strict the exit code "
                      "is 1 where GPUs cannot be recorded.",
                      kExamples);
  parser.take_no_inputs();
  parser.add()("format", "text or json", cxxopts::value<std::string>(), "FORMAT");
  if (const auto code = parser.parse(arguments)) return *code;
  const StandardOptions& standard = parser.standard();
  const bool as_json = standard.format == "json";
  if (!as_json && !standard.format.empty() && standard.format != "text") {
    return parser.wrong("there is no format '" + standard.format + "'; use text or json");
  }
  Console console(standard.console);
  const Subjects subjects = subjects_of("doctor", standard);
  if (const Status place = check_output(subjects.output, standard.overwrite); !place.ok()) {
    return finish(place, subjects, console);
  }
  bool available = false;
  const Status written = within_memory([&] {
    const Capabilities can = capabilities();
    const DeviceTracing gpus = Capabilities::device_tracing();
    available = gpus.available;
    const std::string text = as_json ? capabilities_json(can, gpus) : text_of(can, gpus);
    return write_text(text, subjects.output, standard.overwrite);
  });
  if (!written.ok()) return finish(written, subjects, console);
  return standard.reading.strict && !available ? kCheckFailed : kDone;
}

}  // namespace tbtrace::tools
