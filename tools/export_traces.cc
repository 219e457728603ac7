#include "export_traces.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include <unistd.h>

#include "inputs.h"
#include "size_option.h"

namespace tbtrace::tools {
namespace {

std::string counted(std::uint64_t count, const char* what) {
  return grouped(count) + " " + what + (count == 1 ? "" : "s");
}

class ExportRun {
 public:
  ExportRun(const OptionParser& parser, const ExportFormatRow& format,
            const StandardOptions& standard)
      : format_(format),
        standard_(standard),
        console_(standard.console),
        loop_("convert", standard, reading(standard), console_,
              {.needs_all = parser.flag("fail-fast"), .takes_merged = true}) {}

  int run() {
    if (const int code = loop_.find(); code != kDone) return code;
    return loop_.run(
        [&](const Trace& trace, const std::string& path) {
          return finish_work([&] { return add(trace, path); }, subjects_of_input(path, standard_),
                             console_);
        },
        nullptr,
        [&] {
          return finish_work([&] { return finish_file(); }, subjects_of("convert", standard_),
                             console_);
        });
  }

 private:
  static ReadOptions reading(const StandardOptions& standard) {
    ReadOptions options = standard.reading;
    options.arguments = ArgumentSet::all();
    return options;
  }

  std::string name_of(const Trace& trace, const std::string& path) const {
    if (loop_.size() < 2) return {};
    const std::optional<std::int64_t> rank = trace.identity().rank;
    if (rank) return "rank " + std::to_string(*rank);
    return std::filesystem::path(path).filename().string();
  }

  Status add(const Trace& trace, const std::string& path) {
    std::error_code error;
    if (std::filesystem::equivalent(path, output_of(standard_), error)) {
      loop_.stop();
      return {StatusCode::invalid_argument,
              "is the output as well, which has less in it than the recording; name another file "
              "with -o"};
    }
    if (!file_) {
      auto created = TraceExport::create(output_of(standard_), format_.format, standard_.overwrite);
      if (!created.ok()) {
        loop_.stop();
        return created.status();
      }
      file_ = *std::move(created);
    }
    if (loop_.size() > 1 && !trace.identity().start_ns) {
      console_.warning(subject_of(path),
                       "its times do not count from 1970, so it does not line up with the others");
    }
    Status added = file_->add(trace, name_of(trace, path));
    if (!added.ok()) loop_.stop();
    return added;
  }

  Status finish_file() {
    const Result<ExportReport> report = file_->finish();
    if (!report.ok()) return report.status();
    const std::string subject =
        output_of(standard_) == "-" ? "standard output" : output_of(standard_);
    std::string text = "has " + counted(report->ranges, "range");
    if (report->flows > 0) text += ", " + counted(report->flows, "flow");
    if (report->instants > 0) text += ", " + counted(report->instants, "instant");
    if (report->counter_values > 0) {
      text += ", " + counted(report->counter_values, "counter value");
    }
    if (report->traces > 1) text += " of " + counted(report->traces, "trace");
    text += "; " + size_text(report->bytes);
    if (subject.ends_with(".gz")) text += " before compression";
    console_.message(subject, text);
    for (const auto& [what, count] : report->left_out) {
      console_.message(subject, "left out: " + what + " (" + grouped(count) + ")");
    }
    return {};
  }

  const ExportFormatRow& format_;
  const StandardOptions& standard_;
  Console console_;
  InputLoop loop_;
  std::optional<TraceExport> file_;
};

/// Returns what is wrong with the options, empty if nothing is.
std::string wrong_options(const OptionParser& parser, const ExportFormatRow& format,
                          const StandardOptions& standard) {
  const std::string to = "--to " + std::string(format.name);
  for (const char* const name :
       {"dialect", "run", "worker", "infer-steps", "skip-existing", "format"}) {
    if (parser.given(name)) {
      return "--" + std::string(name) + " applies to log directories, and " + to +
             " writes one file";
    }
  }
  if (parser.given("gzip") || parser.given("no-gzip")) {
    return to + " compresses a file whose name ends in .gz, without --gzip";
  }
  const std::string example = "trace" + std::string(format.suffix);
  if (standard.output.empty()) return "name the file with -o, such as -o " + example;
  std::error_code error;
  if (std::filesystem::is_directory(standard.output, error)) {
    return to + " writes one file, and " + standard.output +
           " is a directory; name a file in it, such as -o " +
           (std::filesystem::path(standard.output) / example).string();
  }
  if (standard.output == "-" && ::isatty(STDOUT_FILENO) != 0) {
    return "a trace does not go to a terminal; name a file with -o";
  }
  return {};
}

}  // namespace

std::optional<ExportFormatRow> chosen_export(const OptionParser& parser) {
  for (const ExportFormatRow& row : export_formats()) {
    if (row.name == parser.text("to")) return row;
  }
  return std::nullopt;
}

std::string problem_of_log_directory(const std::string& output) {
  for (const ExportFormatRow& row : export_formats()) {
    const std::string suffix(row.suffix);
    if (!output.ends_with(suffix) && !output.ends_with(suffix + ".gz")) continue;
    std::error_code error;
    if (std::filesystem::is_directory(output, error)) continue;
    return output + " has the name of a file; add --to " + std::string(row.name) +
           " to write it, or name a log directory";
  }
  return {};
}

int export_traces(const OptionParser& parser, const ExportFormatRow& format,
                  const StandardOptions& standard) {
  if (const std::string problem = wrong_options(parser, format, standard); !problem.empty()) {
    return parser.wrong(problem);
  }
  return ExportRun(parser, format, standard).run();
}

}  // namespace tbtrace::tools
