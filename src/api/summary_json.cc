// `tbtrace.summary/1`; docs/formats/summary.md describes it.
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/trace_summary.h>

#include "analyses/source_report.h"
#include "api/json_members.h"
#include "api/summary_pages.h"
#include "report/optional_cell.h"
#include "wire/json_emitter.h"
#include "writers/cell_json.h"

namespace tbtrace {
namespace {

class SummaryJson {
 public:
  explicit SummaryJson(const std::vector<TraceSummary>& summaries) : summaries_(summaries) {}

  std::string run() {
    json_.begin_object();
    member("schema", std::string("tbtrace.summary/1"));
    list("run", [&](const TraceSummary& summary) { add_run(summary); });
    list("steps", [&](const TraceSummary& summary) { add_steps(summary); });
    list("operators", [&](const TraceSummary& summary) { add_operators(summary); });
    list("kernels", [&](const TraceSummary& summary) { add_kernels(summary); });
    list("modules", [](const TraceSummary&) {});
    list("gpu", [&](const TraceSummary& summary) { add_gpus(summary); });
    list("memory", [&](const TraceSummary& summary) { add_memory(summary); });
    list("communication", [&](const TraceSummary& summary) { add_communication(summary); });
    add_findings();
    SourceReport source;
    for (const TraceSummary& summary : summaries_) analyses::add_source(source, summary.source);
    json_.new_line();
    json_.key("issues");
    json_.raw(api::issues_json(source));
    json_.new_line();
    json_.end_object();
    return text_ + "\n";
  }

 private:
  /// An array with what each summary adds to it.
  template <typename Add>
  void list(std::string_view name, Add add) {
    json_.new_line();
    json_.key(name);
    json_.begin_array();
    for (at_ = 0; at_ < summaries_.size(); ++at_) add(summaries_[at_]);
    json_.end_array();
  }

  void member(std::string_view name, const Cell& value) {
    json_.key(name);
    writers::emit_cell(json_, value);
  }

  template <typename Value>
  void optional(std::string_view name, const std::optional<Value>& value) {
    member(name, report::optional_cell(value));
  }

  /// Starts an object with the trace that it is of.
  void begin(const TraceSummary& summary) {
    json_.new_line();
    json_.begin_object();
    member("trace", static_cast<std::uint64_t>(at_));
    optional("rank", summary.run.identity.rank);
  }

  void add_run(const TraceSummary& summary) {
    const RecordedRun& run = summary.run;
    begin(summary);
    member("input", run.input);
    optional("world_size", run.identity.world_size);
    member("host", run.identity.host);
    member("process", run.identity.process);
    member("window_ns", run.window_ns);
    member("ranges", run.ranges);
    member("device_activities", run.device_activities);
    member("options", run.options);
    json_.key("devices");
    json_.begin_array();
    for (const DeviceProperties& device : run.devices) {
      json_.begin_object();
      member("id", device.id);
      member("name", device.name);
      optional("memory_bytes", device.memory_bytes);
      optional("compute_major", device.compute_major);
      optional("compute_minor", device.compute_minor);
      optional("multiprocessors", device.multiprocessors);
      json_.end_object();
    }
    json_.end_array();
    json_.end_object();
  }

  void add_steps(const TraceSummary& summary) {
    const StepBreakdown& steps = summary.steps;
    if (steps.steps.empty()) return;
    begin(summary);
    member("steps", static_cast<std::uint64_t>(steps.steps.size()));
    member("duration_ns", steps.mean_duration_ns());
    for (std::size_t role = 0; role < kStepRoles; ++role) {
      const auto which = static_cast<StepRole>(role);
      member(std::string(step_role_name(which)) + "_ns", steps.mean_ns(which));
    }
    member("host_duration_ns", steps.mean_host_duration_ns());
    double unphased = steps.mean_host_duration_ns();
    for (std::size_t phase = 0; phase < kStepPhases; ++phase) {
      const auto which = static_cast<StepPhase>(phase);
      unphased -= steps.mean_ns(which);
      member(std::string(step_phase_name(which)) + "_ns", steps.mean_ns(which));
    }
    member("unphased_ns", unphased);
    json_.end_object();
  }

  void add_operators(const TraceSummary& summary) {
    for (const OperatorShare& row : summary.operators) {
      begin(summary);
      member("key", row.name);
      member("count", row.count);
      member("self_cpu_time_total_ns", row.self_cpu_time_total_ns);
      member("self_device_time_total_ns", row.self_device_time_total_ns);
      json_.end_object();
    }
  }

  void add_kernels(const TraceSummary& summary) {
    for (const KernelGroup& row : summary.kernels.groups) {
      begin(summary);
      member("name", row.name);
      member("short_name", row.short_name);
      member("family", std::string(kernel_family_name(row.family)));
      member("count", row.count);
      member("total_ns", row.total_ns);
      member("mean_ns", row.mean_ns);
      json_.end_object();
    }
  }

  void add_gpus(const TraceSummary& summary) {
    for (const GpuUse& use : summary.gpus) {
      begin(summary);
      member("device", use.device);
      member("window_ns", use.window_ns);
      member("busy_ns", use.busy_ns);
      member("computation_ns", use.computation_ns);
      member("exposed_communication_ns", use.exposed_communication_ns);
      member("exposed_memory_ns", use.exposed_memory_ns);
      member("idle_ns", use.idle_ns);
      member("idle_host_wait_ns", use.idle_host_wait_ns);
      member("idle_kernel_wait_ns", use.idle_kernel_wait_ns);
      member("idle_other_ns", use.idle_other_ns);
      json_.end_object();
    }
  }

  void add_memory(const TraceSummary& summary) {
    for (const DevicePeak& device : summary.memory) {
      begin(summary);
      member("device", device.device);
      member("peak_bytes", device.peak_bytes);
      optional("peak_reserved_bytes", device.peak_reserved_bytes);
      optional("growth_per_step_bytes", device.growth_per_step_bytes);
      json_.key("alive");
      json_.begin_array();
      for (const MemoryHolder& holder : device.alive) {
        json_.begin_object();
        member("operator", holder.source.op);
        member("module", holder.source.module);
        member("bytes", holder.bytes);
        json_.end_object();
      }
      json_.end_array();
      json_.end_object();
    }
  }

  void add_communication(const TraceSummary& summary) {
    for (const GpuUse& use : summary.gpus) {
      if (use.communication_ns == 0) continue;
      begin(summary);
      member("device", use.device);
      member("communication_ns", use.communication_ns);
      member("overlap_ns", use.overlap_ns);
      member("exposed_communication_ns", use.exposed_communication_ns);
      json_.end_object();
    }
  }

  void add_findings() {
    json_.new_line();
    json_.key("findings");
    json_.begin_array();
    for (const api::SharedFinding& shared : api::shared_findings(summaries_)) {
      const Finding& finding = *shared.worst;
      json_.new_line();
      json_.begin_object();
      member("id", finding.id);
      member("severity", std::string(finding.severity()));
      member("title", finding.title);
      member("share", finding.share);
      member("traces", static_cast<std::uint64_t>(shared.count));
      member("trace", static_cast<std::uint64_t>(shared.worst_summary));
      json_.key("evidence");
      json_.begin_array();
      for (const Evidence& evidence : finding.evidence) {
        json_.begin_object();
        member("what", evidence.what);
        member("value", evidence.value);
        member("unit", report::text_cell(evidence.unit));
        member("event", report::text_cell(evidence.event));
        json_.end_object();
      }
      json_.end_array();
      member("remedy", finding.remedy);
      json_.end_object();
    }
    json_.end_array();
  }

  const std::vector<TraceSummary>& summaries_;
  std::size_t at_ = 0;
  std::string text_;
  wire::JsonEmitter json_{text_};
};

}  // namespace

std::string summary_json(const std::vector<TraceSummary>& summaries) {
  return SummaryJson(summaries).run();
}

}  // namespace tbtrace
