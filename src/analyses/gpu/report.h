// The rows and totals of `tbtrace.gpu/1`, and its options.
#pragma once

#include <cstdint>
#include <vector>

#include <tbtrace/gpu.h>
#include <tbtrace/report.h>
#include <tbtrace/tables.h>
#include <tbtrace/trace.h>

namespace tbtrace::analyses {

GpuOptions gpu_options(const OptionValues& values);

/// The option `kernel_wait_limit_ns`.
OptionDescription kernel_wait_limit_option();

std::vector<ColumnDescription> gpu_columns();
std::vector<ColumnDescription> gpu_totals();

/// Of a device, `idle_causes` of its row.
Json idle_causes_json(const std::vector<IdlePart>& parts, std::int64_t idle_ns);

/// Adds to the rows what a report has besides them, in any figures.
void finish_gpu_report(const Trace& trace, const std::vector<GpuUse>& use, AnalysisReport& report);

}  // namespace tbtrace::analyses
