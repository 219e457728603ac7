// Range names with a special meaning to torch-tb-profiler, and to whoever reads memory records.
// Pure function of a name. Rules from the plugin's 0.4.3 release (event_parser.py, node.py,
// trace.py).
// Every name has a class; most are plain.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tbtrace::chrome {

enum class NameClass : std::uint8_t {
  plain,
  step,           ///< `ProfilerStep#5`
  unsound_step,   ///< begins like a step, and makes the plugin drop the file
  data_loader,    ///< `enumerate(DataLoader)#... .__next__`, `enumerate(DataPipe)#...`
  optimizer,      ///< `Optimizer.step#SGD.step`
  data_parallel,  ///< `DataParallel.forward`
  distributed_data_parallel,
  collective,          ///< one of the five nccl and gloo collectives that the plugin knows
  collective_variant,  ///< a variant of one of them
  lightning,           ///< `[pl][profile]...`, `[pl][module]...`
  memory,              ///< `[memory]`, `[OutOfMemory]`
};

NameClass class_of_name(std::string_view name);

/// The plugin's name for an nccl or gloo collective (`nccl:_all_gather_base` is an
/// `nccl:all_gather`); empty if there is none.
std::string known_collective(std::string_view name);

}  // namespace tbtrace::chrome
