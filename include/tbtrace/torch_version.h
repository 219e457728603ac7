// Versions of torch whose figures there are, where two of them print different ones.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <tbtrace/export.h>

namespace TBTRACE_EXPORT tbtrace {

/// docs/parity.md says what depends on the version.
enum class TorchVersion : std::uint8_t {
  v2_13,
  v2_14,
};
constexpr TorchVersion kNewestTorch = TorchVersion::v2_14;

/// As the command line and Python name it: `2.13`, `2.14`.
std::string_view torch_version_name(TorchVersion version);
/// nullopt for a name that there is not.
std::optional<TorchVersion> torch_version_named(std::string_view name);

}  // namespace tbtrace
