// What the program tells of: ranges, which are torch's RecordFunction, made only while somebody
// listens; instants and counters, which torch has none of.
#include <memory>
#include <string>
#include <typeinfo>
#include <utility>
#include <variant>

#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>
#include <torch/nn/module.h>

#include <tbtrace/ranges.h>

#include "libtorch/record/observer.h"
#include "recorder/log/module_map.h"
#include "recorder/log/range_arguments.h"

namespace tbtrace {

struct range_detail::Range {
  explicit Range(at::StepCallbacks&& callbacks) : function(std::move(callbacks)) {}
  at::RecordFunction function;
};

namespace {

recorder::RangeArgumentsWriter encoded(RangeArguments arguments) {
  recorder::RangeArgumentsWriter writer;
  for (const RangeArgument& argument : arguments) {
    std::visit([&](const auto& value) { writer.add(argument.key(), value); }, argument.value());
  }
  return writer;
}

/// Null while nobody listens.
std::unique_ptr<range_detail::Range> begin(std::string_view name, RangeArguments arguments,
                                           bool is_async = false) {
  auto callbacks = at::getStepCallbacksUnlessEmpty(at::RecordScope::USER_SCOPE);
  if (!callbacks.has_value()) return nullptr;
  auto range = std::make_unique<range_detail::Range>(std::move(*callbacks));
  if (is_async) range->function._setAsync();
  const recorder::RangeArgumentsWriter said = encoded(arguments);
  const libtorch::NextRange whole(name, said.bytes());
  range->function.before(std::string(name));
  return range;
}

std::unique_ptr<range_detail::Range> begin_forward(const torch::nn::Module& module) {
  auto callbacks = at::getStepCallbacksUnlessEmpty(at::RecordScope::USER_SCOPE);
  if (!callbacks.has_value()) return nullptr;
  auto range = std::make_unique<range_detail::Range>(std::move(*callbacks));
  const char* const type = typeid(module).name();
  const libtorch::NextRange whole(type, {}, &module);
  range->function.before("nn.Module: " + recorder::module_class(type));
  return range;
}

}  // namespace

record_function::record_function(std::string_view name, RangeArguments arguments)
    : range_(begin(name, arguments)) {}
record_function::~record_function() = default;

async_range::async_range(std::string_view name, RangeArguments arguments)
    : range_(begin(name, arguments, /*is_async=*/true)) {}
async_range::~async_range() = default;
async_range::async_range(async_range&& other) noexcept = default;
async_range& async_range::operator=(async_range&& other) noexcept = default;

void async_range::end() { range_.reset(); }

void counter(std::string_view name, double value) {
  const auto callbacks = at::getStepCallbacksUnlessEmpty(at::RecordScope::USER_SCOPE);
  if (callbacks.has_value()) libtorch::record_counter(*callbacks, name, value);
}

void instant(std::string_view name, RangeArguments arguments) {
  const auto callbacks = at::getStepCallbacksUnlessEmpty(at::RecordScope::USER_SCOPE);
  if (callbacks.has_value()) {
    libtorch::record_instant(*callbacks, name, encoded(arguments).bytes());
  }
}

module_scope::module_scope(const torch::nn::Module& module) : range_(begin_forward(module)) {}
module_scope::~module_scope() = default;

}  // namespace tbtrace
