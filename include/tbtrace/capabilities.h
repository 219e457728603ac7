// What this build of the library can do, where builds differ, and what this machine allows.
// Values; safe from any thread. In target tbtrace::core, which does not know whether tbtrace::torch
// was built: in CMake, check `if(TARGET tbtrace::torch)`. `tbtrace --version --verbose` prints all
// of this.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/export.h>

namespace TBTRACE_EXPORT tbtrace {

/// Whether GPU activity can be recorded on this machine.
struct DeviceTracing {
  bool available = false;
  /// Why not, and what to do about it, in one line; empty if it is available.
  std::string problem = {};
  std::vector<std::string> devices = {};  ///< their names, by device number
  std::string driver = {};                ///< the newest CUDA version that it supports: `13.0`
  std::string cupti = {};                 ///< `CUDA 13.0 (130001)`
  std::string cupti_path = {};
};

struct Capabilities {
  std::string_view version;       ///< same as version()
  std::string_view gzip_library;  ///< `isa-l`, which is faster, or `zlib`
  /// Traces compressed with zstd (`.json.zst`) are read: built with libzstd.
  bool zstd = false;
  /// Recorded C++ stack frames have file, line and non-exported functions if the program was
  /// compiled with `-g`. True if built with libbacktrace.
  bool stack_lines = false;
  /// flame_graph_png() works: built with cairo's headers, and libcairo.so.2, which is opened at run
  /// time, is on this machine.
  bool pictures = false;
  /// What this machine lacks for pictures, and what to do about it, in one line. Empty if it lacks
  /// nothing, and if built without cairo.
  std::string pictures_problem = {};
  /// SummaryWriter::add_image() accepts pixels: built with libpng.
  bool png_files = false;
  /// TensorBoard event files (SummaryWriter, LogFormat::event_files, summaries of recorded windows)
  /// can be written, partials (tbtrace/partial.h) written and read: built with protobuf.
  bool event_files = false;

  /// Checks by switching CUPTI's tracing on and off again. Takes about a second if there is a GPU
  /// and this process has not used CUDA yet, and initialises CUDA in this process; otherwise it
  /// takes hardly any time. Leaves no thread and no setting behind, and does not disturb another
  /// profiler.
  static DeviceTracing device_tracing();

  /// Why traces in zip and tar archives, and those compressed with xz and bzip2, are not read on
  /// this machine, and what to do about it, in one line; empty if they are. Opens libarchive.so.13,
  /// which is also opened for the first such input.
  static std::string archives_problem();
};

Capabilities capabilities();

/// What `tbtrace --version --verbose --format json` prints: `"schema": "tbtrace.capabilities/1"`.
std::string capabilities_json(const Capabilities& capabilities, const DeviceTracing& tracing);

}  // namespace tbtrace
