#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <tbtrace/recover.h>
#include <tbtrace/report.h>

#include "command.h"
#include "console.h"
#include "inputs.h"
#include "options.h"
#include "out_of_memory.h"
#include "table_options.h"
#include "time_option.h"

namespace tbtrace::tools {
namespace {

constexpr const char* kAbout =
    "Writes what processes left in their journals when they were killed, crashed or ran out of\n"
    "memory: a trace for each window that is in no file yet, in the layout of a log directory. A\n"
    "C++ program has a journal with `.journal = {\"DIR\"}` in its ProfilerOptions. Ranges that "
    "had\n"
    "not ended last until the last sign of life and are marked as unfinished. Journals of running\n"
    "processes are left alone. Journals stay, unless --remove is given; what an earlier call has\n"
    "written is not written again. Without -o the traces are written into the current directory.\n";

std::string counted(std::uint64_t count, std::string_view one, std::string_view many) {
  return std::to_string(count) + " " + std::string(count == 1 ? one : many);
}

/// Tells what became of each journal, and returns the exit code.
int tell(const Recovery& recovery, Console& console) {
  int code = kDone;
  for (const RecoveredJournal& journal : recovery.journals) {
    const std::string subject = subject_of(journal.folder);
    if (journal.is_in_use) {
      console.warning(subject, "is in use by a running process and was left alone");
      continue;
    }
    if (!journal.status.ok()) {
      console.error(subject, journal.status.message());
      code = kUnreadableInput;
      continue;
    }
    if (journal.windows.empty() && journal.unreadable_chunks == 0) {
      console.warning(subject, "has no window that is not in a file already");
    }
    const auto has_nothing = [](const RecoveredWindow& window) {
      return window.status.ok() && window.path.empty();
    };
    if (!journal.windows.empty() && std::ranges::all_of(journal.windows, has_nothing)) {
      console.warning(subject, "has nothing of this part, so nothing is written");
    }
    for (const RecoveredWindow& window : journal.windows) {
      if (!window.status.ok()) {
        console.error(subject, window.status.message());
        code = kUnwritableOutput;
      }
      if (window.lost_records > 0) {
        console.warning(subject, counted(window.lost_records, "record", "records") +
                                     " had been lost, since the journal had no room for them");
      }
    }
    if (journal.unreadable_chunks > 0) {
      console.warning(subject,
                      counted(journal.unreadable_chunks,
                              "part of the recording is damaged, and its records are missing",
                              "parts of the recording are damaged, and their records are missing") +
                          "; --remove does not remove this journal");
    }
    if (journal.unwritten_bytes > 0) {
      console.warning(subject,
                      counted(journal.unwritten_bytes, "byte", "bytes") +
                          " were left out, since the machine was started again before they were "
                          "known to be whole on its disk; `.sync` of JournalOptions sets how much "
                          "that can be");
    }
  }
  return code;
}

std::string text_of(const Recovery& recovery, const RecoverOptions& options) {
  std::string text;
  for (const RecoveredJournal& journal : recovery.journals) {
    for (const RecoveredWindow& window : journal.windows) {
      if (window.path.empty()) continue;
      const double seconds = static_cast<double>(window.end_ns - window.start_ns) * 1e-9;
      char length[32];
      static_cast<void>(std::snprintf(length, sizeof length, "%.3f s", seconds));
      text += printable(window.path) + ": process " + std::to_string(journal.process_id) + " on " +
              printable(journal.host) + ", " + length;
      if (options.steps || (options.last_seconds > 0 && !window.was_open)) {
        text += ", a part of a window";
      } else {
        text += window.was_open ? ", until its last sign of life" : ", a whole window";
      }
      if (window.unfinished_ranges > 0) {
        text += ", " + counted(window.unfinished_ranges, "range", "ranges") + " unfinished";
      }
      if (window.was_there) text += "; is there already, --overwrite writes it again";
      text += '\n';
    }
  }
  return text;
}

int run(const OptionParser& parser) {
  const StandardOptions& standard = parser.standard();
  RecoverOptions options;
  if (standard.output == "-") return parser.wrong("-o takes a directory, the log directory");
  options.output = standard.output.empty() ? "." : standard.output;
  options.use_gzip = parser.flag("gzip");
  options.remove = parser.flag("remove");
  options.overwrite = standard.overwrite;
  options.dialect = parser.text("to") == "plugin" ? Dialect::plugin : Dialect::kineto;
  if (parser.given("worker")) options.worker_name = parser.text("worker");
  if (parser.given("last")) {
    const auto seconds = seconds_of(parser.text("last"));
    if (!seconds || *seconds == 0)
      return parser.wrong("--last takes a time, such as 30s, 500ms or 2min");
    options.last_seconds = *seconds;
    if (options.remove) return parser.wrong("--remove removes all, so it does not go with --last");
  }
  const Result<std::optional<StepRange>> steps = chosen_steps(parser);
  if (!steps.ok()) return parser.wrong(steps.status().message());
  options.steps = *steps;
  if (options.steps && options.remove) {
    return parser.wrong("--remove removes all, so it does not go with --steps");
  }
  if (standard.inputs.size() != 1) return parser.wrong("give one directory");
  Console console(standard.console);
  const Subjects subjects = subjects_of("recover", standard);
  std::optional<Recovery> recovery;
  const Status done = within_memory([&] {
    Result<Recovery> recovered = recover(standard.inputs.front(), options);
    if (!recovered.ok()) return recovered.status();
    recovery = *std::move(recovered);
    return write_text(text_of(*recovery, options), "-", true);
  });
  if (!done.ok()) return finish(done, subjects, console);
  return tell(*recovery, console);
}

}  // namespace

Command recover_command() {
  return {
      .name = "recover",
      .summary = "traces of what a recording left whose program was killed or crashed",
      .usage = "DIRECTORY [OPTIONS]",
      .about = kAbout,
      .options = {{"Recovering",
                   {{.name = "last",
                     .value = "TIME",
                     .help = "leave out what had ended so long before the last sign of life: 30s"},
                    steps_range_option(),
                    {.name = "remove",
                     .help = "remove journals of which all windows are written"}}},
                  {"Output",
                   {{.name = "to",
                     .value = "D",
                     .help = "the dialect of the traces: kineto or plugin, which TensorBoard's "
                             "plugin reads",
                     .otherwise = "kineto",
                     .choices = {"kineto", "plugin"}},
                    {.name = "worker",
                     .value = "NAME",
                     .help = "the worker in the files' names; the dead process's host and id "
                             "otherwise"},
                    {.name = "gzip", .help = "compress the traces"}}}},
      .examples = {{"tbtrace recover journal -o logs", "what is left, as a log directory"},
                   {"tbtrace recover journal -o logs --last 30s", "the last 30 seconds"},
                   {"tbtrace recover journal -o logs --remove", "and then free the disk"}},
      .inputs = Inputs::needed,
      .run = run,
  };
}

}  // namespace tbtrace::tools
