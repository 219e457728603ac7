#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <unistd.h>

#include <tbtrace/repair.h>
#include <tbtrace/report.h>

#include "command.h"
#include "console.h"
#include "inputs.h"
#include "options.h"

namespace tbtrace::tools {
namespace {

constexpr const char* kAbout =
    "A damaged trace as a valid one, which every reader takes: of a program that was killed while\n"
    "it wrote, of a disk that was full, of writers that do not escape names or write NaN, of a\n"
    "damaged download. All events that can be read are written, unchanged and in their order.\n"
    "Nothing is invented: what cannot be read is left out, and a receipt says what that was and "
    "at\n"
    "which bytes. It is the member `tbtrace_repair` of the trace. A file with nothing to repair "
    "is\n"
    "copied byte for byte.\n";

std::string counted(std::uint64_t count, const char* one, const char* many) {
  return grouped(count) + (count == 1 ? one : many);
}

void tell(const RepairReport& report, const std::string& input, const std::string& output,
          Console& console) {
  const std::string subject = output == "-" ? "standard output" : output;
  if (report.was_whole) {
    console.message(subject, "is a copy: there was nothing to repair");
    return;
  }
  warn_of_issues(input, report.issues, console);
  constexpr std::size_t kShown = 5;
  for (std::size_t at = 0; at < std::min(kShown, report.losses.size()); ++at) {
    const LostStretch& loss = report.losses[at];
    std::string text = "at byte " + grouped(loss.at_byte) + ", ";
    text += loss.bytes ? counted(*loss.bytes, " byte is", " bytes are")
                       : std::string("an unknown number of bytes is");
    console.message(input, text + " lost (" + std::string(loss.kind) + ")");
  }
  std::string text = "has " + counted(report.read_events, " event; ", " events; ");
  text += report.lost_bytes == 0 ? "no byte is lost"
                                 : counted(report.lost_bytes, " byte is lost", " bytes are lost");
  console.message(subject, text + "; its member tbtrace_repair is the receipt");
  for (const auto& [id, count] : report.changes) {
    console.note(subject,
                 id + ": " + std::to_string(count) + " (" + std::string(change_sentence(id)) + ")");
  }
}

int run(const OptionParser& parser) {
  const StandardOptions& standard = parser.standard();
  if (standard.inputs.size() != 1) return parser.wrong("give one trace");
  const std::string output = output_of(standard);
  if (output == "-" && ::isatty(STDOUT_FILENO) != 0) {
    return parser.wrong("a trace does not go to a terminal; name a file with -o");
  }
  const std::string& input = standard.inputs.front();
  Console console(standard.console);
  const Subjects subjects = subjects_of_input(input, standard);
  const std::string receipt = parser.given("receipt") ? parser.text("receipt") : "";
  const Subjects of_receipt = {subjects.verb, subjects.input, receipt};
  if (!receipt.empty()) {
    if (is_same_output(receipt, output)) return parser.wrong("--receipt and -o name the same file");
    const Status place = check_output(receipt, standard.overwrite);
    if (!place.ok()) return finish(place, of_receipt, console);
  }
  RepairOptions options = {.overwrite = standard.overwrite,
                           .strict = standard.reading.strict,
                           .reading_threads = standard.reading.threads};
  options.on_progress = [&](std::uint64_t done, std::uint64_t total) {
    console.progress(subject_of(input), done, total);
    return true;
  };
  std::optional<RepairReport> report;
  const int code = finish_work(
      [&] {
        Result<RepairReport> repaired = repair_trace(input, output, options);
        if (!repaired.ok()) return repaired.status();
        report = *std::move(repaired);
        return Status();
      },
      subjects, console);
  if (code != kDone) return code;
  tell(*report, subject_of(input), output, console);
  if (receipt.empty()) return kDone;
  return finish(write_text(report->receipt + "\n", receipt, standard.overwrite), of_receipt,
                console);
}

}  // namespace

Command repair_command() {
  return {
      .name = "repair",
      .summary = "a damaged trace as a valid one, and a receipt of what was lost",
      .usage = "TRACE [OPTIONS] -o WHOLE.json.gz",
      .about = kAbout,
      .options = {{"Receipt",
                   {{.name = "receipt",
                     .value = "FILE",
                     .help = "also writes the receipt to a file of its own: read_events, "
                             "lost_bytes, damages with at_byte, kind and bytes",
                     .takes_path = true}}}},
      .examples = {{"tbtrace repair trace.json.tmp -o trace.json.gz",
                    "what a program that was killed had written"},
                   {"tbtrace repair broken.json -o whole.json --receipt receipt.json",
                    "with the receipt in a file of its own"}},
      .inputs = Inputs::needed,
      .run = run,
  };
}

}  // namespace tbtrace::tools
