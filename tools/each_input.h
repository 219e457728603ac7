// One result per input, instead of one result from all.
#pragma once

#include <functional>
#include <string>

#include <tbtrace/partial.h>
#include <tbtrace/report.h>
#include <tbtrace/trace.h>

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

/// Writes the result of one trace to `output`, `-` for standard output.
using WriteOne =
    std::function<Status(const Trace& trace, const std::string& input, const std::string& output)>;

/// Whether a trace is one of those that were asked for.
using ChooseTrace = std::function<bool(const Trace& trace)>;

/// The same for partials. Without `write` they are read as traces, which says that they are none.
struct EachPartial {
  std::function<bool(const Partial& partial)> choose = {};
  std::function<Status(const Partial& partial, const std::string& input, const std::string& output)>
      write = {};
};

/// Calls `write` for each of the inputs that `choose` takes, all if it is empty; if one fails, the
/// others are still written. With an output, that is a directory and gets files
/// `<input>.<verb>.<format>`, numbered if several inputs have the same name. Returns the exit code.
int run_each(const std::string& verb, const OutputFormat& format,
             const std::vector<std::string>& inputs, const StandardOptions& standard,
             const ReadOptions& reading, Console& console, const WriteOne& write,
             const ChooseTrace& choose = {}, const EachPartial& partials = {});

}  // namespace tbtrace::tools
