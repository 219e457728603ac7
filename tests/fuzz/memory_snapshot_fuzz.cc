// Memory snapshots: any bytes give rows that add up, or a sentence.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "fuzz/require.h"
#include "io/source.h"
#include "snapshots/assembly.h"
#include "snapshots/failure.h"
#include "snapshots/growth.h"
#include "snapshots/holders.h"
#include "snapshots/pickle_machine.h"
#include "snapshots/replay.h"

namespace {

using namespace tbtrace;
using namespace tbtrace::snapshots;

void check_device(const DeviceReplay& replay, Origins& origins) {
  Categories categories(replay, origins);
  Grouping grouping(replay, origins, categories, {.stack = true, .stream = true, .pool = true});
  for (const Moment moment : {Moment{0}, replay.peak(), replay.end()}) {
    std::int64_t bytes = 0;
    for (const Holder& holder : holders_at(replay, grouping, moment)) bytes += holder.bytes;
    fuzz::require(bytes == replay.allocated_at(moment), "rows add up");
    if (const auto memory = reserved_memory(replay, moment)) {
      fuzz::require(memory->free_bytes() <= memory->reserved_bytes(),
                    "gaps are inside of segments");
    }
  }
  const std::vector<std::int64_t> curve = replay.allocated_curve();
  fuzz::require(curve.empty() || curve.back() == replay.allocated_at(replay.end()),
                "the curve ends with what is allocated at the end");
  fuzz::require(replay.peak_bytes() == replay.allocated_at(replay.peak()), "the peak is a moment");
  for (const Failure& failure : failures_of(replay)) {
    fuzz::require(!advice_on(failure).empty(), "failures have advice");
  }
  growth_of(replay, grouping, step_ends(replay, origins));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto source = io::memory_source({reinterpret_cast<const char*>(data), size});
  PickleBytes bytes(*source);
  SnapshotData content;
  Assembly assembly(content);
  PickleMachine machine(bytes, assembly);
  const Result<PickleMachine::Read> read = machine.run();
  if (!read.ok()) {
    fuzz::require(!read.status().message().empty(), "a failure has a sentence");
    return 0;
  }
  content.is_cut = read->end != PickleMachine::End::whole;
  if (!assembly.finish(read->root)) return 0;
  Origins origins(content);
  for (const DeviceReplay& replay : replays_of(content)) check_device(replay, origins);
  return 0;
}
