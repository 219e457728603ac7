// Flame graphs as Python's objects.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <nanobind/nanobind.h>

#include <tbtrace/flame_graph.h>
#include <tbtrace/report.h>

#include "arguments.h"
#include "failures.h"

namespace tbtrace::python {

struct PythonFlameGraph {
  std::shared_ptr<const StackTree> stacks;
  std::string weight;
};

FlameGraphOptions flame_graph_options(const std::string& weight, const std::optional<Steps>& steps,
                                      const std::string& thread, bool all_frames,
                                      bool merge_recursion, bool in_time_order, bool by_thread);

/// Adds `flame_graph` to a class; `stacks_of(owner, options)` is a Result<StackTree>.
template <typename Owner, typename StacksOf>
void add_flame_graph_method(nanobind::class_<Owner>& owner, StacksOf stacks_of) {
  namespace nb = nanobind;
  using namespace nb::literals;
  owner.def(
      "flame_graph",
      [stacks_of](const Owner& self, const std::string& weight, const std::optional<Steps>& steps,
                  const std::string& thread, bool all_frames, bool merge_recursion,
                  bool in_time_order, bool by_thread) {
        const FlameGraphOptions options = flame_graph_options(
            weight, steps, thread, all_frames, merge_recursion, in_time_order, by_thread);
        const nb::gil_scoped_release working;
        return PythonFlameGraph{
            std::make_shared<const StackTree>(value_of(stacks_of(self, options))), weight};
      },
      "weight"_a = "self_cpu_time_total", nb::kw_only(), "steps"_a = nb::none(), "thread"_a = "",
      "all_frames"_a = false, "merge_recursion"_a = false, "in_time_order"_a = false,
      "by_thread"_a = false,
      "Stacks of Python functions, operators and kernels, with the time or the memory of each.\n\n"
      "`weight`: 'self_cpu_time_total', 'self_device_time_total' (or 'self_cuda_time_total') or\n"
      "'cpu_memory'. `steps`: a step's number, or the first and the last one. `thread`: only\n"
      "threads of this id or name. `all_frames`: also frames that only pass a call on.\n"
      "`merge_recursion`: a function inside itself counts once. `in_time_order`: a frame for each\n"
      "call. `by_thread`: a frame for each host thread around its stacks. A notebook shows the\n"
      "picture. Times in ns, memory in bytes. Raises ValueError for a wrong argument.\n\n"
      "    trace.flame_graph(\"self_device_time_total\").save(\"flame.svg\")",
      nb::sig("def flame_graph(self, weight: typing.Literal['self_cpu_time_total', "
              "'self_device_time_total', 'self_cuda_time_total', 'cpu_memory'] "
              "= 'self_cpu_time_total', *, "
              "steps: int | tuple[int, int] | None = None, thread: str = '', "
              "all_frames: bool = False, merge_recursion: bool = False, "
              "in_time_order: bool = False, by_thread: bool = False) -> FlameGraph"));
}

}  // namespace tbtrace::python
