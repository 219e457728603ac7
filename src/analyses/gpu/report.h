// The rows and totals of `tbtrace.gpu/1`, and its options.
#pragma once

#include <vector>

#include <tbtrace/gpu.h>
#include <tbtrace/tables.h>
#include <tbtrace/trace.h>

namespace tbtrace::analyses {

GpuOptions gpu_options(const OptionValues& values);

/// The option `kernel_wait_limit_ns`.
OptionDescription kernel_wait_limit_option();

std::vector<ColumnDescription> gpu_columns();
std::vector<ColumnDescription> gpu_totals();

/// Adds to the rows what a report has besides them, in any figures.
void finish_gpu_report(const Trace& trace, const std::vector<GpuUse>& use, AnalysisReport& report);

}  // namespace tbtrace::analyses
