#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include <ATen/core/Tensor.h>
#include <unistd.h>

#include <tbtrace/memory_reporter.h>

#include "libtorch/record/device_allocator.h"
#include "libtorch/toolbox/layers/model_parts.h"
#include "libtorch/toolbox/memory/optimizer_states.h"

namespace tbtrace {
namespace {

using libtorch::ModelParts;
using libtorch::ModelTensor;

/// Of the process, in memory now.
std::optional<std::uint64_t> resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t all = 0;
  std::uint64_t resident = 0;
  const long page = ::sysconf(_SC_PAGESIZE);
  if (!(file >> all >> resident) || page <= 0) return std::nullopt;
  return resident * static_cast<std::uint64_t>(page);
}

/// Lists tensors, each memory once.
class Listing {
 public:
  void add(const std::string& path, TensorRole role, const at::Tensor& tensor) {
    HeldTensor held;
    held.path = path;
    held.role = role;
    held.shape = libtorch::shape_of(tensor);
    held.device = tensor.device().str();
    held.bytes = libtorch::bytes_of(tensor);
    const void* const storage = libtorch::storage_of(tensor);
    if (storage == nullptr) {  // such as sparse tensors
      held.storage_bytes = held.bytes;
    } else {
      const auto [first, is_new] = first_in_.try_emplace(storage, path);
      if (is_new) {
        held.storage_bytes = tensor.storage().nbytes();
      } else {
        held.shares_with = first->second;
      }
    }
    report.tensors.push_back(std::move(held));
  }

  MemoryReport report;

 private:
  std::unordered_map<const void*, std::string> first_in_;
};

/// `cuda` and `cuda:0` are one.
int number_of_cuda(const std::string& device) {
  if (!device.starts_with("cuda")) return -1;
  const std::size_t colon = device.find(':');
  return colon == std::string::npos ? 0 : std::stoi(device.substr(colon + 1));
}

void add_devices(MemoryReport& report) {
  std::map<std::string, DeviceTensors> devices;
  for (const HeldTensor& tensor : report.tensors) {
    devices[tensor.device].tensor_bytes += tensor.storage_bytes;
  }
  libtorch::DeviceAllocator* const allocator = libtorch::cuda_allocator();
  for (auto& [name, device] : devices) {
    device.device = name;
    const int number = number_of_cuda(name);
    if (number >= 0 && allocator != nullptr && allocator->is_ready()) {
      const recorder::AllocatorTotals totals = allocator->totals(number);
      device.allocated_bytes = static_cast<std::uint64_t>(totals.allocated);
      device.reserved_bytes = static_cast<std::uint64_t>(totals.reserved);
    } else {
      report.notes.push_back("What the allocator holds of " + name + " is not recorded: " +
                             (number < 0 ? "LibTorch's allocator of the host does not count."
                                         : "this build or LibTorch lacks CUDA's allocator."));
    }
    report.devices.push_back(device);
  }
}

}  // namespace

class MemoryReporter::State {
 public:
  using List = std::function<void(Listing& listing)>;

  void add(List list) { lists_.push_back(std::move(list)); }

  void add_parts(std::function<ModelParts()> parts, const std::string& name) {
    const auto path_in_report = [name](const ModelTensor& tensor) {
      return name.empty() ? tensor.path : name + "." + tensor.path;
    };
    // As the model is at each report.
    add([parts = std::move(parts), path_in_report, this](Listing& listing) {
      for (const ModelTensor& tensor : parts().tensors) {
        const std::string path = path_in_report(tensor);
        listing.add(path, tensor.is_parameter ? TensorRole::parameter : TensorRole::buffer,
                    tensor.tensor);
        if (!tensor.is_parameter) continue;
        paths_.try_emplace(tensor.tensor.unsafeGetTensorImpl(), path);
        const at::Tensor& gradient = tensor.tensor.grad();
        if (tensor.tensor.is_leaf() && gradient.defined()) {
          listing.add(path + ".grad", TensorRole::gradient, gradient);
        }
      }
    });
  }

  void add_optimizer(const torch::optim::Optimizer& optimizer, std::string name) {
    if (name.empty()) name = libtorch::class_of(optimizer);
    add([&optimizer, name, this](Listing& listing) {
      std::map<std::string, int> numbers;  // LBFGS has several tensors of a name
      const std::size_t unknown = libtorch::visit_states(
          optimizer,
          [&](const at::Tensor& parameter, std::string_view state, const at::Tensor& tensor) {
            std::string path = name + "." + path_of(parameter) + "." + std::string(state);
            const int number = numbers[path]++;
            if (number > 0) path += "_" + std::to_string(number);
            listing.add(path, TensorRole::optimizer_state, tensor);
          });
      if (unknown == 0) return;
      listing.report.notes.push_back("The states of " + std::to_string(unknown) +
                                     " parameters in " + name +
                                     " are not recorded: their class is not LibTorch's.");
    });
  }

  MemoryReport report() {
    paths_.clear();
    Listing listing;
    for (const List& list : lists_) list(listing);
    MemoryReport report = std::move(listing.report);
    std::map<std::string, std::uint64_t> now;
    for (const HeldTensor& tensor : report.tensors) now[tensor.path] += tensor.storage_bytes;
    if (!first_) {
      first_ = now;
      steps_ = 0;
    }
    for (HeldTensor& tensor : report.tensors) {
      const auto before = first_->find(tensor.path);
      tensor.growth_bytes =
          static_cast<std::int64_t>(tensor.storage_bytes) -
          (before == first_->end() ? 0 : static_cast<std::int64_t>(before->second));
    }
    report.steps = steps_;
    report.resident_bytes = resident_bytes();
    add_devices(report);
    return report;
  }

  void step() { ++steps_; }
  void reset() { first_.reset(); }

 private:
  /// Of a parameter that no model has, its number.
  std::string path_of(const at::Tensor& parameter) {
    const auto [path, is_new] = paths_.try_emplace(parameter.unsafeGetTensorImpl(),
                                                   "parameter_" + std::to_string(paths_.size()));
    return path->second;
  }

  std::vector<List> lists_;
  std::unordered_map<const void*, std::string> paths_;  // of parameters
  std::optional<std::map<std::string, std::uint64_t>> first_;
  std::uint64_t steps_ = 0;
};

MemoryReporter::MemoryReporter() : state_(std::make_unique<State>()) {}
MemoryReporter::~MemoryReporter() = default;
MemoryReporter::MemoryReporter(MemoryReporter&&) noexcept = default;
MemoryReporter& MemoryReporter::operator=(MemoryReporter&&) noexcept = default;

void MemoryReporter::add_module(const torch::nn::Module& model, const std::string& name) {
  state_->add_parts([&model] { return libtorch::parts_of(model); }, name);
}

void MemoryReporter::add_script(const torch::jit::Module& model, const std::string& name) {
  state_->add_parts([&model] { return libtorch::parts_of(model); }, name);
}

void MemoryReporter::add_optimizer(const torch::optim::Optimizer& optimizer,
                                   const std::string& name) {
  state_->add_optimizer(optimizer, name);
}

void MemoryReporter::add_tensor(const at::Tensor& tensor, const std::string& name) {
  if (name.empty()) throw std::invalid_argument("a tensor needs a name: add(tensor, \"mask\")");
  if (!tensor.defined()) throw std::invalid_argument(name + " is a tensor without a value");
  state_->add([tensor, name](Listing& listing) { listing.add(name, TensorRole::other, tensor); });
}

void MemoryReporter::step() { state_->step(); }
void MemoryReporter::reset() { state_->reset(); }
MemoryReport MemoryReporter::report() { return state_->report(); }

}  // namespace tbtrace
