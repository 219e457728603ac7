#include <string>

#include <unistd.h>

#include <tbtrace/partial.h>

#include "command.h"
#include "inputs.h"
#include "options.h"

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
  const InputRules rules = {.needs_all = true, .only_partials = true, .counted = "merged"};
  return run_sum("add", standard, console, {}, rules, [&](const Partial& sum) {
    return finish_work([&] { return write_partial(sum, output, standard.overwrite); },
                       subjects_of("add", standard), console);
  });
}

}  // namespace

Command add_command() {
  return {
      .name = "add",
      .summary = "adds up partials",
      .usage = "[OPTIONS] INPUT... -o OUT.tbp",
      .about = kAbout,
      .options = {},
      .examples = {{"tbtrace add rank0.tbp rank1.tbp -o job.tbp", "two ranks of a job"},
                   {"tbtrace add partials/ -o job.tbp", "all partials of a directory"},
                   {"tbtrace ops job.tbp --sort-by self_cuda_time_total",
                    "the operators of all ranks together"}},
      .run = run,
  };
}

}  // namespace tbtrace::tools
