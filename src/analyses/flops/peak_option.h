// The option for a device's peak, which tables have alike.
#pragma once

#include <tbtrace/tables.h>

namespace tbtrace::analyses {

inline OptionDescription peak_flops_option() {
  return {
      .name = "peak_flops_per_s",
      .spelling = "peak-tflops",
      .type = OptionType::number,
      .help = "the device's peak in TFLOP/s, for all precisions (default: its data sheet's)",
      .help_in_code = "the device's peak in FLOP/s, for all precisions (default: its data sheet's)",
      .value = "X",
      .takes = "a number above 0, such as 312",
      .scale = 1e12};
}

}  // namespace tbtrace::analyses
