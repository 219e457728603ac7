// Models whose modules are to be found in recordings: which module each parameter and buffer
// belongs to. Holds neither modules nor tensors alive, and knows modules by their address only. For
// one thread.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <c10/util/intrusive_ptr.h>

#include "recorder/log/known_tensors.h"
#include "recorder/log/module_map.h"

namespace torch::nn {
class Module;
}
namespace torch::jit {
struct Module;
}

namespace tbtrace::libtorch {

class AttachedModels {
 public:
  /// A module that was added before, by itself or with another model, is not there twice: of two
  /// models that it is a part of, it is of the one that was added first.
  void add(const torch::nn::Module& model, const std::string& name);
  void add(const torch::jit::Module& model, const std::string& name);

  /// As the models' tensors are now; null if there are no models.
  std::shared_ptr<const recorder::ModuleMap> map() const;

  /// The models' parameters that have memory now, and their gradients.
  std::vector<recorder::KnownTensor> known_tensors() const;

 private:
  struct Part {
    const void* instance;
    std::string type;  // mangled; of TorchScript, the class
    std::string path;
    const void* parent;  // an instance; null: none
    /// The parameters, then the buffers.
    std::vector<c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>> tensors;
    std::size_t parameters = 0;
    /// Of TorchScript; keeps the address from being used again.
    std::optional<c10::weak_intrusive_ptr<c10::ivalue::Object>> object = std::nullopt;

    bool is_gone() const;
  };

  static Part part_of(const torch::nn::Module& module, const std::string& path, const void* parent);
  static Part part_of(const torch::jit::Module& module, const std::string& path,
                      const void* parent);
  template <typename Module>
  static void collect(const Module& module, const std::string& path, const void* parent,
                      std::vector<Part>& parts);
  void add_parts(std::vector<Part> parts);
  /// Whether it is the same module still, and not another one at its address.
  static bool is_same(const Part& known, const Part& now);

  /// Of the parameters that are not in `counted` yet, and adds them to it.
  static std::int64_t own_elements(const Part& part, std::unordered_set<const void*>& counted);

  std::vector<Part> parts_;  // a part comes behind its parent
};

/// One more than the row of the TorchScript module whose method is called with these inputs; 0: not
/// a known one.
std::uint64_t script_module(c10::ArrayRef<const c10::IValue> inputs,
                            const recorder::ModuleMap& modules);

/// The first parameter or buffer of a known module among the inputs, null if there is none, or if
/// all tensors have its sizes and autograd is not looking: optimizers work like that.
const recorder::ModuleTensor* module_tensor(c10::ArrayRef<const c10::IValue> inputs,
                                            bool has_sequence_number,
                                            const recorder::ModuleMap& modules);

}  // namespace tbtrace::libtorch
