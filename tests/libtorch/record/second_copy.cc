// A profiler of another copy of tbtrace, for whoever loads this library.
#include <cstdint>
#include <string_view>

#include <tbtrace/profiler.h>

/// Records a window with a GPU, traced from the constructor on or not. How many warnings there were
/// of nothing being recorded.
extern "C" [[gnu::visibility("default")]] int tbtrace_second_copy_records(bool attach_early) {
  int warnings = 0;
  {
    tbtrace::Profiler profiler(
        {.activities = {tbtrace::Activity::cpu, tbtrace::Activity::cuda},
         .schedule = tbtrace::schedule({.warmup = 1, .active = 1, .repeat = 1}),
         .experimental = {.on_warning =
                              [&](std::string_view sentence) {
                                warnings += sentence.find("by this copy") != sentence.npos ? 1 : 0;
                              }},
         .cupti = {.attach_early = attach_early}});
    profiler.start();
    profiler.step();
    profiler.step();
    profiler.stop();
  }
  return warnings;
}
