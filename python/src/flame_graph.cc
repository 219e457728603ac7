#include "flame_graph.h"

#include <string_view>

#include <tbtrace/flame_graph.h>

#include "failures.h"
#include "module.h"
#include "python_table.h"
#include "sources.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tbtrace::python {
namespace {

constexpr FrameOrder kOrders[] = {FrameOrder::name, FrameOrder::weight, FrameOrder::time};

FlameGraphSvgOptions svg_options(const PythonFlameGraph& graph,
                                 const std::optional<std::string>& title, std::optional<int> width,
                                 bool inverted, const std::string& order) {
  FlameGraphSvgOptions options;
  options.title = title.value_or("Flame graph");
  options.subtitle = graph.weight;
  if (width && *width < 200) wrong_argument("width takes a number of px from 200, or None");
  options.width = width;
  options.inverted = inverted;
  options.order = kOrders[choice("order", order, {"name", "weight", "time"})];
  return options;
}

nb::str svg(const PythonFlameGraph& graph, const std::optional<std::string>& title,
            std::optional<int> width, bool inverted, const std::string& order) {
  const FlameGraphSvgOptions options = svg_options(graph, title, width, inverted, order);
  std::string text;
  {
    const nb::gil_scoped_release working;
    text = value_of(flame_graph_svg(*graph.stacks, options));
  }
  return text_object(text);
}

Status write(const PythonFlameGraph& graph, const FlameGraphSvgOptions& options,
             const std::string& path, bool overwrite) {
  const std::string_view name = path;
  if (name.ends_with(".svg")) {
    return write_flame_graph_svg(*graph.stacks, path, options, overwrite);
  }
  if (name.ends_with(".png")) {
    FlameGraphPngOptions png;
    png.title = options.title;
    png.subtitle = options.subtitle;
    if (options.width) png.width = *options.width;
    png.inverted = options.inverted;
    png.order = options.order;
    return write_flame_graph_png(*graph.stacks, path, png, overwrite);
  }
  if (name.ends_with(".folded") || name.ends_with(".txt")) {
    return write_folded_stacks(*graph.stacks, path, overwrite);
  }
  return {StatusCode::invalid_argument,
          "the name of a flame graph's file ends in .svg, .png, .folded or .txt"};
}

void save(const PythonFlameGraph& graph, nb::handle path, const std::optional<std::string>& title,
          std::optional<int> width, bool inverted, const std::string& order, bool overwrite) {
  const FlameGraphSvgOptions options = svg_options(graph, title, width, inverted, order);
  const std::string place = output_path(path, "save()");
  const nb::gil_scoped_release working;
  check(write(graph, options, place, overwrite), place);
}

nb::tuple state_of(const PythonFlameGraph& graph) {
  const StackTree& stacks = *graph.stacks;
  nb::list frames;
  nb::list parents;
  nb::list weights;
  for (StackTree::Node node = 0; node < stacks.size(); ++node) {
    frames.append(text_object(std::string(stacks.frame(node))));
    parents.append(stacks.parent(node));
    weights.append(stacks.self(node));
  }
  return nb::make_tuple(graph.weight, stacks.unit(), frames, parents, weights);
}

PythonFlameGraph of_state(const nb::tuple& state) {
  auto stacks = std::make_shared<StackTree>(nb::cast<std::string>(state[1]));
  const auto frames = nb::cast<nb::list>(state[2]);
  const auto parents = nb::cast<nb::list>(state[3]);
  const auto weights = nb::cast<nb::list>(state[4]);
  for (std::size_t at = 0; at < frames.size(); ++at) {
    StackTree::Node node = StackTree::kRoot;
    if (at > 0) {
      const auto parent = nb::cast<StackTree::Node>(parents[at]);
      if (parent >= at) wrong_argument("the state of a flame graph has a frame before its parent");
      node = stacks->add_child(parent, stacks->frame_number(text_bytes(frames[at])));
    }
    stacks->add(node, nb::cast<std::int64_t>(weights[at]));
  }
  return {std::move(stacks), nb::cast<std::string>(state[0])};
}

}  // namespace

FlameGraphOptions flame_graph_options(const std::string& weight, const std::optional<Steps>& steps,
                                      const std::string& thread, bool all_frames,
                                      bool merge_recursion, bool in_time_order, bool by_thread) {
  FlameGraphOptions options;
  options.weight = weight;
  options.steps = step_range(steps);
  options.thread = thread;
  options.all_frames = all_frames;
  options.merge_recursion = merge_recursion;
  options.in_time_order = in_time_order;
  options.by_thread = by_thread;
  check(check_flame_graph_options(options));
  return options;
}

void bind_flame_graph(nb::module_& module) {
  nb::class_<PythonFlameGraph> graph(
      module, "FlameGraph",
      "Stacks with the time or the memory of each. A notebook shows the picture. Immutable;\n"
      "`pickle` takes it.");
  add_copies(graph, "FlameGraph");
  graph.def("__getstate__", state_of, nb::sig("def __getstate__(self) -> tuple[typing.Any, ...]"))
      .def(
          "__setstate__",
          [](PythonFlameGraph& self, const nb::tuple& state) {
            new (&self) PythonFlameGraph(of_state(state));
          },
          nb::sig("def __setstate__(self, state: tuple[typing.Any, ...]) -> None"))
      .def_prop_ro(
          "total", [](const PythonFlameGraph& graph) { return graph.stacks->total(); },
          "The sum of all weights, in `unit`.")
      .def_prop_ro(
          "unit", [](const PythonFlameGraph& graph) { return graph.stacks->unit(); },
          "`ns` or `bytes`.")
      .def(
          "folded",
          [](const PythonFlameGraph& graph) { return text_object(folded_stacks(*graph.stacks)); },
          "A line per stack, `frame;frame;frame WEIGHT`, the weight in `unit`; sorted by bytes.\n\n"
          "    graph.folded().splitlines()[0]",
          nb::sig("def folded(self) -> str"))
      .def("svg", svg, nb::kw_only(), "title"_a = nb::none(), "width"_a = nb::none(),
           "inverted"_a = false, "order"_a = "name",
           "A picture with zoom and search, without any other file. `width` in px (as wide as the\n"
           "window if None). `inverted`: the root on top. `order` of frames side by side: 'name',\n"
           "'weight' or 'time'. Raises ValueError for another order or a width below 1.\n\n"
           "    graph.svg(title=\"one step\", width=1200)",
           nb::sig("def svg(self, *, title: str | None = None, width: int | None = None, "
                   "inverted: bool = False, order: typing.Literal['name', 'weight', 'time'] = "
                   "'name') -> str"))
      .def(
          "_repr_svg_",
          [](const PythonFlameGraph& graph) { return svg(graph, {}, {}, false, "name"); },
          nb::sig("def _repr_svg_(self) -> str"))
      .def(
          "save", save, "path"_a, nb::kw_only(), "title"_a = nb::none(), "width"_a = nb::none(),
          "inverted"_a = false, "order"_a = "name", "overwrite"_a = false,
          "Writes a file: a picture if its name ends in .svg or .png, folded stacks if it ends in\n"
          ".folded or .txt. It appears complete or not at all. Raises FileExistsError if it is\n"
          "there, unless `overwrite`, ValueError for another ending, OSError if it cannot be\n"
          "written.\n\n"
          "    graph.save(\"flame.svg\")",
          nb::sig("def save(self, path: str | os.PathLike[str], *, title: str | None = None, "
                  "width: int | None = None, inverted: bool = False, order: typing.Literal['name', "
                  "'weight', 'time'] = 'name', "
                  "overwrite: bool = False) -> None"))
      .def("__repr__", [](const PythonFlameGraph& graph) {
        return "<tbtrace.FlameGraph: " + graph.weight + ", " +
               std::to_string(graph.stacks->total()) + " " + graph.stacks->unit() + ">";
      });
}

}  // namespace tbtrace::python
