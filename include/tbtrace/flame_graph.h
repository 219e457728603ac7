// Flame graphs of a trace: its stacks (stacks.h) as folded lines and as pictures.
// Functions are pure and return or write the whole text; any number of threads may call them.
// Names come from files and are escaped for the output format. Files appear by rename, complete or
// not at all; an existing file is a failure unless `overwrite`.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>

#include <tbtrace/export.h>
#include <tbtrace/report.h>
#include <tbtrace/stacks.h>
#include <tbtrace/status.h>

namespace TBTRACE_EXPORT tbtrace {

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
