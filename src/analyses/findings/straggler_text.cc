// What people read about a straggler.
#include <array>
#include <cstddef>

#include <fmt/format.h>

#include <tbtrace/stragglers.h>

namespace tbtrace {
namespace {

std::string_view reason(StragglerCause cause) {
  switch (cause) {
    case StragglerCause::compute:
      return "its kernels take longer than those of the other ranks, or it runs more of them";
    case StragglerCause::input:
      return "it waits for its data";
    case StragglerCause::launch:
      return "its GPU waits for kernels that the host launches late";
    case StragglerCause::memory:
      return "its GPU waits while the host allocates and frees device memory";
    case StragglerCause::network:
      return "transfers with it take longer than the same transfers of other ranks";
    case StragglerCause::garbage_collection:
      return "its GPU waits while Python collects garbage";
    case StragglerCause::unknown:
      break;
  }
  return "the traces do not show why";
}

}  // namespace

std::string_view straggler_cause_name(StragglerCause cause) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"compute", "input", "launch", "memory", "network", "garbage_collection", "unknown"});
  return kNames[static_cast<std::size_t>(cause)];
}

std::string straggler_text(const Straggler& straggler) {
  const std::string who =
      straggler.peer ? fmt::format("the link between ranks {} and {} holds up the job",
                                   straggler.rank, *straggler.peer)
                     : fmt::format("rank {} holds up the job", straggler.rank);
  return fmt::format("{}: {:.2f} ms ({:.1f} %) longer in {} of {} steps; {}", who,
                     static_cast<double>(straggler.excess_per_step_ns) / 1e6,
                     100 * straggler.share, straggler.steps.size(), straggler.recorded_steps,
                     straggler.peer ? "its transfers take longer than the same transfers elsewhere"
                                    : reason(straggler.cause));
}

}  // namespace tbtrace
