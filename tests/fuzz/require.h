// What a fuzz target expects of its input's outcome; the first thing that is not so ends the run.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace tbtrace::fuzz {

/// `what` is the rule that was broken.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: does not hold: %s\n", what);
  std::abort();
}

}  // namespace tbtrace::fuzz
