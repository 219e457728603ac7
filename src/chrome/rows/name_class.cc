#include "chrome/rows/name_class.h"

#include <array>
#include <utility>

#include "analyses/attribution/collective_names.h"
#include "analyses/attribution/lightning.h"
#include "analyses/attribution/operator_kind.h"
#include "base/decimal.h"
#include "trace/memory_names.h"
#include "trace/step_names.h"

namespace tbtrace::chrome {
namespace {

using analyses::is_data_loading;
using analyses::is_lightning_marker;
using analyses::is_plugin_collective;

/// c10d's names for the variants of the plugin's five collectives: the same data move, from or into
/// one tensor or several.
constexpr std::array kVariants = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"_broadcast_oop", "broadcast"},
    {"_reduce_oop", "reduce"},
    {"allreduce", "all_reduce"},
    {"allreduce_coalesced", "all_reduce"},
    {"all_reduce_coalesced", "all_reduce"},
    {"allgather", "all_gather"},
    {"_allgather_base", "all_gather"},
    {"_all_gather_base", "all_gather"},
    {"_all_gather_oop", "all_gather"},
    {"all_gather_into_tensor", "all_gather"},
    {"all_gather_into_tensor_coalesced", "all_gather"},
    {"_reduce_scatter_base", "reduce_scatter"},
    {"_reduce_scatter_oop", "reduce_scatter"},
    {"reduce_scatter_tensor", "reduce_scatter"},
    {"reduce_scatter_tensor_coalesced", "reduce_scatter"},
});

}  // namespace

NameClass class_of_name(std::string_view name) {
  switch (name.empty() ? '\0' : name[0]) {
    case 'P': {
      if (!is_step_name(name)) break;
      const std::string_view rest = step_number_text(name);  // the plugin reads up to the next `#`
      return parse_integer(rest.substr(0, rest.find('#'))) ? NameClass::step
                                                           : NameClass::unsound_step;
    }
    case 'e':
      if (is_data_loading(name)) return NameClass::data_loader;
      break;
    case 'O':
      if (name.starts_with("Optimizer.step")) return NameClass::optimizer;
      break;
    case 'D':
      if (name == "DataParallel.forward") return NameClass::data_parallel;
      if (name == "DistributedDataParallel.forward") return NameClass::distributed_data_parallel;
      break;
    case '[':
      if (is_lightning_marker(name)) return NameClass::lightning;
      if (is_memory_name(name)) return NameClass::memory;
      break;
    default:
      if (is_plugin_collective(name)) return NameClass::collective;
      if (!known_collective(name).empty()) return NameClass::collective_variant;
  }
  return NameClass::plain;
}

std::string known_collective(std::string_view name) {
  if (is_plugin_collective(name)) return std::string(name);
  const std::string_view operation = analyses::plugin_operation(name);
  for (const auto& [variant, known] : kVariants) {
    if (variant != operation) continue;
    return std::string(name.substr(0, name.size() - operation.size())) + std::string(known);
  }
  return {};
}

}  // namespace tbtrace::chrome
