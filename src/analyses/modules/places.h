// The modules of a trace as a tree of places.
// Refers to its Trace, which must outlive it. Not synchronised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <tbtrace/report.h>
#include <tbtrace/trace.h>

#include "analyses/modules/work_places.h"
#include "base/id_map.h"

namespace tbtrace::analyses {

/// Modules come from four sources, which may be mixed in a file:
///
///   - frames `nn.Module: Conv2d_5`, with `Module path` in recordings of C++ programs
///   - an operator's `Module Hierarchy`, `TOP(Net)::forward.conv(Conv2d)::forward`, of TorchScript
///   - ranges `[pl][module]torch.nn.modules.conv.Conv2d: net.conv` of Lightning
///   - labels of kernels in CUDA graphs, of which each is a module of its own
///
/// A module is identified by its name and the module around it, so the same module called in two
/// others is two. What is nested more than kMostLevels deep belongs to the module there.
///
/// A checkpoint calls modules again in a backward pass, inside a node that may belong to any part
/// of what it computes. Such a call is of the nearest module around the node that has the name, or
/// that a module of the name is in.
class ModulePlaces {
 public:
  static constexpr std::size_t kMostLevels = 200;

  explicit ModulePlaces(const Trace& trace);

  /// The place of a range, by the place around it.
  Place place_in(Place around, EventId range, bool is_backward);

  /// The place of a label of a CUDA graph's kernels.
  Place of_label(std::string_view label);

  /// Places are numbered from 0, the root, parents first.
  std::size_t size() const { return modules_.size(); }
  Place parent(Place place) const { return modules_[place].parent; }
  /// Names from the outermost module on, joined by dots.
  std::string path(Place place) const;
  std::string_view type(Place place) const { return modules_[place].type; }

  /// Whether a range is one call of the module at its place.
  bool is_call(EventId range) const;

 private:
  struct Name {
    std::string text;
    bool is_path = false;  ///< has the modules around it already
    bool of_hierarchy = false;

    bool operator==(const Name&) const = default;
  };
  struct Module {
    Place parent = StackTree::kRoot;
    std::uint32_t name = 0;
    std::uint32_t level = 0;
    std::string_view type;  // in the trace
  };

  std::uint32_t number_of(Name name);
  std::uint32_t number_of_path(Place around, std::string_view path);
  Place child(Place around, std::uint32_t name, std::string_view type);
  Place called(Place around, std::uint32_t name, std::string_view type, bool is_backward);
  Place of_frame(Place around, EventId range, bool is_backward);
  Place of_mark(Place around, std::string_view mark, bool is_backward);
  Place of_hierarchy(Place around, std::string_view text);

  const Trace& trace_;
  bool has_hierarchies_;
  bool is_lightning_;
  std::vector<Name> names_ = {{}};
  std::map<std::tuple<std::string, bool, bool>, std::uint32_t> name_numbers_;
  std::vector<Module> modules_ = {{}};
  IdMap children_;  // by place and name
};

}  // namespace tbtrace::analyses
