// The machine that a benchmark ran on, as far as the system says. Without the name of the host or
// anything of the environment.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tbtrace::libtorch {

using MachineInfo =
    std::vector<std::pair<std::string, std::vector<std::pair<std::string, std::string>>>>;

MachineInfo machine_info(bool with_gpus);

}  // namespace tbtrace::libtorch
