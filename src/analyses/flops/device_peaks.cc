#include "analyses/flops/device_peaks.h"

#include <algorithm>
#include <array>

#include "base/characters.h"

namespace tbtrace::analyses {
namespace {

// The first row that fits decides. Rates without sparsity (data sheets often have twice as much),
// FP16 and FP8 with sums in FP32, as torch asks for. A figure is here only if two sources have it:
// the one named in the row, and another one (the table in Lightning's
// fabric/utilities/throughput.py, torchtitan's tools/utils.py, a reseller's or reviewer's table, or
// cores times clock). A10G: sources differ by a factor of two in the rates of tensor cores. H800
// and H20: FP64 is limited, with tensor cores too. GH200: its memory comes in two kinds. V100-DGXS:
// a DGX Station has four, with 500 TFLOP/s. RTX 5090: FP16 and FP8 with sums in FP32 have half the
// rate of those with sums in FP16. MI250X: one of its two dies, each of which is a device; likewise
// the stacks of Intel's Max 1550. B300: sources differ in INT8, of GB300 also in FP64. GB10, Thor:
// from the rate in FP4, of which each wider type has half. Orin: modules of other sizes have the
// same name. MI300X:
// TF32 only if asked for in an environment variable of hipBLASLt, so matrices of `float` count as
// FP32.
constexpr std::array kDevices = std::to_array<DevicePeaks>({
    // name, not after, FP64, matrix, FP32, matrix, TF32, FP16, BF16, FP8, INT8, GB/s, source
    {"V100S-PCIE", "", 8.2, 0, 16.4, 0, 0, 130, 0, 0, 0, 1134, "NVIDIA V100 data sheet"},
    {"V100-PCIE", "", 7, 0, 14, 0, 0, 112, 0, 0, 0, 900, "NVIDIA V100 data sheet"},
    {"V100-SXM2", "", 7.8, 0, 15.7, 0, 0, 125, 0, 0, 0, 900, "NVIDIA V100 data sheet"},
    {"V100-DGXS", "", 7.8, 0, 15.7, 0, 0, 125, 0, 0, 0, 900, "NVIDIA DGX Station data sheet"},
    {"T4", "", 0, 0, 8.1, 0, 0, 65, 0, 0, 130, 320, "NVIDIA T4 product brief"},
    {"A10", "", 0, 0, 31.2, 0, 62.5, 125, 125, 0, 250, 600, "NVIDIA A10 data sheet"},
    {"A10G", "", 0, 0, 31.5, 0, 0, 0, 0, 0, 0, 600, "NVIDIA A10G data sheet"},
    {"A30", "", 5.2, 10.3, 10.3, 0, 82, 165, 165, 0, 330, 933, "NVIDIA A30 data sheet"},
    {"A40", "", 0, 0, 37.4, 0, 74.8, 149.7, 149.7, 0, 299.3, 696, "NVIDIA A40 data sheet"},
    {"RTX A6000", "", 0, 0, 38.7, 0, 77.4, 154.8, 154.8, 0, 309.7, 768,
     "NVIDIA GA102 architecture white paper"},
    {"A100-SXM4-80GB", "", 9.7, 19.5, 19.5, 0, 156, 312, 312, 0, 624, 2039,
     "NVIDIA A100 data sheet"},
    {"A100 80GB PCIe", "", 9.7, 19.5, 19.5, 0, 156, 312, 312, 0, 624, 1935,
     "NVIDIA A100 data sheet"},
    {"A100-SXM4-40GB", "", 9.7, 19.5, 19.5, 0, 156, 312, 312, 0, 624, 1555,
     "NVIDIA A100 data sheet"},
    {"A100-PCIE-40GB", "", 9.7, 19.5, 19.5, 0, 156, 312, 312, 0, 624, 1555,
     "NVIDIA A100 data sheet"},
    {"A100-PG509-200", "", 9.7, 19.5, 19.5, 0, 156, 312, 312, 0, 624, 1555,
     "NVIDIA A100 data sheet (SXM, 40 GB)"},
    {"A800-SXM4-80GB", "", 9.7, 19.5, 19.5, 0, 156, 312, 312, 0, 624, 2039,
     "NVIDIA A800 data sheet"},
    {"A800 80GB PCIe", "", 9.7, 19.5, 19.5, 0, 156, 312, 312, 0, 624, 1935,
     "NVIDIA A800 data sheet"},
    {"L4", "", 0, 0, 30.3, 0, 60, 121, 121, 242.5, 242.5, 300, "NVIDIA L4 data sheet"},
    {"L40", "", 0, 0, 90.5, 0, 90.5, 181, 181, 362, 362, 864, "NVIDIA L40 data sheet"},
    {"L40S", "", 0, 0, 91.6, 0, 183, 362, 362, 733, 733, 864, "NVIDIA L40S data sheet"},
    {"H100 80GB HBM3", "", 33.5, 66.9, 66.9, 0, 494.7, 989.4, 989.4, 1978.9, 1978.9, 3350,
     "NVIDIA H100 data sheet (SXM)"},
    {"H100 PCIe", "", 25.6, 51.2, 51.2, 0, 378, 756, 756, 1513, 1513, 2000,
     "NVIDIA H100 data sheet (PCIe)"},
    {"H100 NVL", "", 30, 60, 60, 0, 417.5, 835.5, 835.5, 1670.5, 1670.5, 3900,
     "NVIDIA H100 data sheet (NVL)"},
    {"H800", " PCIe", 1, 0, 66.9, 0, 494.7, 989.4, 989.4, 1978.9, 1978.9, 3350,
     "NVIDIA H800 data sheet (SXM)"},
    {"H20", "-3e", 1, 0, 44, 0, 74, 148, 148, 296, 296, 4000, "NVIDIA H20 data sheet (96 GB)"},
    {"GH200 144G", "", 33.5, 66.9, 66.9, 0, 494.7, 989.4, 989.4, 1978.9, 1978.9, 4900,
     "NVIDIA GH200 data sheet (HBM3e)"},
    {"GH200", "", 33.5, 66.9, 66.9, 0, 494.7, 989.4, 989.4, 1978.9, 1978.9, 4000,
     "NVIDIA GH200 data sheet (HBM3)"},
    {"H200 NVL", "", 30, 60, 60, 0, 417.5, 835.5, 835.5, 1670.5, 1670.5, 4800,
     "NVIDIA H200 data sheet (NVL)"},
    {"H200", " NVL", 33.5, 66.9, 66.9, 0, 494.7, 989.4, 989.4, 1978.9, 1978.9, 4800,
     "NVIDIA H200 data sheet (SXM)"},
    {"B200", "", 37, 37, 75, 0, 1100, 2250, 2250, 4500, 4500, 7700, "NVIDIA HGX B200 data sheet"},
    {"GB200", "", 40, 40, 80, 0, 1250, 2500, 2500, 5000, 5000, 8000,
     "NVIDIA GB200 NVL72 data sheet, a GPU of 72"},
    {"B300", "", 1.25, 1.25, 75, 0, 1125, 2250, 2250, 4500, 0, 7700, "NVIDIA HGX B300 data sheet"},
    {"GB300", "", 0, 0, 80, 0, 1250, 2500, 2500, 5000, 0, 8000,
     "NVIDIA GB300 NVL72 data sheet, a GPU of 72"},
    {"RTX PRO 6000 Blackwell Workstation", "", 0, 0, 126, 0, 251.9, 503.8, 503.8, 1007.6, 1007.6,
     1792, "NVIDIA RTX Blackwell PRO architecture white paper"},
    {"RTX PRO 6000 Blackwell Server", "", 0, 0, 120, 0, 240, 480, 480, 960, 960, 1597,
     "NVIDIA RTX PRO 6000 Blackwell Server Edition data sheet"},
    {"RTX 6000 Ada", "", 0, 0, 91.1, 0, 182.1, 364.2, 364.2, 728.5, 728.5, 960,
     "NVIDIA RTX 6000 Ada data sheet"},
    {"GB10", "", 0, 0, 31, 0, 0, 125, 125, 250, 0, 273, "NVIDIA DGX Spark data sheet"},
    {"Thor", "", 0, 0, 8, 0, 0, 258.7, 258.7, 517.5, 517.5, 273,
     "NVIDIA Jetson T5000 data sheet, at full power"},
    {"Orin", "", 0, 0, 5.3, 0, 0, 42.5, 42.5, 0, 85, 204.8,
     "NVIDIA Jetson AGX Orin data sheet (64 GB, at full power)"},
    {"RTX 3090", " Ti", 0, 0, 35.6, 0, 35.6, 71, 71, 0, 284, 936,
     "NVIDIA GA102 architecture white paper"},
    {"RTX 4090", " D", 0, 0, 82.6, 0, 82.6, 165.2, 165.2, 330.3, 660.6, 1008,
     "NVIDIA Ada architecture white paper"},
    {"RTX 5090", " D", 0, 0, 104.8, 0, 104.8, 209.5, 209.5, 419, 838, 1792,
     "NVIDIA RTX Blackwell architecture white paper"},
    {"MI210", "", 22.6, 45.3, 22.6, 45.3, 0, 181, 181, 0, 181, 1638, "AMD MI210 data sheet"},
    {"MI250X", "", 23.9, 47.9, 23.9, 47.9, 0, 191.5, 191.5, 0, 191.5, 1638,
     "AMD MI250X data sheet, per die"},
    {"MI300X", "", 81.7, 163.4, 163.4, 163.4, 0, 1307.4, 1307.4, 2614.9, 2614.9, 5300,
     "AMD MI300X data sheet"},
    {"MI325X", "", 81.7, 163.4, 163.4, 163.4, 0, 1307.4, 1307.4, 2614.9, 2614.9, 6000,
     "AMD MI325X data sheet"},
    {"Data Center GPU Max 1550", "", 26, 0, 26, 0, 209.7, 419.4, 419.4, 0, 838.9, 1638,
     "Intel Data Center GPU Max 1550 product brief, per stack"},
    {"MI355X", "", 78.6, 78.6, 157.3, 157.3, 0, 2516.6, 2516.6, 5033.2, 5033.2, 8000,
     "AMD MI355X data sheet"},
});

bool is_of_word(char c) { return is_digit(c) || is_letter(c); }

/// Whether a name has the row's name in it, as whole words. Not if it is one of several: both
/// MI250X and MI250 are called `MI250X/MI250`.
bool fits(std::string_view device, const DevicePeaks& row) {
  for (std::size_t at = device.find(row.name); at != std::string_view::npos;
       at = device.find(row.name, at + 1)) {
    const std::string_view after = device.substr(at + row.name.size());
    const bool starts = at == 0 || !is_of_word(device[at - 1]);
    const bool ends = after.empty() || !is_of_word(after.front());
    const bool is_other = !row.not_after.empty() && after.starts_with(row.not_after);
    const bool is_one_of_several = after.starts_with("/") || after.starts_with(" /");
    if (starts && ends && !is_other && !is_one_of_several) return true;
  }
  return false;
}

}  // namespace

std::optional<double> DevicePeaks::flops_per_s(Precision precision) const {
  const auto tera = [&]() -> double {
    switch (precision) {
      case Precision::unknown:
        return 0;
      case Precision::float64:
        return float64;
      case Precision::float64_matrix:
        return float64_matrix;
      case Precision::float32:
        return float32;
      case Precision::float32_matrix:
        return float32_matrix;
      case Precision::tf32:
        return tf32;
      case Precision::float16:
        return float16;
      case Precision::bfloat16:
        return bfloat16;
      case Precision::float8:
        return float8;
      case Precision::int8:
        return int8;
    }
    return 0;
  }();
  return tera > 0 ? std::optional(tera * 1e12) : std::nullopt;
}

const DevicePeaks* device_peaks(std::string_view device) {
  // A part of a device, and a slower one of the same name.
  for (const std::string_view mark : {" MIG ", "Laptop", "Mobile", "Max-Q"}) {
    if (device.find(mark) != std::string_view::npos) return nullptr;
  }
  const auto* found = std::find_if(kDevices.begin(), kDevices.end(),
                                   [&](const DevicePeaks& row) { return fits(device, row); });
  return found == kDevices.end() ? nullptr : found;
}

Precision precision_of(std::string_view type, bool uses_tensor_cores, const DevicePeaks* device) {
  if (type == "c10::Half") return Precision::float16;
  if (type == "c10::BFloat16") return Precision::bfloat16;
  if (type.starts_with("c10::Float8")) return Precision::float8;
  if (type == "signed char" || type == "unsigned char" || type == "c10::qint8" ||
      type == "c10::quint8") {
    return Precision::int8;
  }
  const bool is_double = type == "double" || type == "c10::complex<double>";
  const bool is_single = type == "float" || type == "c10::complex<float>";
  if (is_double) {
    const bool has_matrix = uses_tensor_cores && device != nullptr && device->float64_matrix > 0;
    return has_matrix ? Precision::float64_matrix : Precision::float64;
  }
  if (!is_single) return Precision::unknown;
  if (uses_tensor_cores && device != nullptr) {
    if (device->tf32 > 0) return Precision::tf32;
    if (device->float32_matrix > 0) return Precision::float32_matrix;
  }
  return Precision::float32;
}

}  // namespace tbtrace::analyses
