#include <array>

#include <tbtrace/report.h>

namespace tbtrace {

std::string_view figures_name(Figures figures) {
  constexpr std::array<std::string_view, 3> kNames = {"exact", "torch", "plugin"};
  return kNames[static_cast<std::size_t>(figures)];
}

}  // namespace tbtrace
