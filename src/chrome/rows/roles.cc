#include "chrome/rows/roles.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "analyses/attribution/collective_names.h"
#include "analyses/attribution/lightning.h"
#include "trace/memory_names.h"

namespace tbtrace::chrome {
namespace {

// For ranges that readers would take for something else. Of annotations, on the host and on
// devices, the plugin would make steps, collectives a second time, or CPU work.
constexpr std::string_view kUnseenAnnotation = "annotation";
constexpr std::string_view kUnseenShadow = "gpu_annotation";

/// Kineto's current categories for calls and device work; older categories get these names.
constexpr std::array<std::string_view, 12> kModern = {
    "cuda_runtime",
    "cuda_driver",
    "xpu_runtime",
    "xpu_driver",
    "privateuse1_runtime",
    "privateuse1_driver",
    "mtia_runtime",
    "glow_runtime",
    "kernel",
    "mtia_ccp_events",
    "hpu_op",
    "gpu_memcpy",
};

bool is_modern(std::string_view category) {
  return std::find(kModern.begin(), kModern.end(), category) != kModern.end();
}

}  // namespace

Roles::Roles(const Trace& trace, Dialect dialect) : trace_(trace), dialect_(dialect) {
  std::size_t names = 0;
  for (std::size_t event = 0; event < trace.events().size(); ++event) {
    names = std::max(names, index(trace.events().name(static_cast<EventId>(event))) + 1);
  }
  classes_.reserve(names);
  for (std::size_t name = 0; name < names; ++name) {
    const std::string_view text = trace.string(static_cast<StringId>(name));
    classes_.push_back(class_of_name(text));
    any_nccl_ = any_nccl_ || analyses::is_nccl_name(text);
  }
  lightning_ = analyses::is_lightning(trace);
  roles_.reserve(trace.events().size());
  for (std::size_t event = 0; event < trace.events().size(); ++event) {
    roles_.push_back(find_role(static_cast<EventId>(event)));
  }
}

Role Roles::find_role(EventId event) const {
  switch (trace_.kind(event)) {
    case EventKind::cpu_op:
      switch (name_class(event)) {
        case NameClass::step:
          return trace_.events().duration_ns(event) > 0 ? Role::step : Role::annotation;
        case NameClass::unsound_step:
          return Role::annotation;
        default:
          return Role::op;
      }
    case EventKind::user_annotation:
      return annotation_role(event);
    case EventKind::python_function:
      if (lightning_) return Role::frame;
      if (!trace_.events().is_python_frame(event)) {
        return is_python_node(event) ? Role::annotation_node : Role::annotation;
      }
      return trace_.events().is_module(event) ? Role::module : Role::frame;
    case EventKind::runtime:
      return Role::launch;
    case EventKind::kernel:
    case EventKind::gpu_memcpy:
    case EventKind::gpu_memset:
      return Role::work;
    case EventKind::gpu_user_annotation:
      return Role::shadow;
    case EventKind::trace_span:
      return Role::span;
    default:
      return Role::other;
  }
}

/// The plugin's category `Python`, whose rows are in its tree but are not operators.
bool Roles::is_python_node(EventId event) const {
  const std::string_view own = trace_.string(trace_.category(event).name);
  return own == "python" || own == "Python";
}

Role Roles::annotation_role(EventId event) const {
  switch (name_class(event)) {
    case NameClass::step:
      return trace_.events().duration_ns(event) > 0 ? Role::step : Role::annotation;
    case NameClass::collective:
    case NameClass::collective_variant:
      return Role::collective;
    case NameClass::data_loader:
    case NameClass::optimizer:
    case NameClass::data_parallel:
      return Role::annotation_node;
    case NameClass::distributed_data_parallel:
      // The plugin would recommend nccl to a job that uses nccl collectives it does not know.
      return any_nccl_ ? Role::annotation : Role::annotation_node;
    case NameClass::lightning:
      return lightning_ ? Role::annotation_node : Role::annotation;
    default:
      return Role::annotation;
  }
}

bool Roles::is_like_memory(EventId event) const {
  return name_class(event) == NameClass::memory &&
         trace_.string(trace_.category(event).name) == kMemoryCategory;
}

std::string_view Roles::category(EventId event) const {
  if (is_like_memory(event)) return kUnseenAnnotation;
  const std::string_view own = trace_.string(trace_.category(event).name);
  const bool plugin = dialect_ == Dialect::plugin;
  switch (trace_.kind(event)) {
    case EventKind::cpu_op:
      return plugin && role(event) == Role::annotation ? kUnseenAnnotation : "cpu_op";
    case EventKind::user_annotation: {
      if (!plugin) return "user_annotation";
      const bool unseen_step =
          role(event) == Role::annotation &&
          (name_class(event) == NameClass::step || name_class(event) == NameClass::unsound_step);
      if (unseen_step) return kUnseenAnnotation;
      return role(event) == Role::annotation_node ? "cpu_op" : "user_annotation";
    }
    case EventKind::runtime:
      if (plugin) return "Runtime";
      return is_modern(own) ? own : "cuda_runtime";
    case EventKind::kernel:
      return !plugin && is_modern(own) ? own : "kernel";
    case EventKind::gpu_memcpy:
      return "gpu_memcpy";
    case EventKind::gpu_memset:
      return "gpu_memset";
    case EventKind::gpu_user_annotation:
      return plugin ? kUnseenShadow : "gpu_user_annotation";
    case EventKind::trace_span:
      return "Trace";
    case EventKind::python_function: {
      // The plugin never finishes if a module is not part of the frames.
      const bool lost_module =
          trace_.events().is_module(event) && !trace_.events().is_python_frame(event);
      return plugin && lost_module ? kUnseenAnnotation : own;
    }
    default:
      // In these categories the plugin expects data that ranges do not have.
      return plugin && (own == "forward_backward" || own == "memory" || own == "Memory")
                 ? kUnseenAnnotation
                 : own;
  }
}

int Roles::rank(EventId event) const {
  switch (role(event)) {
    case Role::op:
    case Role::work:
      return 0;
    case Role::module:
      return 1;
    case Role::step:
    case Role::annotation_node:
    case Role::collective:
      // The nodes of the plugin's tree stay together; frames are not part of it.
      return dialect_ == Dialect::plugin ? 2 : 5;
    case Role::launch:
      return 3;
    case Role::frame:
      return 4;
    case Role::annotation:
      return 5;
    default:
      return 6;
  }
}

}  // namespace tbtrace::chrome
