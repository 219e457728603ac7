// What this build of the library can do, where builds differ.
// Constant; safe from any thread. Target tbtrace::core, which cannot know whether there is
// tbtrace::torch: in CMake `if(TARGET tbtrace::torch)` tells.
#pragma once

#include <string_view>

namespace tbtrace {

struct Capabilities {
  std::string_view version;       ///< as version() says
  std::string_view gzip_library;  ///< `isa-l`, which is faster, or `zlib`
  /// C++ frames of recorded stacks have files and lines, and functions that are not exported, if
  /// the program was compiled with `-g`: it was built with libbacktrace.
  bool stack_lines = false;
  /// flame_graph_png() draws: it was built with cairo.
  bool pictures = false;
};

Capabilities capabilities();

}  // namespace tbtrace
