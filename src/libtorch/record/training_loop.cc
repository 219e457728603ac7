// The ranges of a training loop, by the names of torch's Python: torch/utils/data/dataloader.py,
// torch/optim/optimizer.py.
#include <optional>
#include <string>
#include <typeinfo>

#include <ATen/record_function.h>
#include <torch/optim/optimizer.h>

#include <tbtrace/training_loop.h>

#include "recorder/log/module_map.h"

namespace tbtrace {

namespace {

/// `SGD` of `torch::optim::SGD`, `StatelessDataLoader` of a template's instance.
std::string class_name(const std::type_info& type) {
  const std::string name = recorder::module_class(type.name());
  return name.substr(0, name.find('<'));
}

/// The range of a call of the optimizer; names are made only while somebody listens.
class CallRange {
 public:
  CallRange(const torch::optim::Optimizer& optimizer, const std::string& function) {
    if (!at::getStepCallbacksUnlessEmpty(at::RecordScope::USER_SCOPE).has_value()) return;
    range_.emplace("Optimizer." + function + "#" + class_name(typeid(optimizer)) + "." + function);
  }

 private:
  std::optional<record_function> range_;
};

}  // namespace

std::string loop_detail::name_of_loading(const std::type_info& loader) {
  return "enumerate(DataLoader)#" + class_name(loader) + ".__next__";
}

void step(torch::optim::Optimizer& optimizer) {
  const CallRange range(optimizer, "step");
  optimizer.step();
}

at::Tensor step(torch::optim::Optimizer& optimizer, const std::function<at::Tensor()>& closure) {
  const CallRange range(optimizer, "step");
  return optimizer.step(closure);
}

void zero_grad(torch::optim::Optimizer& optimizer) {
  const CallRange range(optimizer, "zero_grad");
  optimizer.zero_grad();
}

}  // namespace tbtrace
