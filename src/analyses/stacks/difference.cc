// Two sides of stacks in one tree. The runs of a side are joined by equal texts; then the sides are
// paired level by level, so that frames can also be paired whose line differs.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <tbtrace/flame_difference.h>

#include "base/bounded_sum.h"
#include "report/stack_children.h"
#include "symbols/names/code_place.h"

namespace tbtrace {
namespace {

using Node = StackTree::Node;
constexpr Node kAbsent = std::numeric_limits<Node>::max();

/// By node, its weight with that of the nodes below it.
std::vector<std::int64_t> totals_of(const StackTree& stacks) {
  std::vector<std::int64_t> totals(stacks.size());
  for (auto node = static_cast<Node>(stacks.size()); node-- > 0;) {
    add_bounded(totals[node], stacks.self(node));
    if (node > 0) add_bounded(totals[stacks.parent(node)], totals[node]);
  }
  return totals;
}

/// All runs of a side. Nodes without a weight are left out.
class Side {
 public:
  Side(std::span<const RunStacks> runs, StackWeight weight, bool is_per_step) {
    for (const RunStacks& run : runs) {
      divisors_.push_back(is_per_step ? static_cast<double>(run.steps) : 1);
      std::vector<std::int64_t>& selfs = selfs_.emplace_back(tree_.size());
      const StackTree& stacks = run.stacks(weight);
      const std::vector<std::int64_t> totals = totals_of(stacks);
      std::vector<Node> place(stacks.size(), StackTree::kRoot);
      for (Node node = 0; node < stacks.size(); ++node) {
        if (node != StackTree::kRoot) {
          if (totals[node] == 0) continue;
          place[node] =
              tree_.child(place[stacks.parent(node)], tree_.frame_number(stacks.frame(node)));
        }
        selfs.resize(tree_.size());
        add_bounded(selfs[place[node]], stacks.self(node));
      }
    }
    for (std::vector<std::int64_t>& selfs : selfs_) selfs.resize(tree_.size());
  }

  const StackTree& tree() const { return tree_; }
  std::size_t runs() const { return selfs_.size(); }
  std::int64_t self(std::size_t run, Node node) const { return selfs_[run][node]; }
  double divisor(std::size_t run) const { return divisors_[run]; }

 private:
  StackTree tree_{"ns"};
  std::vector<std::vector<std::int64_t>> selfs_;  // by run and node
  std::vector<double> divisors_;                  // by run
};

/// Own times in the order of the nodes. What is rounded is the sum up to each node, so that the
/// rounded times add up to the rounded total.
class RoundedTimes {
 public:
  explicit RoundedTimes(const Side& side) : side_(side), sums_(side.runs()) {}

  std::int64_t next(Node node) {
    if (node == kAbsent) return 0;
    double mean = 0;
    for (std::size_t run = 0; run < sums_.size(); ++run) {
      add_bounded(sums_[run], side_.self(run, node));
      mean += static_cast<double>(sums_[run]) / side_.divisor(run);
    }
    mean /= static_cast<double>(sums_.size());
    constexpr double kMost = 9.2e18;
    const std::int64_t before = std::exchange(rounded_, std::llround(std::min(mean, kMost)));
    return rounded_ - before;
  }

 private:
  const Side& side_;
  std::vector<std::int64_t> sums_;  // by run, of the nodes so far
  std::int64_t rounded_ = 0;
};

/// The same place on both sides.
struct Pair {
  Node base = kAbsent;
  Node changed = kAbsent;
  std::uint32_t parent = 0;  // its number
};

/// A line as a number that sorts; a trace can have any digits.
std::pair<std::size_t, std::string_view> line_order(std::string_view digits) {
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  return {digits.size(), digits};
}

class Pairing {
 public:
  Pairing(const Side& base, const Side& changed)
      : base_(base.tree()),
        changed_(changed.tree()),
        base_children_(base_),
        changed_children_(changed_) {
    pairs_.push_back({StackTree::kRoot, StackTree::kRoot, 0});
    for (std::size_t at = 0; at < pairs_.size(); ++at) {
      add_children(pairs_[at], static_cast<std::uint32_t>(at));
    }
  }

  const std::vector<Pair>& pairs() const { return pairs_; }

 private:
  static std::span<const Node> children(const report::StackChildren& all, Node node) {
    return node == kAbsent ? std::span<const Node>() : all.of(node);
  }

  void add_children(Pair around, std::uint32_t number) {
    const std::span<const Node> before = children(base_children_, around.base);
    const std::span<const Node> now = children(changed_children_, around.changed);
    std::unordered_map<std::string_view, Node> by_text;
    for (const Node node : before) by_text.emplace(base_.frame(node), node);
    std::vector<Node> added;
    for (const Node node : now) {
      const auto same = by_text.find(changed_.frame(node));
      if (same == by_text.end()) {
        added.push_back(node);
        continue;
      }
      pairs_.push_back({same->second, node, number});
      by_text.erase(same);
    }
    std::vector<Node> gone;
    for (const Node node : before) {
      if (by_text.contains(base_.frame(node))) gone.push_back(node);
    }
    if (!added.empty() && !gone.empty()) pair_by_function(added, gone, number);
    for (const Node node : added) pairs_.push_back({kAbsent, node, number});
    for (const Node node : gone) pairs_.push_back({node, kAbsent, number});
  }

  /// Pairs functions that have as many frames among those that are new as among those that are
  /// gone, and takes them out of both.
  void pair_by_function(std::vector<Node>& added, std::vector<Node>& gone, std::uint32_t number) {
    const auto functions = [](const StackTree& tree, const std::vector<Node>& nodes) {
      std::map<std::pair<std::string_view, std::string_view>, std::vector<Node>> found;
      for (const Node node : nodes) {
        const CodePlace place = code_place(tree.frame(node));
        if (!place.function.empty()) found[{place.file, place.function}].push_back(node);
      }
      for (auto& [function, same] : found) {
        std::ranges::sort(same, {}, [&](Node node) {
          return std::pair(line_order(code_place(tree.frame(node)).line), node);
        });
      }
      return found;
    };
    const auto base_functions = functions(base_, gone);
    std::unordered_set<Node> paired_gone;
    std::unordered_set<Node> paired_added;
    for (const auto& [function, now] : functions(changed_, added)) {
      const auto before = base_functions.find(function);
      if (before == base_functions.end() || before->second.size() != now.size()) continue;
      for (std::size_t at = 0; at < now.size(); ++at) {
        pairs_.push_back({before->second[at], now[at], number});
        paired_gone.insert(before->second[at]);
        paired_added.insert(now[at]);
      }
    }
    std::erase_if(gone, [&](Node node) { return paired_gone.contains(node); });
    std::erase_if(added, [&](Node node) { return paired_added.contains(node); });
  }

  const StackTree& base_;
  const StackTree& changed_;
  report::StackChildren base_children_;
  report::StackChildren changed_children_;
  std::vector<Pair> pairs_;  // parents before their children
};

/// Texts, each once.
class FrameTexts {
 public:
  explicit FrameTexts(std::vector<std::string>& texts) : texts_(texts) { number_of(""); }

  std::uint32_t number_of(std::string_view text) {
    const auto [known, is_new] =
        numbers_.try_emplace(std::string(text), static_cast<std::uint32_t>(texts_.size()));
    if (is_new) texts_.emplace_back(text);
    return known->second;
  }

 private:
  std::vector<std::string>& texts_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

bool all_have_steps(std::span<const RunStacks> runs) {
  return std::ranges::all_of(runs,
                             [](const RunStacks& run) { return run.has_steps && run.steps > 0; });
}

}  // namespace

Result<FlameDifference> flame_difference(std::span<const RunStacks> base,
                                         std::span<const RunStacks> changed,
                                         const FlameDifferenceOptions& options) {
  if (base.empty() || changed.empty()) {
    return Status(StatusCode::invalid_argument, "a comparison needs a run on each side");
  }
  FlameDifference found;
  found.weight = options.weight;
  found.is_per_step = all_have_steps(base) && all_have_steps(changed);
  const Side before(base, options.weight, found.is_per_step);
  const Side after(changed, options.weight, found.is_per_step);
  const Pairing pairing(before, after);
  RoundedTimes base_times(before);
  RoundedTimes new_times(after);
  FrameTexts texts(found.frames);
  found.nodes.clear();
  found.nodes.reserve(pairing.pairs().size());
  for (const Pair& pair : pairing.pairs()) {
    DifferenceNode& node = found.nodes.emplace_back();
    node.parent = pair.parent;
    node.in_base = pair.base != kAbsent;
    node.in_new = pair.changed != kAbsent;
    const std::string_view base_text = node.in_base ? before.tree().frame(pair.base) : "";
    const std::string_view new_text = node.in_new ? after.tree().frame(pair.changed) : "";
    node.frame = texts.number_of(node.in_new ? new_text : base_text);
    if (node.in_base && node.in_new && base_text != new_text) {
      node.base_frame = texts.number_of(base_text);
    }
    node.base_ns = node.base_self_ns = base_times.next(pair.base);
    node.new_ns = node.new_self_ns = new_times.next(pair.changed);
  }
  for (std::size_t at = found.nodes.size(); --at > 0;) {
    const DifferenceNode& node = found.nodes[at];
    add_bounded(found.nodes[node.parent].base_ns, node.base_ns);
    add_bounded(found.nodes[node.parent].new_ns, node.new_ns);
  }
  DifferenceNode& root = found.nodes.front();
  root.in_base = root.base_ns > 0;
  root.in_new = root.new_ns > 0;
  found.whole_ns =
      found.is_per_step && options.step_ns ? *options.step_ns : static_cast<double>(root.base_ns);
  return found;
}

StackWeight telling_weight(const FlameDifference& cpu, const FlameDifference& device) {
  const auto change = [](const FlameDifference& one) {
    return std::abs(static_cast<double>(one.root().new_ns) -
                    static_cast<double>(one.root().base_ns));
  };
  const bool has_work = device.root().in_base || device.root().in_new;
  return has_work && 2 * change(device) >= change(cpu) ? StackWeight::device : StackWeight::cpu;
}

}  // namespace tbtrace
