// What changed between two recordings, and what explains it; ends with 1 if the step takes more
// than 3 % longer for sure.
//   compare_runs BEFORE AFTER
#include <iostream>
#include <string>
#include <vector>

#include <tbtrace/diff.h>
#include <tbtrace/trace.h>

namespace {

/// The figures of a run of one rank; several ranks are added one after the other.
tbtrace::Result<tbtrace::RunFigures> run_of(const char* path) {
  const tbtrace::Result<tbtrace::Trace> trace =
      tbtrace::read_trace(path, {.arguments = tbtrace::diff_arguments()});
  if (!trace.ok()) return trace.status();
  tbtrace::RunSum run(path);
  if (const tbtrace::Status added = run.add(*trace); !added.ok()) return added;
  return run.figures();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: compare_runs BEFORE AFTER\n";
    return 2;
  }
  const tbtrace::Result<tbtrace::RunFigures> before = run_of(argv[1]);
  const tbtrace::Result<tbtrace::RunFigures> after = run_of(argv[2]);
  if (!before.ok() || !after.ok()) {
    std::cerr << (before.ok() ? after : before).status().message() << '\n';
    return 1;
  }
  // Runs of this program are known to vary by 5 %.
  const tbtrace::Result<tbtrace::Diff> diff =
      tbtrace::diff({&*before, 1}, {&*after, 1}, {.run_noise = 0.05});
  std::cout << tbtrace::diff_text(*diff, {.row_limit = 5});
  const tbtrace::Result<tbtrace::DiffLimit> limit = tbtrace::parse_diff_limit("step_time>+3%");
  const tbtrace::LimitResult result = tbtrace::check_diff_limit(*diff, *limit);
  std::cout << result.sentence << '\n';
  return result.verdict == tbtrace::LimitVerdict::exceeded ? 1 : 0;
}
