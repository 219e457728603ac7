#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <unistd.h>

#include <tbtrace/anonymise.h>
#include <tbtrace/report.h>

#include "command.h"
#include "console.h"
#include "inputs.h"
#include "options.h"

namespace tbtrace::tools {
namespace {

constexpr const char* kAbout =
    "A trace that can be given away, such as for a bug report. Words that are not torch's, its\n"
    "libraries' or vendors' are replaced: in names of ranges, kernels, modules, threads and "
    "groups,\n"
    "in paths and functions. Texts in arguments and members that torch does not write are left "
    "out.\n"
    "Times, ids, shapes, types and all other numbers stay, so every table has the same figures.\n"
    "Numbers in names stay, too, and so do names made of public words. Look at the result before\n"
    "you give it away.\n";

/// What a file holds, or nothing if it cannot be read.
std::optional<std::string> bytes_of(const std::string& path, std::size_t most) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string bytes(most, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(most));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

int report_check(const std::string& input, const AnonymiseReport& report, Console& console) {
  if (report.names.empty() && report.arguments_left_out == 0 && report.members_left_out == 0) {
    console.message(
        input,
        "tbtrace anonymise would change nothing in it; numbers, and names of public words "
        "only, are not found: look at it before you give it away");
    return kDone;
  }
  constexpr std::size_t kShown = 10;
  std::string shown;
  std::size_t count = 0;
  for (const auto& [word, unused] : report.names) {
    static_cast<void>(unused);
    if (++count > kShown) break;
    shown += (shown.empty() ? "" : ", ") + printable(word);
  }
  if (!report.names.empty()) {
    console.warning(input,
                    grouped(report.names.size()) + " words are not known to be public: " + shown +
                        (count > kShown ? ", ..." : "") + "; tbtrace anonymise replaces them");
  }
  const std::uint64_t texts = report.arguments_left_out + report.members_left_out;
  if (texts > 0) {
    console.warning(input, grouped(texts) +
                               " arguments and members may say anything; tbtrace "
                               "anonymise leaves them out");
  }
  return kCheckFailed;
}

void tell(const AnonymiseReport& report, const std::string& output, Console& console) {
  console.message(output == "-" ? "standard output" : output,
                  "has " + grouped(report.events) + " events; " + grouped(report.names.size()) +
                      " words are replaced, " + grouped(report.arguments_left_out) +
                      " arguments and " + grouped(report.members_left_out) +
                      " members are left out");
}

/// Where each of several results goes.
std::string place_of(const std::string& output, std::size_t number, std::size_t all) {
  if (all == 1) return output;
  return output + "/trace" + std::to_string(number + 1) + ".json.gz";
}

int run_one(const std::string& input, const std::string& output, AnonymiseOptions options,
            bool only_checks, const StandardOptions& standard, Console& console,
            std::map<std::string, std::string>& names) {
  options.on_progress = [&](std::uint64_t done, std::uint64_t total) {
    console.progress(subject_of(input), done, total);
    return true;
  };
  std::optional<AnonymiseReport> report;
  Subjects subjects = subjects_of_input(input, standard);
  subjects.output = output;
  const int code = finish_work(
      [&] {
        Result<AnonymiseReport> made = only_checks ? find_private_names(input, options)
                                                   : anonymise_trace(input, output, options);
        if (!made.ok()) return made.status();
        report = *std::move(made);
        return Status();
      },
      subjects, console);
  if (code != kDone) return code;
  warn_of_issues(subject_of(input), report->issues, console);
  if (only_checks) return report_check(subject_of(input), *report, console);
  tell(*report, output, console);
  names.merge(report->names);
  return kDone;
}

int run(const OptionParser& parser) {
  const StandardOptions& standard = parser.standard();
  const bool only_checks = parser.flag("check");
  const std::size_t inputs = standard.inputs.size();
  const std::string output = output_of(standard);
  if (!only_checks && output == "-" && (inputs > 1 || ::isatty(STDOUT_FILENO) != 0)) {
    return parser.wrong(inputs > 1 ? "of several traces, -o names a directory"
                                   : "a trace does not go to a terminal; name a file with -o");
  }
  AnonymiseOptions options = {.overwrite = standard.overwrite,
                              .strict = standard.reading.strict,
                              .reading_threads = standard.reading.threads};
  Console console(standard.console);
  const bool has_key = parser.given("key-file");
  const std::string key_file = has_key ? parser.text("key-file") : "/dev/urandom";
  constexpr std::size_t kMostKey = std::size_t{1} << 16;
  const std::optional<std::string> key =
      bytes_of(key_file, has_key ? kMostKey : kLeastAnonymiseKey);
  if (!key || key->size() < kLeastAnonymiseKey) {
    console.error(key_file,
                  "is not a key of at least 16 bytes; make one with "
                  "`head -c 32 /dev/urandom > job.key`");
    return kUnreadableInput;
  }
  options.key = *key;
  const std::string list = parser.given("names") && !only_checks ? parser.text("names") : "";
  const Subjects of_list = {"anonymise", "anonymise", list};
  if (!list.empty()) {
    if (is_same_output(list, output)) return parser.wrong("--names and -o name the same file");
    const Status place = check_output(list, standard.overwrite);
    if (!place.ok()) return finish(place, of_list, console);
  }
  if (inputs > 1 && !only_checks) {
    std::error_code failure;
    std::filesystem::create_directories(output, failure);  // who writes there says what is wrong
  }
  std::map<std::string, std::string> names;
  int code = kDone;
  std::size_t failed = 0;
  for (std::size_t number = 0; number < inputs; ++number) {
    const int one = run_one(standard.inputs[number], place_of(output, number, inputs), options,
                            only_checks, standard, console, names);
    if (one == kDone) continue;
    code = one;
    if (one != kCheckFailed) ++failed;
  }
  if (failed > 0 && failed < inputs) code = kSomeInputsFailed;
  if (list.empty() || failed == inputs) return code;
  const int listed =
      finish(write_text(names_document(names), list, standard.overwrite), of_list, console);
  return code == kDone ? listed : code;
}

}  // namespace

Command anonymise_command() {
  return {
      .name = "anonymise",
      .summary = "a trace that can be given away: names, paths and texts replaced, figures kept",
      .usage = "TRACE... [OPTIONS] -o PUBLIC.json.gz",
      .about = kAbout,
      .options = {{"Names",
                   {{.name = "key-file",
                     .value = "FILE",
                     .help =
                         "a secret of at least 16 bytes: with the same one, a name has the same "
                         "replacement in all traces, such as those of a job's ranks; otherwise "
                         "a random one for this call",
                     .takes_path = true},
                    {.name = "names",
                     .value = "FILE",
                     .help = "writes what was replaced by what as JSON; keep it to yourself",
                     .takes_path = true},
                    {.name = "check",
                     .help = "writes nothing; exit code 1 if a trace has something that would be "
                             "replaced or left out"}}}},
      .examples = {{"tbtrace anonymise trace.json.gz -o public.json.gz", "one trace"},
                   {"tbtrace anonymise rank*.json.gz -o public --key-file job.key",
                    "all ranks of a job, with the same names, into a directory"},
                   {"tbtrace anonymise --check public.json.gz", "what would be replaced"}},
      .inputs = Inputs::needed,
      .run = run,
  };
}

}  // namespace tbtrace::tools
