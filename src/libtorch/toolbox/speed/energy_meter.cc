#include "libtorch/toolbox/speed/energy_meter.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include <dlfcn.h>

namespace tbtrace::libtorch {
namespace {

Status not_available(const std::string& why) { return {StatusCode::unreadable_input, why}; }

template <typename Function>
bool find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(::dlsym(library, name));
  return function != nullptr;
}

std::optional<std::uint64_t> number_in(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::uint64_t number = 0;
  if (!(stream >> number)) return std::nullopt;
  return number;
}

/// A counter of microjoules that begins again after its limit.
class Package {
 public:
  Package(std::filesystem::path file, std::uint64_t limit, std::uint64_t begin)
      : file_(std::move(file)), limit_(limit), last_(begin) {}

  double joules() {
    const std::uint64_t now = number_in(file_).value_or(last_);
    sum_ += now >= last_ ? now - last_ : now + (limit_ - last_);
    last_ = now;
    return static_cast<double>(sum_) * 1e-6;
  }

 private:
  std::filesystem::path file_;
  std::uint64_t limit_;
  std::uint64_t last_;
  std::uint64_t sum_ = 0;
};

}  // namespace

Result<EnergyMeter> gpu_energy_meter(int cuda_device) {
  void* const driver = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  void* const nvml = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr || nvml == nullptr) {
    return not_available("libnvidia-ml.so.1, which NVIDIA's driver brings, is not there");
  }
  // Source: cuda.h and nvml.h; 0 is success.
  int (*device)(int*, int) = nullptr;
  int (*bus_id)(char*, int, int) = nullptr;
  int (*init)() = nullptr;
  int (*handle_of)(const char*, void**) = nullptr;
  int (*energy)(void*, unsigned long long*) = nullptr;
  if (!find(driver, "cuDeviceGet", device) || !find(driver, "cuDeviceGetPCIBusId", bus_id) ||
      !find(nvml, "nvmlInit_v2", init) ||
      !find(nvml, "nvmlDeviceGetHandleByPciBusId_v2", handle_of) ||
      !find(nvml, "nvmlDeviceGetTotalEnergyConsumption", energy)) {
    return not_available("the driver is too old to count energy");
  }
  int number = 0;
  std::array<char, 64> address{};
  void* handle = nullptr;
  unsigned long long millijoules = 0;
  const bool is_found = init() == 0 && device(&number, cuda_device) == 0 &&
                        bus_id(address.data(), static_cast<int>(address.size()), number) == 0 &&
                        handle_of(address.data(), &handle) == 0;
  if (!is_found || energy(handle, &millijoules) != 0) {
    return not_available("the GPU does not count its energy (GPUs do from Volta on)");
  }
  return EnergyMeter{"NVML, the whole GPU", [energy, handle] {
                       unsigned long long now = 0;
                       energy(handle, &now);
                       return static_cast<double>(now) * 1e-3;
                     }};
}

Result<EnergyMeter> cpu_energy_meter(const std::filesystem::path& folder) {
  auto packages = std::make_shared<std::vector<Package>>();
  std::error_code error;
  bool is_locked = false;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    // `intel-rapl:0`, and not its parts `intel-rapl:0:1`; AMD's have the same names.
    const bool is_package =
        name.starts_with("intel-rapl:") && std::count(name.begin(), name.end(), ':') == 1;
    if (!is_package) continue;
    const auto now = number_in(entry.path() / "energy_uj");
    const auto limit = number_in(entry.path() / "max_energy_range_uj");
    is_locked = is_locked || !now;
    if (now && limit) packages->emplace_back(entry.path() / "energy_uj", *limit, *now);
  }
  if (is_locked) {
    return not_available("the energy counters in " + folder.string() +
                         " may be read by root only; `chmod a+r` of energy_uj changes that");
  }
  if (packages->empty()) {
    return not_available("the machine has no energy counters in " + folder.string());
  }
  return EnergyMeter{"RAPL, the whole processor", [packages] {
                       double sum = 0;
                       for (Package& package : *packages) sum += package.joules();
                       return sum;
                     }};
}

}  // namespace tbtrace::libtorch
