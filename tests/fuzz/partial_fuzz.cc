// partials/message.h: any message is either refused or a partial that is written as it was read,
// and of which every table can be made.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <tbtrace/jobs.h>
#include <tbtrace/partial.h>
#include <tbtrace/summary.h>
#include <tbtrace/tables.h>

#include "fuzz/require.h"
#include "partials/message.h"

namespace {

using namespace tbtrace;

/// A failure is as good as a table; neither may be more than the partial is worth.
template <typename Report>
void make_text(const Result<Report>& report) {
  if (report.ok()) static_cast<void>(report_text(*report, {.format = TableFormat::json}));
}

void make_tables(const Partial& partial) {
  for (const int frames : {0, partial.options().group_by_stack_n}) {
    const auto summary = operator_summary(
        partial,
        {.group_by_input_shape = true, .group_by_stack_n = frames, .group_by_overload_name = true});
    if (summary.ok()) static_cast<void>(summary->json());
  }
  for (const KernelGrouping group_by :
       {KernelGrouping::name, KernelGrouping::launch, KernelGrouping::op, KernelGrouping::family,
        KernelGrouping::label}) {
    make_text(kernels_report(partial, {.group_by = group_by}));
  }
  for (const ModuleGrouping group_by :
       {ModuleGrouping::module, ModuleGrouping::type, ModuleGrouping::layer}) {
    ModulesOptions options;
    options.group_by = group_by;
    make_text(modules_report(partial, options));
  }
  make_text(lines_report(partial));
  make_text(lines_report(partial, {.libraries = true}));
  make_text(steps_report(partial));
  make_text(gpu_report(partial));
  make_text(gpu_report(partial, {.by_stream = true}));
  make_text(memory_report(partial));
  make_text(memory_report(partial, {.view = MemoryView::alive}));
  make_text(make_table(*table_named("collectives"), partial));
  static_cast<void>(summary_json(partial_summaries(partial)));
  static_cast<void>(job_remarks(find_jobs(partial.sources())));
  for (const char* const weight : {"self_cpu_time_total", "self_device_time_total", "cpu_memory"}) {
    static_cast<void>(flame_graph(partial, {.weight = weight, .merge_recursion = true}));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view message(reinterpret_cast<const char*>(data), size);
  Result<std::unique_ptr<partials::Content>> content = partials::content_in(message);
  if (!content.ok()) return 0;
  const Partial partial(*std::move(content));
  const std::string written = partials::message_of(partial.content());
  Result<std::unique_ptr<partials::Content>> again = partials::content_in(written);
  fuzz::require(again.ok(), "what was written can be read");
  fuzz::require(partials::message_of(**again) == written, "a partial is written as it was read");
  Partial copy(*std::move(again));
  fuzz::require(copy.merge(partial).ok() == partial.sources().empty(), "a source counts once");
  make_tables(partial);
  return 0;
}
