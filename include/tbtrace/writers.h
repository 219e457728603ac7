// Results as bytes: tables as CSV, JSON and Markdown, stacks as folded lines and as pictures.
// Functions are pure and return or write the whole text; any number of threads may call them.
// Names come from files and are escaped for the format that they are written in.
// Files appear by rename, whole or not at all; an existing one is a failure unless told otherwise.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tbtrace/export.h>
#include <tbtrace/report.h>
#include <tbtrace/status.h>

namespace TBTRACE_EXPORT tbtrace {

/// RFC 4180: a header row of column names, then one row per line, ended by CRLF. Lists are joined
/// by
/// `;`. Cells that a spreadsheet would take for a formula are kept unchanged.
std::string table_csv(const Table& table);

/// A GitHub table: names in backticks, numbers to the right. Columns in which nothing stands are
/// left out.
std::string table_markdown(const Table& table);

/// One object: `"schema"`, then `"rows"`, an object each, then `members` as they are (JSON texts).
std::string table_json(std::string_view schema, const Table& table,
                       const std::vector<std::pair<std::string, std::string>>& members);

/// `frame;frame;frame WEIGHT` a line, sorted by bytes. In frames `;` and control characters are
/// written `\x3b`, a backslash twice; stacks without a weight of their own have no line.
std::string folded_stacks(const StackTree& stacks);

struct FlameGraphSvgOptions {
  std::string title = "Flame graph";
  std::string subtitle = {};
  int width = 1200;       ///< px; at least 200
  bool inverted = false;  ///< the root on top (icicle) instead of at the bottom
};

/// One self-contained SVG with zoom, search and reset, for any browser and without the network.
std::string flame_graph_svg(const StackTree& stacks, const FlameGraphSvgOptions& options = {});

struct FlameGraphPngOptions {
  std::string title = "Flame graph";
  std::string subtitle = {};
  int width = 1600;       ///< px, of which text is 12 high; from 200 to 16000 / scale
  int scale = 2;          ///< pixels of the picture for a px, in both directions; from 1 to 4
  bool inverted = false;  ///< the root on top (icicle) instead of at the bottom
  /// How many frames are named below the boxes, where their boxes have numbers: the widest of those
  /// whose names do not fit into their boxes. From 0 to 100.
  int names_below = 0;
};

/// A still picture, for where an SVG is not shown. It has at most 32 million pixels and 32767 from
/// top to bottom; it says how many levels are left out for that. Fonts are those of the machine,
/// and so are the bytes. Fails where `capabilities().pictures` is false.
Result<std::string> flame_graph_png(const StackTree& stacks,
                                    const FlameGraphPngOptions& options = {});

/// The same, into files; `-` is standard output. Folded stacks are written line by line.
Status write_folded_stacks(const StackTree& stacks, const std::string& path,
                           bool overwrite = false);
Status write_flame_graph_svg(const StackTree& stacks, const std::string& path,
                             const FlameGraphSvgOptions& options = {}, bool overwrite = false);
Status write_flame_graph_png(const StackTree& stacks, const std::string& path,
                             const FlameGraphPngOptions& options = {}, bool overwrite = false);
Status write_text(std::string_view text, const std::string& path, bool overwrite = false);

/// What these would refuse already (the file exists, it is a directory), so that no long work is
/// done for nothing.
Status check_output(const std::string& path, bool overwrite = false);

}  // namespace tbtrace
