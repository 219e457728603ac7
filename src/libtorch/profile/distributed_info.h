// What a trace says of the process's place in a distributed job, as torch writes it.
#pragma once

#include <string>

#include <tbtrace/profiler.h>

namespace tbtrace::libtorch {

/// The member of a trace file.
inline constexpr const char* kDistributedInfo = "distributedInfo";

std::string distributed_info_json(const DistributedInfo& info);

/// Of RANK and WORLD_SIZE, which launchers such as torchrun set; empty if they are not set or not
/// the numbers of a rank.
std::string distributed_info_of_environment();

}  // namespace tbtrace::libtorch
