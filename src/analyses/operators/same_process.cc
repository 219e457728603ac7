// Whether recordings may be joined as torch joins those of one profiler.
#include <cstddef>
#include <string>

#include <tbtrace/analyses.h>

namespace tbtrace {

std::string_view what_differs(const TraceIdentity& one, const TraceIdentity& other) {
  if (one.rank != other.rank) return "ranks";
  if (one.host != other.host) return "hosts";
  if (one.process != other.process) return "processes";
  return {};
}

Status check_same_process(std::span<const Trace* const> traces) {
  if (traces.size() < 2) return {};
  const TraceIdentity first = traces.front()->identity();
  for (std::size_t number = 1; number < traces.size(); ++number) {
    const std::string_view what = what_differs(first, traces[number]->identity());
    if (what.empty()) continue;
    return {StatusCode::invalid_argument,
            "recordings 1 and " + std::to_string(number + 1) + " are of different " +
                std::string(what) +
                ", so they cannot be summarised together; exact figures can be added up"};
  }
  return {};
}

}  // namespace tbtrace
