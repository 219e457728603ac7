#include "analyses/torch/versions.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace tbtrace {
namespace analyses {
namespace {

constexpr std::array kRules = {
    TorchRules{TorchVersion::v2_13, "2.13", true},
    TorchRules{TorchVersion::v2_14, "2.14", false},
    TorchRules{TorchVersion::v2_15, "2.15", false},
};

}  // namespace

const TorchRules& torch_rules(TorchVersion version) {
  return kRules[static_cast<std::size_t>(version)];
}

}  // namespace analyses

std::string_view torch_version_name(TorchVersion version) {
  return analyses::torch_rules(version).name;
}

std::optional<TorchVersion> torch_version_named(std::string_view name) {
  const auto* const found = std::ranges::find(analyses::kRules, name, &analyses::TorchRules::name);
  if (found == analyses::kRules.end()) return std::nullopt;
  return found->version;
}

}  // namespace tbtrace
