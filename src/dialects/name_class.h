// The names of ranges to which torch-tb-profiler gives a meaning.
// Pure function of a name. Rules from its 0.4.3 release (event_parser.py, node.py, trace.py).
// Every name has a class; most have none of these meanings.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tbtrace::dialects {

enum class NameClass : std::uint8_t {
  plain,
  step,           ///< `ProfilerStep#5`
  unsound_step,   ///< begins like one, and makes the plugin drop the file
  data_loader,    ///< `enumerate(DataLoader)#... .__next__`, `enumerate(DataPipe)#...`
  optimizer,      ///< `Optimizer.step#SGD.step`
  data_parallel,  ///< `DataParallel.forward`
  distributed_data_parallel,
  collective,          ///< one of the five of nccl and gloo that the plugin knows
  collective_variant,  ///< does the same as one of them
  lightning,           ///< `[pl][profile]...`, `[pl][module]...`
};

NameClass class_of_name(std::string_view name);

/// The name that the plugin knows a collective of nccl or gloo by (`nccl:_all_gather_base` is an
/// `nccl:all_gather`); empty if there is none.
std::string known_collective(std::string_view name);

}  // namespace tbtrace::dialects
