// The modules of a trace as a tree of places.
// Refers to its Trace, which must outlive it. Not synchronised.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <tbtrace/report.h>
#include <tbtrace/trace.h>

#include "analyses/work_places.h"

namespace tbtrace::analyses {

/// Modules come from three sources, which may be mixed in a file:
///
///   - frames `nn.Module: Conv2d_5`, with `Module path` in recordings of C++ programs
///   - an operator's `Module Hierarchy`, `TOP(Net)::forward.conv(Conv2d)::forward`, of TorchScript
///   - ranges `[pl][module]torch.nn.modules.conv.Conv2d: net.conv` of Lightning
///
/// A module is identified by its path. Frames without one have the path of the module around them
/// and their name, so the same module called in two others is two.
class ModulePlaces {
 public:
  explicit ModulePlaces(const Trace& trace);

  /// The place of a range, by the place around it.
  Place place_in(Place around, EventId range);

  /// Places are numbered from 0, the root, parents first.
  std::size_t size() const { return modules_.size(); }
  Place parent(Place place) const { return modules_[place].parent; }
  const std::string& path(Place place) const { return modules_[place].path; }
  const std::string& type(Place place) const { return modules_[place].type; }

  /// Whether a range is one call of the module at its place.
  bool is_call(EventId range) const;

 private:
  struct Module {
    Place parent = StackTree::kRoot;
    std::string path;
    std::string type;
    bool of_hierarchy = false;
  };

  Place child(Place around, std::string_view path, std::string_view type, bool of_hierarchy);
  Place under(Place around, std::string_view name, std::string_view type, bool of_hierarchy);
  Place of_frame(Place around, EventId range);
  Place of_hierarchy(Place around, std::string_view text);

  const Trace& trace_;
  bool has_hierarchies_;
  bool is_lightning_;
  std::vector<Module> modules_ = {{}};
  std::unordered_map<std::string, Place> numbers_;  // by parent and path
};

}  // namespace tbtrace::analyses
