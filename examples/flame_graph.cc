// Draws a flame graph of a trace and prints the stack that spent most time itself.
//   flame_graph TRACE OUTPUT.svg
#include <iostream>
#include <string>

#include <tbtrace/flame_graph.h>
#include <tbtrace/trace.h>

namespace {

/// The stack from the outermost frame to `node`, a line each.
std::string stack_of(const tbtrace::StackTree& stacks, tbtrace::StackTree::Node node) {
  std::string text;
  for (; node != tbtrace::StackTree::kRoot; node = stacks.parent(node)) {
    text = "  " + std::string(stacks.frame(node)) + "\n" + text;
  }
  return text;
}

int fail(const std::string& what, const tbtrace::Status& status) {
  std::cerr << what << ": " << status.message() << '\n';
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: flame_graph TRACE OUTPUT.svg\n";
    return 2;
  }
  const tbtrace::Result<tbtrace::Trace> trace = tbtrace::read_trace(argv[1]);
  if (!trace.ok()) return fail(argv[1], trace.status());
  const tbtrace::Result<tbtrace::StackTree> stacks =
      tbtrace::flame_graph(*trace, {.weight = "self_cpu_time_total"});
  if (!stacks.ok()) return fail(argv[1], stacks.status());
  const tbtrace::Status written =
      tbtrace::write_flame_graph_svg(*stacks, argv[2], {.title = "CPU time"});
  if (!written.ok()) return fail(argv[2], written);

  tbtrace::StackTree::Node most = tbtrace::StackTree::kRoot;
  for (tbtrace::StackTree::Node node = 0; node < stacks->size(); ++node) {
    if (stacks->self(node) > stacks->self(most)) most = node;
  }
  std::cout << stacks->self(most) << " of " << stacks->total() << ' ' << stacks->unit() << " in\n"
            << stack_of(*stacks, most);
  return 0;
}
