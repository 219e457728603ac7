#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include <unistd.h>

#include <tbtrace/partial.h>
#include <tbtrace/writers.h>

#include "command.h"
#include "inputs.h"
#include "options.h"
#include "out_of_memory.h"
#include "partial_inputs.h"

namespace tbtrace::tools {
namespace {

constexpr const char* kAbout =
    "Adds up partials: the result is the partial of all their traces. Any order and any tree of\n"
    "merges give the same bytes. A trace that is in two of them is an error, because its time "
    "would\n"
    "count twice; so is a partial that cannot be read, because the sum would lack it.\n";

int run(const OptionParser& parser) {
  const StandardOptions& standard = parser.standard();
  const std::string output = output_of(standard);
  if (output == "-" && ::isatty(STDOUT_FILENO) != 0) {
    return parser.wrong("a partial does not go to a terminal; name a file with -o");
  }
  Console console(standard.console);
  const Subjects subjects = subjects_of("merge-partials", standard);
  if (const Status place = check_output(output, standard.overwrite); !place.ok()) {
    return finish(place, subjects, console);
  }
  const InputPaths inputs = find_partial_inputs(standard, console);
  if (inputs.failed > 0) return inputs.last_failure;
  std::optional<Partial> sum;
  for (std::size_t input = 0; input < inputs.paths.size(); ++input) {
    const std::string& path = inputs.paths[input];
    Result<Partial> partial = read_partial_input(path, console);
    if (!partial.ok()) return exit_code(partial.status());
    if (!sum) {
      sum = *std::move(partial);
    } else {
      const Status merged = within_memory([&] { return sum->merge(*partial); });
      if (!merged.ok()) {
        console.error(subject_of(path), merged.message());
        return exit_code(merged);
      }
    }
    console.count("merged", input + 1, inputs.paths.size());
  }
  const Status written =
      within_memory([&] { return write_partial(*sum, output, standard.overwrite); });
  return finish(written, subjects, console);
}

}  // namespace

Command merge_partials_command() {
  return {
      .name = "merge-partials",
      .summary = "adds up partials",
      .usage = "[OPTIONS] INPUT... -o OUT.tbp",
      .about = kAbout,
      .options = {},
      .examples = {{"tbtrace merge-partials rank0.tbp rank1.tbp -o job.tbp", "two ranks of a job"},
                   {"tbtrace merge-partials partials/ -o job.tbp", "all partials of a directory"},
                   {"tbtrace ops job.tbp --sort-by self_cuda_time_total",
                    "the operators of all ranks together"}},
      .run = run,
  };
}

}  // namespace tbtrace::tools
