// The role of each range in a dialect: the category it is written with, whether it is a node of the
// plugin's operator tree, and which of two crossing ranges gives way. Made from a Trace, which must
// outlive it. Immutable.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <tbtrace/convert.h>
#include <tbtrace/trace.h>

#include "base/column.h"
#include "chrome/rows/name_class.h"

namespace tbtrace::chrome {

enum class Role : std::uint8_t {
  op,               ///< a node that the plugin lists as an operator, or omits because of its name
  step,             ///< a node: `ProfilerStep#N`
  annotation_node,  ///< a node that is not an operator itself: data loading, an optimizer's
                    ///< step
  collective,       ///< a node: an annotation with one of the five names
  module,           ///< a node: a frame of an nn.Module
  frame,            ///< another Python frame
  annotation,
  launch,  ///< a device runtime or driver API call
  work,    ///< a kernel, memcpy or memset
  shadow,  ///< an annotation on a device
  span,    ///< the recording's window
  other,
};

constexpr bool is_node(Role role) { return role <= Role::module; }

/// A row of a device's stream.
constexpr bool is_device_row(EventKind kind) {
  return kind >= EventKind::kernel && kind <= EventKind::gpu_user_annotation;
}

class Roles {
 public:
  Roles(const Trace& trace, Dialect dialect);

  Dialect dialect() const { return dialect_; }
  Role role(EventId event) const { return roles_[index(event)]; }
  NameClass name_class(EventId event) const { return classes_[index(trace_.events().name(event))]; }

  /// The category to write.
  std::string_view category(EventId event) const;
  /// A range of two rows (`B` and `E`) that in one row would be a memory record for every reader,
  /// so it is written with another category.
  bool is_like_memory(EventId event) const;

  /// Of two crossing ranges, the one with the higher rank moves to a lane.
  int rank(EventId event) const;

 private:
  Role find_role(EventId event) const;
  bool is_python_node(EventId event) const;
  Role annotation_role(EventId event) const;

  const Trace& trace_;
  Dialect dialect_;
  bool lightning_ = false;
  bool any_nccl_ = false;
  std::vector<NameClass> classes_;  // by StringId
  Column<Role> roles_;              // by event
};

}  // namespace tbtrace::chrome
