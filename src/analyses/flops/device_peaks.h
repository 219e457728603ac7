// What devices can do at most, by the data sheets of their vendors: the table of devices.
// To add a device, add a row. Constants; any thread.
#pragma once

#include <optional>
#include <string_view>

#include <tbtrace/flops.h>

namespace tbtrace::analyses {

/// Dense rates, without sparsity, in TFLOP/s (int8: in TOP/s); 0: the device does not have it.
struct DevicePeaks {
  std::string_view name;       ///< part of the device's name, whole words
  std::string_view not_after;  ///< does not fit if this follows
  double float64;
  double float64_matrix;
  double float32;
  double float32_matrix;
  double tf32;
  double float16;
  double bfloat16;
  double float8;
  double int8;
  double gigabytes_per_s;
  std::string_view source;

  /// In FLOP/s; nullopt if the device does not have it.
  std::optional<double> flops_per_s(Precision precision) const;
};

/// nullptr: not in the table.
const DevicePeaks* device_peaks(std::string_view device);

/// The numbers that an operator computes in. `type`: of its first input (`float`, `c10::Half`).
/// Which of two peaks 32 and 64 bits have is decided by the kernels.
Precision precision_of(std::string_view type, bool uses_tensor_cores, const DevicePeaks* device);

}  // namespace tbtrace::analyses
