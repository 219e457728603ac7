// A tree of stacks as a list of paths, to compare trees by what they say.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <tbtrace/report.h>

namespace tbtrace::analyses {

using StackPath = std::vector<std::string>;  // outermost frame first
using StackPaths = std::map<StackPath, std::int64_t>;

inline StackPath path_of(const StackTree& stacks, StackTree::Node node) {
  StackPath path;
  for (; node != StackTree::kRoot; node = stacks.parent(node)) {
    path.insert(path.begin(), std::string(stacks.frame(node)));
  }
  return path;
}

/// Paths with weight; nodes with the same path are added up.
inline StackPaths paths_of(const StackTree& stacks) {
  StackPaths paths;
  for (StackTree::Node node = 0; node < stacks.size(); ++node) {
    if (stacks.self(node) != 0) paths[path_of(stacks, node)] += stacks.self(node);
  }
  return paths;
}

/// The same with the paths that `change` makes of them.
template <typename Change>
StackPaths changed(const StackPaths& paths, Change change) {
  StackPaths result;
  for (const auto& [path, weight] : paths) result[change(path)] += weight;
  return result;
}

/// Each frame once: what is inside a frame of the same name belongs to the outer one.
inline StackPath without_recursion(const StackPath& path) {
  StackPath result;
  for (const std::string& frame : path) {
    std::size_t at = 0;
    while (at < result.size() && result[at] != frame) ++at;
    result.resize(at);
    result.push_back(frame);
  }
  return result;
}

}  // namespace tbtrace::analyses
