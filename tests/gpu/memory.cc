// What CUDA's allocator did, as tbtrace records it and as LibTorch tells its own profiler.
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <memory>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include "models.h"
#include "parts.h"

namespace gpu_checks {

namespace {

/// What torch's profiler would get, as rows of JSON.
class Reports final : public c10::MemoryReportingInfoBase {
 public:
  void reportMemoryUsage(void* address, std::int64_t bytes, std::size_t allocated,
                         std::size_t reserved, c10::Device device) override {
    if (!device.is_cuda()) return;
    const std::lock_guard lock(mutex_);
    rows_ << (rows_.tellp() == 0 ? "" : ",\n") << '[' << static_cast<int>(device.index()) << ", "
          << reinterpret_cast<std::uintptr_t>(address) << ", " << bytes << ", " << allocated << ", "
          << reserved << ']';
  }
  bool memoryProfilingEnabled() const override { return true; }

  std::string rows() const {
    const std::lock_guard lock(mutex_);
    return rows_.str();
  }

 private:
  mutable std::mutex mutex_;
  std::ostringstream rows_;
};

}  // namespace

void memory(const Arguments& arguments, Figures& figures) {
  const Body step = training_step("transformer");
  step();
  const auto reports = std::make_shared<Reports>();
  // It stands where torch's profiler would, beside which tbtrace records no kernels.
  tbtrace::ProfilerOptions options;
  options.activities = {tbtrace::Activity::cpu};
  options.record_shapes = true;
  options.profile_memory = true;
  options.with_stack = true;
  std::vector<std::string> warnings;
  options.experimental.on_warning = [&](std::string_view sentence) {
    warnings.emplace_back(sentence);
  };
  tbtrace::Profiler profiler(std::move(options));
  {
    const c10::DebugInfoGuard guard(c10::DebugInfoKind::PROFILER_STATE, reports);
    profiler.start();
    for (int number = 0; number < 3; ++number) step();
    profiler.stop();
  }
  for (const tbtrace::Status& written :
       {profiler.export_chrome_trace(arguments.path("memory.json")),
        profiler.export_memory_timeline(arguments.path("timeline.json"), "cuda:0")}) {
    if (!written.ok()) throw std::runtime_error(written.message());
  }
  std::ofstream(arguments.path("reports.json")) << '[' << reports->rows() << "]\n";
  figures.add("warnings", warnings);
}

}  // namespace gpu_checks
