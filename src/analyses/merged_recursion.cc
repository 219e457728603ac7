#include "analyses/merged_recursion.h"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace tbtrace::analyses {
namespace {

using Node = StackTree::Node;

/// Walks the nodes from the root, with what is on the path by frame.
class RecursionMerge {
 public:
  RecursionMerge(const StackTree& stacks, bool join)
      : stacks_(stacks), join_(join), merged_(stacks.unit()), first_(stacks.size() + 1) {
    for (Node node = 1; node < stacks.size(); ++node) ++first_[stacks.parent(node) + 1];
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    children_.resize(stacks.size() - 1);
    std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
    for (Node node = 1; node < stacks.size(); ++node) {
      children_[next[stacks.parent(node)]++] = node;
    }
  }

  StackTree run() && {
    merged_.add(StackTree::kRoot, stacks_.self(StackTree::kRoot));
    std::vector<Step> path = {{StackTree::kRoot, StackTree::kRoot, first_[0], kNoFrame}};
    while (!path.empty()) {
      Step& step = path.back();
      if (step.next < first_[step.node + 1]) {
        path.push_back(enter(children_[step.next++], step.place));
        continue;
      }
      if (step.opened != kNoFrame) open_[step.opened] = StackTree::kRoot;
      path.pop_back();
    }
    return std::move(merged_);
  }

 private:
  static constexpr std::uint32_t kNoFrame = UINT32_MAX;

  struct Step {
    Node node;
    Node place;            // in the result
    std::size_t next;      // index of the next child
    std::uint32_t opened;  // the frame that is on the path because of this node
  };

  Step enter(Node node, Node below) {
    const std::uint32_t frame = merged_.frame_number(stacks_.frame(node));
    if (frame >= open_.size()) open_.resize(frame + 1, StackTree::kRoot);
    const bool is_inside_itself = open_[frame] != StackTree::kRoot;
    if (!is_inside_itself) {
      open_[frame] = join_ ? merged_.child(below, frame) : merged_.add_child(below, frame);
    }
    merged_.add(open_[frame], stacks_.self(node));
    return {node, open_[frame], first_[node], is_inside_itself ? kNoFrame : frame};
  }

  const StackTree& stacks_;
  bool join_;
  StackTree merged_;
  std::vector<std::size_t> first_;  // by node: its first index in children_; one more at the end
  std::vector<Node> children_;      // sorted by parent
  std::vector<Node> open_;          // by frame: its node in the result if it is on the path
};

}  // namespace

StackTree merged_recursion(const StackTree& stacks, bool join) {
  return RecursionMerge(stacks, join).run();
}

}  // namespace tbtrace::analyses
