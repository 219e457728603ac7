// Products that do not use tensor cores.
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "analyses/findings/event_text.h"
#include "analyses/findings/rules.h"
#include "analyses/flops/device_peaks.h"
#include "base/share.h"
#include "trace/times.h"

namespace tbtrace::analyses {
namespace {

constexpr double kWithoutTensorCores = 0.15;
constexpr double kTensorCoresUsed = 0.01;          // of the time of matrix kernels
constexpr std::int64_t kTensorCoreGeneration = 7;  // of the compute capability: Volta
constexpr std::int64_t kAmpere = 8;                // bfloat16 and TF32 from here on

/// AMD numbers its devices in another way, and the GTX 16 series has no tensor cores.
bool has_nvidia_numbers(std::string_view name) {
  return name.find("AMD") == std::string_view::npos &&
         name.find("GTX 16") == std::string_view::npos;
}

/// By how much the device is faster at products on tensor cores, in the numbers that it has since
/// it has them; nullopt: the table of devices does not have it.
std::optional<double> tensor_core_speedup(const DeviceProperties& device) {
  const DevicePeaks* const peaks = device_peaks(device.name);
  if (peaks == nullptr) return std::nullopt;
  const std::optional<double> plain = peaks->flops_per_s(Precision::float32);
  const std::optional<double> matrix = peaks->flops_per_s(Precision::float16);
  if (!plain || !matrix || *plain <= 0 || *matrix <= *plain) return std::nullopt;
  return *matrix / *plain;
}

}  // namespace

bool has_tensor_cores(const FindingFacts& facts) {
  return facts.device && facts.properties && facts.properties->compute_major &&
         *facts.properties->compute_major >= kTensorCoreGeneration &&
         has_nvidia_numbers(facts.properties->name);
}

std::optional<Finding> no_tensor_cores(const FindingFacts& facts) {
  if (!has_tensor_cores(facts)) return std::nullopt;
  const MatrixKernels& kernels = facts.kernels;
  const double part = share(kernels.without_ns, facts.device->window_ns);
  if (part < kWithoutTensorCores) return std::nullopt;
  const bool used = share(kernels.tensor_core_ns, kernels.matrix_ns) >= kTensorCoresUsed;
  Finding finding = {
      .id = "no_tensor_cores",
      .title = used ? "Part of the matrix products and convolutions do not use tensor cores"
                    : "Matrix products and convolutions do not use tensor cores",
      .remedy = *facts.properties->compute_major >= kAmpere
                    ? "use autocast with bfloat16 or float16, or allow TF32 "
                      "(torch.set_float32_matmul_precision(\"high\")); keep sizes multiples of 8"
                    : "use autocast with float16; keep sizes multiples of 8",
      .evidence = {{"matrix kernels without tensor cores", kernels.without_ns, "ns",
                    event_text(facts.trace, kernels.longest)},
                   {"matrix kernels with tensor cores", kernels.tensor_core_ns, "ns", ""}},
      .share = part};
  if (kernels.longest != EventId::none) {
    const Events& events = facts.trace.events();
    finding.evidence[0].start_ns = since_start(facts.trace, events.start_ns(kernels.longest));
    finding.evidence[0].end_ns = since_start(facts.trace, events.end_ns(kernels.longest));
  }
  const std::optional<double> speedup = tensor_core_speedup(*facts.properties);
  if (!speedup) return finding;  // how much there is to gain is unknown
  const double saved = 1 - 1 / *speedup;
  finding.own_share = part * saved;
  return with_gain(
      facts, std::move(finding),
      static_cast<std::int64_t>(static_cast<double>(kernels.without_ns) * saved),
      fmt::format("if they ran {:.1f} times as fast, by the peaks of float32 and float16",
                  *speedup),
      of_one_device(facts, {.work = kernels.without, .factor = 1 / *speedup}));
}

}  // namespace tbtrace::analyses
