#include "each_input.h"

#include <filesystem>
#include <iostream>
#include <map>
#include <set>
#include <system_error>

#include "inputs.h"
#include "out_of_memory.h"
#include "partial_inputs.h"

namespace tbtrace::tools {
namespace {

std::string output_in(const std::string& directory, const std::string& input,
                      const std::string& suffix, std::set<std::string>& taken) {
  const std::string stem =
      input == "-" ? "stdin" : std::filesystem::path(input).filename().string();
  for (int number = 1;; ++number) {
    const std::string name = stem + (number == 1 ? "" : "." + std::to_string(number)) + suffix;
    if (taken.insert(name).second) return (std::filesystem::path(directory) / name).string();
  }
}

/// Quotes in more backticks than the text has in a row.
std::string code_span(const std::string& text) {
  std::string ticks = "`";
  while (text.find(ticks) != std::string::npos) ticks += '`';
  const std::string blank = ticks.size() > 1 ? " " : "";
  return ticks + blank + text + blank + ticks;
}

void print_heading(TableFormat format, const std::string& input, bool first) {
  const std::string name = printable(subject_of(input));
  if (format == TableFormat::text) std::cout << name << ":\n" << std::flush;
  if (format == TableFormat::markdown) {
    std::cout << (first ? "" : "\n") << "## " << code_span(name) << "\n\n" << std::flush;
  }
}

}  // namespace

Result<OutputFormat> output_format(const OptionParser& parser, bool has_folder) {
  std::string format = parser.text("format");
  if (format.empty() && !has_folder) {
    const std::string& output = parser.standard().output;
    format = format_of_suffix(output, {{".csv", "csv"},
                                       {".json", "json"},
                                       {".md", "md"},
                                       {".txt", "text"},
                                       {".text", "text"},
                                       {".log", "text"}});
    if (format.empty() && std::filesystem::path(output).has_extension()) {
      return Status(StatusCode::invalid_argument,
                    "cannot tell the format of '" + output +
                        "' from its suffix; use .txt, .csv, .json or .md, or --format");
    }
  }
  if (format.empty()) format = "text";
  const std::map<std::string, TableFormat> formats = {{"text", TableFormat::text},
                                                      {"csv", TableFormat::csv},
                                                      {"json", TableFormat::json},
                                                      {"md", TableFormat::markdown}};
  return OutputFormat{formats.at(format), format};
}

int run_each(const std::string& verb, const OutputFormat& format,
             const std::vector<std::string>& inputs, const StandardOptions& standard,
             const ReadOptions& reading, Console& console, const WriteOne& write,
             const ChooseTrace& choose, const EachPartial& partials) {
  const bool to_files = !standard.output.empty() && standard.output != "-";
  if (to_files) {
    std::error_code error;
    std::filesystem::create_directories(standard.output, error);
    if (error) {
      console.error(standard.output,
                    "cannot make the directory: " + error.message() + "; name another with -o");
      return kUnwritableOutput;
    }
  }
  std::set<std::string> taken;
  bool any_shown = false;
  std::size_t failed = 0;
  int last_failure = kDone;
  for (const std::string& input : inputs) {
    int code = kDone;
    const auto make = [&](const std::function<Status(const std::string& output)>& write_one) {
      const std::string output =
          to_files ? output_in(standard.output, input, "." + verb + "." + format.name, taken) : "-";
      if (!to_files) print_heading(format.format, input, !any_shown);
      any_shown = true;
      const Status made = within_memory([&] { return write_one(output); });
      code = finish(made, {verb, subject_of(input), output}, console);
    };
    if (partials.write && is_partial(input)) {
      const Result<Partial> partial = read_partial_input(input, console);
      if (partial.ok() && !partials.choose(*partial)) continue;
      code = exit_code(partial.status());
      if (partial.ok()) {
        make([&](const std::string& output) { return partials.write(*partial, input, output); });
      }
    } else {
      const Result<Trace> trace = read_input(input, reading, console);
      if (trace.ok() && choose && !choose(*trace)) continue;
      code = exit_code(trace.status());
      if (trace.ok()) {
        make([&](const std::string& output) { return write(*trace, input, output); });
      }
    }
    if (code == kDone) continue;
    ++failed;
    last_failure = code;
  }
  if (failed == 0) return kDone;
  return failed == inputs.size() ? last_failure : kSomeInputsFailed;
}

}  // namespace tbtrace::tools
