#include "analyses/stacks/merged_recursion.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "report/stack_children.h"

namespace tbtrace::analyses {
namespace {

using Node = StackTree::Node;

/// Walks the nodes from the root, and keeps the path in the result.
class RecursionMerge {
 public:
  RecursionMerge(const StackTree& stacks, bool join)
      : stacks_(stacks), join_(join), merged_(stacks.unit()), children_(stacks) {}

  StackTree run() && {
    merged_.add(StackTree::kRoot, stacks_.self(StackTree::kRoot));
    std::vector<Step> steps = {{StackTree::kRoot, 0, {}, kNowhere, 0}};
    while (!steps.empty()) {
      Step& step = steps.back();
      if (const std::span<const Node> children = children_.of(step.node);
          step.next < children.size()) {
        steps.push_back(enter(children[step.next++]));
        continue;
      }
      leave(step);
      steps.pop_back();
    }
    return std::move(merged_);
  }

 private:
  static constexpr std::size_t kNowhere = SIZE_MAX;

  /// A frame on the path in the result.
  struct Entry {
    std::uint32_t frame = 0;
    Node node = StackTree::kRoot;
  };

  /// What a node changes while the nodes under it are visited, to be undone afterwards.
  struct Step {
    Node node;
    std::size_t next;  // place of the next child
    Entry replaced;    // of path_, at the node's place
    std::size_t replaced_place;
    std::size_t length;
  };

  Step enter(Node node) {
    const std::uint32_t frame = merged_.frame_number(stacks_.frame(node));
    if (frame >= places_.size()) places_.resize(frame + 1, kNowhere);
    Step step = {node, 0, {}, places_[frame], length_};
    const std::size_t place = places_[frame];
    if (place < length_ && path_[place].frame == frame) {
      length_ = place + 1;  // what was called in between is not around this any more
    } else {
      const Node below = length_ == 0 ? StackTree::kRoot : path_[length_ - 1].node;
      const Node added = join_ ? merged_.child(below, frame) : merged_.add_child(below, frame);
      if (length_ == path_.size()) path_.emplace_back();
      step.replaced = std::exchange(path_[length_], {frame, added});
      places_[frame] = length_++;
    }
    merged_.add(path_[length_ - 1].node, stacks_.self(node));
    return step;
  }

  void leave(const Step& step) {
    if (step.node == StackTree::kRoot) return;
    if (length_ > step.length) {
      places_[path_[step.length].frame] = step.replaced_place;
      path_[step.length] = step.replaced;
    }
    length_ = step.length;
  }

  const StackTree& stacks_;
  bool join_;
  StackTree merged_;
  const report::StackChildren children_;
  std::vector<Entry> path_;  // the first length_ are the path in the result
  std::size_t length_ = 0;
  std::vector<std::size_t> places_;  // by frame: where on path_ it was put last
};

}  // namespace

StackTree merged_recursion(const StackTree& stacks, bool join) {
  return RecursionMerge(stacks, join).run();
}

}  // namespace tbtrace::analyses
