#include "each_input.h"

#include <filesystem>
#include <iostream>
#include <map>
#include <system_error>
#include <utility>

#include "inputs.h"

namespace tbtrace::tools {
namespace {

/// Quotes in more backticks than the text has in a row.
std::string code_span(const std::string& text) {
  std::string ticks = "`";
  while (text.find(ticks) != std::string::npos) ticks += '`';
  const std::string blank = ticks.size() > 1 ? " " : "";
  return ticks + blank + text + blank + ticks;
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
  const auto found = formats.find(format);
  if (found == formats.end()) {
    return Status(StatusCode::invalid_argument,
                  "--format " + format + " is not for these inputs; take text, csv, json or md");
  }
  return OutputFormat{found->second, format};
}

EachOutput::EachOutput(std::string_view verb, OutputFormat format, const StandardOptions& standard,
                       Console& console)
    : verb_(verb),
      format_(std::move(format)),
      standard_(standard),
      console_(console),
      to_files_(output_of(standard) != "-") {}

int EachOutput::prepare() {
  if (!to_files_) return kDone;
  std::error_code error;
  std::filesystem::create_directories(standard_.output, error);
  if (!error) return kDone;
  console_.error(standard_.output,
                 "cannot make the directory: " + error.message() + "; name another with -o");
  return kUnwritableOutput;
}

int EachOutput::write(const std::string& input,
                      const std::function<Status(const std::string& output)>& write) {
  const std::string output = to_files_ ? place_of(input) : "-";
  if (!to_files_) print_heading(input);
  return finish_work([&] { return write(output); }, {verb_, subject_of(input), output}, console_);
}

std::string EachOutput::place_of(const std::string& input) {
  const std::string stem =
      input == "-" ? "stdin" : std::filesystem::path(input).filename().string();
  for (int number = 1;; ++number) {
    const std::string name =
        stem + (number == 1 ? "" : "." + std::to_string(number)) + "." + verb_ + "." + format_.name;
    if (taken_.insert(name).second)
      return (std::filesystem::path(standard_.output) / name).string();
  }
}

void EachOutput::print_heading(const std::string& input) {
  const std::string name = printable(subject_of(input));
  if (format_.format == TableFormat::text) std::cout << name << ":\n" << std::flush;
  if (format_.format == TableFormat::markdown) {
    std::cout << (any_shown_ ? "\n" : "") << "## " << code_span(name) << "\n\n" << std::flush;
  }
  any_shown_ = true;
}

}  // namespace tbtrace::tools
