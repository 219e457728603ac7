// Pictures of flame graphs as files.
#include <string>

#include <tbtrace/flame_graph.h>
#include <tbtrace/report.h>

namespace tbtrace {

Status write_flame_graph_svg(const StackTree& stacks, const std::string& path,
                             const FlameGraphSvgOptions& options, bool overwrite) {
  const Result<std::string> svg = flame_graph_svg(stacks, options);
  return svg.ok() ? write_text(*svg, path, overwrite) : svg.status();
}

Status write_flame_graph_png(const StackTree& stacks, const std::string& path,
                             const FlameGraphPngOptions& options, bool overwrite) {
  const Result<std::string> png = flame_graph_png(stacks, options);
  return png.ok() ? write_text(*png, path, overwrite) : png.status();
}

}  // namespace tbtrace
