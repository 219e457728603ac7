#include "dialects/name_class.h"

#include <array>
#include <cstddef>
#include <utility>

#include "base/decimal.h"

namespace tbtrace::dialects {
namespace {

constexpr std::string_view kStepPrefix = "ProfilerStep#";

constexpr std::array<std::string_view, 5> kKnown = {"broadcast", "reduce", "all_reduce",
                                                    "all_gather", "reduce_scatter"};

/// What c10d calls the variants of these: the same data move, from or into one tensor or several.
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

/// The part behind `nccl:` or `gloo:`, empty if the name begins otherwise.
std::string_view collective_of(std::string_view name) {
  if (name.starts_with("nccl:") || name.starts_with("gloo:")) return name.substr(5);
  return {};
}

bool is_known(std::string_view collective) {
  for (const std::string_view known : kKnown) {
    if (known == collective) return true;
  }
  return false;
}

}  // namespace

NameClass class_of_name(std::string_view name) {
  switch (name.empty() ? '\0' : name[0]) {
    case 'P': {
      if (!name.starts_with(kStepPrefix)) break;
      const std::string_view rest = name.substr(kStepPrefix.size());
      return parse_integer(rest.substr(0, rest.find('#'))) ? NameClass::step
                                                           : NameClass::unsound_step;
    }
    case 'e':
      if (name.starts_with("enumerate(DataPipe)#") ||
          (name.starts_with("enumerate(DataLoader)#") && name.ends_with(".__next__"))) {
        return NameClass::data_loader;
      }
      break;
    case 'O':
      if (name.starts_with("Optimizer.step")) return NameClass::optimizer;
      break;
    case 'D':
      if (name == "DataParallel.forward") return NameClass::data_parallel;
      if (name == "DistributedDataParallel.forward") return NameClass::distributed_data_parallel;
      break;
    case '[':
      if (name.starts_with("[pl][profile]") || name.starts_with("[pl][module]")) {
        return NameClass::lightning;
      }
      break;
    default:
      if (const std::string_view collective = collective_of(name); !collective.empty()) {
        if (is_known(collective)) return NameClass::collective;
        if (!known_collective(name).empty()) return NameClass::collective_variant;
      }
  }
  return NameClass::plain;
}

std::string known_collective(std::string_view name) {
  const std::string_view collective = collective_of(name);
  if (is_known(collective)) return std::string(name);
  for (const auto& [variant, known] : kVariants) {
    if (variant == collective) return std::string(name.substr(0, 5)) + std::string(known);
  }
  return {};
}

}  // namespace tbtrace::dialects
