#include <tbtrace/writers.h>
namespace tbtrace {
std::string flame_graph_svg(const StackTree&, const FlameGraphSvgOptions&) { return "<svg/>\n"; }
}
