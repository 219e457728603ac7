#include "libtorch/toolbox/speed/machine_info.h"

#include <fstream>
#include <set>
#include <thread>

#include <ATen/Parallel.h>
#include <sys/utsname.h>
#include <torch/version.h>

#include "cupti/driver_library.h"
#include "writers/tables/shown_cell.h"

namespace tbtrace::libtorch {
namespace {

/// `value` of a line `key : value`; empty at another line.
std::string value_of(const std::string& line, const std::string& key) {
  if (!line.starts_with(key)) return {};
  const std::size_t colon = line.find(':');
  if (colon == std::string::npos) return {};
  if (line.find_first_not_of(" \t", key.size()) != colon) return {};
  const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
  return begin == std::string::npos ? std::string() : line.substr(begin);
}

std::string bytes_text(std::uint64_t bytes) {
  return writers::shown_cell("memory_bytes", Cell(bytes));
}

std::vector<std::pair<std::string, std::string>> processor() {
  std::ifstream file("/proc/cpuinfo");
  std::string model;
  std::string package;
  std::set<std::pair<std::string, std::string>> cores;
  for (std::string line; std::getline(file, line);) {
    if (std::string value = value_of(line, "model name"); !value.empty()) model = value;
    if (std::string value = value_of(line, "physical id"); !value.empty()) package = value;
    if (std::string value = value_of(line, "core id"); !value.empty()) {
      cores.emplace(package, value);
    }
  }
  std::vector<std::pair<std::string, std::string>> entries;
  utsname system{};
  ::uname(&system);
  entries.emplace_back("architecture", system.machine);
  if (!model.empty()) entries.emplace_back("model", writers::printable(model));
  if (!cores.empty()) entries.emplace_back("cores_physical", std::to_string(cores.size()));
  entries.emplace_back("cores_total", std::to_string(std::thread::hardware_concurrency()));
  return entries;
}

std::vector<std::pair<std::string, std::string>> memory() {
  std::ifstream file("/proc/meminfo");
  std::vector<std::pair<std::string, std::string>> entries;
  for (std::string line; std::getline(file, line);) {
    for (const auto& [key, name] :
         {std::pair("MemTotal", "total"), std::pair("MemAvailable", "available")}) {
      const std::string value = value_of(line, key);  // in KiB
      if (!value.empty()) entries.emplace_back(name, bytes_text(std::stoull(value) << 10));
    }
  }
  return entries;
}

}  // namespace

MachineInfo machine_info(bool with_gpus) {
  MachineInfo info;
  utsname system{};
  ::uname(&system);
  info.push_back({"system", {{"system", system.sysname}, {"release", system.release}}});
  info.push_back({"cpu", processor()});
  info.push_back({"memory", memory()});
  info.push_back(
      {"torch", {{"version", TORCH_VERSION}, {"threads", std::to_string(at::get_num_threads())}}});
  if (!with_gpus) return info;
  const Result<cupti::DriverLibrary> driver = cupti::DriverLibrary::open();
  if (!driver.ok()) return info;
  std::vector<std::pair<std::string, std::string>> gpus;
  for (const recorder::DeviceProperties& device : driver->devices()) {
    gpus.emplace_back("gpu_" + std::to_string(gpus.size()),
                      writers::printable(device.name) + ", " +
                          bytes_text(static_cast<std::uint64_t>(device.total_memory_bytes)));
  }
  info.push_back({"gpus", gpus});
  return info;
}

}  // namespace tbtrace::libtorch
