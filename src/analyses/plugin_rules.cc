#include "analyses/plugin_rules.h"

#include <algorithm>
#include <array>

namespace tbtrace::analyses {

/// The extended format holds every nanosecond of 200 years, so only the last step rounds.
double plugin_time(std::int64_t ns) {
  return static_cast<double>(static_cast<long double>(ns) / 1000.0L);
}

bool is_data_loading(std::string_view name) {
  return (name.starts_with("enumerate(DataLoader)#") && name.ends_with(".__next__")) ||
         name.starts_with("enumerate(DataPipe)#");
}

bool is_plugin_collective(std::string_view name) {
  constexpr std::array<std::string_view, 5> kOperations = {"broadcast", "reduce", "all_reduce",
                                                           "all_gather", "reduce_scatter"};
  if (!name.starts_with("nccl:") && !name.starts_with("gloo:")) return false;
  name.remove_prefix(5);
  return std::find(kOperations.begin(), kOperations.end(), name) != kOperations.end();
}

}  // namespace tbtrace::analyses
