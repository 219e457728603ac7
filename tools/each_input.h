// One result per input, instead of one result from all.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

#include <tbtrace/report.h>
#include <tbtrace/status.h>

#include "console.h"
#include "options.h"

namespace tbtrace::tools {

struct OutputFormat {
  TableFormat format = TableFormat::text;
  std::string name = "text";  ///< also the suffix of files
};

/// The format that was asked for with `--format`, else by the suffix of the output, else text.
/// `has_folder`: the output is a directory.
Result<OutputFormat> output_format(const OptionParser& parser, bool has_folder);

/// Where the results of inputs go, one by one: into files `<input>.<verb>.<format>` of a directory,
/// numbered if several inputs have the same name, or to standard output, with headings.
class EachOutput {
 public:
  EachOutput(std::string_view verb, OutputFormat format, const StandardOptions& standard,
             Console& console);

  /// Makes the directory. Returns an exit code.
  int prepare();

  /// Calls `write` with the place for the result of an input. Returns an exit code.
  int write(const std::string& input,
            const std::function<Status(const std::string& output)>& write);

 private:
  std::string place_of(const std::string& input);
  void print_heading(const std::string& input);

  const std::string verb_;
  const OutputFormat format_;
  const StandardOptions& standard_;
  Console& console_;
  const bool to_files_;
  std::set<std::string> taken_;
  bool any_shown_ = false;
};

}  // namespace tbtrace::tools
