// What this build of the library can do, where builds differ, and what this machine lets it do.
// Values; safe from any thread. Target tbtrace::core, which cannot know whether there is
// tbtrace::torch: in CMake `if(TARGET tbtrace::torch)` tells. `tbtrace doctor` prints all of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/export.h>

namespace TBTRACE_EXPORT tbtrace {

/// Whether the work of GPUs can be recorded here.
struct DeviceTracing {
  bool available = false;
  /// Why not, and what to do about it, in one line; empty if it is.
  std::string problem = {};
  std::vector<std::string> devices = {};  ///< their names, by number
  std::string driver = {};                ///< the newest CUDA that it supports: `13.0`
  std::string cupti = {};                 ///< `CUDA 13.0 (130001)`
  std::string cupti_path = {};
};

struct Capabilities {
  std::string_view version;       ///< as version() says
  std::string_view gzip_library;  ///< `isa-l`, which is faster, or `zlib`
  /// C++ frames of recorded stacks have files and lines, and functions that are not exported, if
  /// the program was compiled with `-g`: it was built with libbacktrace.
  bool stack_lines = false;
  /// flame_graph_png() draws: it was built with cairo.
  bool pictures = false;
  /// SummaryWriter::add_image() takes pixels: it was built with libpng.
  bool png_files = false;
  /// TensorBoard's event files (SummaryWriter, LogFormat::event_files, the summaries of recorded
  /// windows) can be written: it was built with protobuf.
  bool event_files = false;

  /// Tries it: has CUPTI trace for a moment. Takes a second where there is a GPU and CUDA is not
  /// in use yet, and then initialises it in this process; otherwise hardly any time.
  static DeviceTracing device_tracing();
};

Capabilities capabilities();

/// What `tbtrace doctor --format json` prints: `"schema": "tbtrace.doctor/1"`.
std::string capabilities_json(const Capabilities& capabilities, const DeviceTracing& tracing);

}  // namespace tbtrace
