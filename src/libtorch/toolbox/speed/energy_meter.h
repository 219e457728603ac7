// Counters of energy: NVIDIA's NVML for a GPU, Linux's powercap (RAPL) for the processor's package.
// NVML is loaded when it is asked for. Any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include <tbtrace/status.h>

namespace tbtrace::libtorch {

struct EnergyMeter {
  std::string source;                   ///< for people
  std::function<double()> joules = {};  ///< since some time in the past
};

/// The total-energy counter of a CUDA device.
Result<EnergyMeter> gpu_energy_meter(int cuda_device);

/// All packages in the folder. The counters begin again at a limit that the folder names.
Result<EnergyMeter> cpu_energy_meter(const std::filesystem::path& folder = "/sys/class/powercap");

}  // namespace tbtrace::libtorch
