// Flame graphs of a trace: its ranges as stacks with weights, as folded lines and as pictures.
// Functions are pure and return or write the whole text; any number of threads may call them.
// Names come from files and are escaped for the output format. Files appear by rename, complete or
// not at all; an existing file is a failure unless `overwrite`.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>

#include <tbtrace/export.h>
#include <tbtrace/report.h>
#include <tbtrace/status.h>
#include <tbtrace/trace.h>

namespace TBTRACE_EXPORT tbtrace {

struct FlameGraphOptions {
  /// `self_cpu_time_total`, `self_device_time_total` (or `self_cuda_time_total` and the like),
  /// `cpu_memory`.
  std::string weight = "self_cpu_time_total";
  /// By default a frame that only passes a call on (`_call_impl` and `_wrapped_call_impl` of
  /// torch's modules, `forward` of its containers) is left out, its own weight counts in its
  /// caller, and addresses (` at 0x7f..`) are left out of names of Python functions, so that equal
  /// calls share a frame. A frame without a caller stays.
  bool all_frames = false;
  /// Only the time from the start of the first to the end of the last of these steps on the host,
  /// on all threads. A range that crosses an edge counts with the part inside; an allocation counts
  /// if it was made inside; a kernel, memcpy or memset counts as a whole if it was launched inside,
  /// whenever it ran. Fails if the trace does not have these steps.
  std::optional<StepRange> steps = {};
  /// Only host threads of this id or name, with the device work of their ranges; a part of the name
  /// if no thread has it as a whole. Empty: all threads, and device work that no range owns. Fails
  /// if there is no such thread.
  std::string thread = {};
  /// A frame for each host thread around its stacks, such as `thread 12 (main)`.
  bool by_thread = false;
  /// A function that runs inside itself counts once: the inner call, and what it calls, belong to
  /// the outer one.
  bool merge_recursion = false;
  /// A node of its own for each range, kernel, memcpy and memset, on each frame by start: host
  /// ranges by their start on the host, device work by its start on the device, `[unattributed]` by
  /// that of the first device work under it. Functions that are known from call stacks only are
  /// joined if nothing that has a weight comes between them. By default all calls of one stack are
  /// one node.
  bool in_time_order = false;
};

/// Fails for a weight that does not exist.
Status check_flame_graph_options(const FlameGraphOptions& options);

/// Stacks of ranges from the exact tree, weighted by each range's own time or memory. By device
/// time, kernels, memcpys and memsets that no range owns are under `[unattributed]`, so the stacks
/// add up to the total device time.
Result<StackTree> flame_graph(const Trace& trace, const FlameGraphOptions& options = {});

/// One `frame;frame;frame WEIGHT` per line, sorted by bytes. In frames, `;` and control characters
/// are written as `\x3b`, a backslash as two. Stacks without a weight of their own have no line.
std::string folded_stacks(const StackTree& stacks);

/// The order of the frames on one frame, from left to right.
enum class FrameOrder : unsigned char {
  name,    ///< by the bytes of their names
  weight,  ///< heaviest first, equally heavy ones by name
  time,    ///< as they were added to the tree: by start in stacks that are in time order
};

struct FlameGraphSvgOptions {
  std::string title = "Flame graph";
  std::string subtitle = {};
  /// px, from 200 to 100,000. Without it as wide as the window of a browser that shows the file,
  /// and 1200 px wide elsewhere.
  std::optional<int> width = {};
  bool inverted = false;  ///< the root on top (icicle) instead of at the bottom
  FrameOrder order = FrameOrder::name;
};

/// One self-contained SVG with zoom, search, callers of a function and links to all of these, for
/// any browser, without network access. It has the 500,000 widest frames, and says how many more
/// there are. Without scripts it is a still picture of the 5000 widest. Fails for a width out of
/// range.
Result<std::string> flame_graph_svg(const StackTree& stacks,
                                    const FlameGraphSvgOptions& options = {});

struct FlameGraphPngOptions {
  std::string title = "Flame graph";
  std::string subtitle = {};
  int width = 1600;       ///< px (text is 12 px high); from 200 to 16000 / scale
  int scale = 2;          ///< pixels per px, in both directions; from 1 to 4
  bool inverted = false;  ///< the root on top (icicle) instead of at the bottom
  FrameOrder order = FrameOrder::name;
  /// How many frames get a number in their box and their name below the boxes: the widest of those
  /// whose names do not fit into their boxes. From 0 to 100.
  int names_below = 0;
};

/// A static picture, for places that do not show SVG. It has at most 32 million pixels and is at
/// most 32767 pixels high; levels left out for that are counted in the picture. It uses the
/// machine's fonts, so the bytes differ between machines. Fails if `capabilities().pictures` is
/// false.
Result<std::string> flame_graph_png(const StackTree& stacks,
                                    const FlameGraphPngOptions& options = {});

/// The same, to files; `-` is standard output. Folded stacks are written line by line, to a stream
/// as well.
Status write_folded_stacks(const StackTree& stacks, const std::string& path,
                           bool overwrite = false);
Status write_folded_stacks(const StackTree& stacks, std::ostream& stream);
Status write_flame_graph_svg(const StackTree& stacks, const std::string& path,
                             const FlameGraphSvgOptions& options = {}, bool overwrite = false);
Status write_flame_graph_png(const StackTree& stacks, const std::string& path,
                             const FlameGraphPngOptions& options = {}, bool overwrite = false);

}  // namespace tbtrace
