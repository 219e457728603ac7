// What the tensors of a model and of its optimizer hold in memory, and what the allocator holds
// beside them (pytorch_memlab's MemReporter). Target tbtrace::torch; does not include any torch
// header. docs/toolbox.md says how each figure is obtained.
// A MemoryReporter refers to its model and optimizer, which must outlive it. For one thread at a
// time. Reports own all their data. Wrong arguments throw std::invalid_argument.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <tbtrace/export.h>
#include <tbtrace/model_summary.h>
#include <tbtrace/report.h>

// Of <torch/torch.h>.
namespace torch::optim {
class Optimizer;
}

namespace TBTRACE_EXPORT tbtrace {

/// What a tensor is for.
enum class TensorRole : std::uint8_t { parameter, buffer, gradient, optimizer_state, other };

/// `parameter`, `buffer`, `gradient`, `optimizer_state`, `other`.
std::string_view tensor_role_name(TensorRole role);

struct HeldTensor {
  std::string path;  ///< `layer1.0.conv1.weight`; of its gradient `....grad`
  TensorRole role = TensorRole::other;
  TensorShape shape;
  std::string device;       ///< `cpu`, `cuda:0`
  std::uint64_t bytes = 0;  ///< of its elements
  /// Of the memory that it is in, counted for the first tensor in it; 0 for the others.
  std::uint64_t storage_bytes = 0;
  /// The path of the first tensor in the same memory; empty: itself.
  std::string shares_with;
  /// Storage bytes now, less those of the first report after the reporter was made or reset().
  std::int64_t growth_bytes = 0;
};

struct DeviceTensors {
  std::string device;
  std::uint64_t tensor_bytes = 0;  ///< storages, each once
  /// What LibTorch's allocator has given out; nullopt: not recorded.
  std::optional<std::uint64_t> allocated_bytes;
  std::optional<std::uint64_t> reserved_bytes;  ///< what it holds of the device
  /// Allocated for anything that is not in the report, such as activations.
  std::optional<std::int64_t> other_bytes() const;
};

struct MemoryReport {
  std::vector<HeldTensor> tensors;  ///< by path of the module, then optimizers, then others
  std::vector<DeviceTensors> devices;
  std::optional<std::uint64_t> resident_bytes;  ///< of the process, as the system says
  std::uint64_t steps = 0;  ///< calls of step() since the first report or reset()
  std::vector<std::string> notes;

  /// Storages, each once, of all devices.
  std::uint64_t total_bytes() const;
  std::uint64_t bytes_of(TensorRole role) const;
  /// Since the first report or reset(), per step(); nullopt before a step.
  std::optional<double> growth_per_step_bytes() const;

  /// Rows of `tbtrace.memory_report/1`.
  AnalysisReport report() const;
  std::string table() const;
  std::string json() const;
};

/// For people.
std::ostream& operator<<(std::ostream& out, const MemoryReport& report);

class MemoryReporter {
 public:
  MemoryReporter();
  /// A module, its holder, a shared_ptr to it, or a torch::jit::Module.
  template <typename Model>
  requires(!std::is_same_v<std::remove_cvref_t<Model>, MemoryReporter>) explicit MemoryReporter(
      Model&& model, const std::string& name = "")
      : MemoryReporter() {
    add(model, name);
  }
  ~MemoryReporter();
  MemoryReporter(MemoryReporter&&) noexcept;
  MemoryReporter& operator=(MemoryReporter&&) noexcept;

  /// Another model, whose paths begin with the name; or an optimizer, with the states of its
  /// parameters.
  template <typename Added>
  MemoryReporter& add(Added&& added, const std::string& name = "") {
    using Plain = std::remove_cvref_t<Added>;
    if constexpr (std::is_same_v<Plain, torch::jit::Module>) {
      add_script(added, name);
    } else if constexpr (std::is_base_of_v<torch::optim::Optimizer, Plain>) {
      add_optimizer(added, name);
    } else if constexpr (std::is_same_v<Plain, at::Tensor>) {
      add_tensor(added, name);
    } else {
      static_assert(toolbox_detail::IsModule<std::remove_reference_t<Added>>,
                    "MemoryReporter takes a torch::nn::Module, its holder, a shared_ptr to it, a "
                    "torch::jit::Module, a torch::optim::Optimizer, or a tensor with a name");
      add_module(toolbox_detail::module_of(added), name);
    }
    return *this;
  }

  /// Marks the end of a training step, for growth per step.
  void step();
  /// Growth counts from the next report on.
  void reset();

  MemoryReport report();
  std::string table() { return report().table(); }

 private:
  class State;

  void add_module(const torch::nn::Module& model, const std::string& name);
  void add_script(const torch::jit::Module& model, const std::string& name);
  void add_optimizer(const torch::optim::Optimizer& optimizer, const std::string& name);
  void add_tensor(const at::Tensor& tensor, const std::string& name);

  std::unique_ptr<State> state_;
};

}  // namespace tbtrace
