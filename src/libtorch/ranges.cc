// Ranges that the program marks: torch's RecordFunction, made only while somebody listens.
#include <new>
#include <optional>
#include <string>
#include <utility>

#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>

#include <tbtrace/profiler.h>

#include "libtorch/observer.h"

namespace tbtrace {

namespace {

/// torch takes names without zero bytes; observers of ours are told the whole name.
void begin(at::RecordFunction& function, std::string_view name) {
  const libtorch::NameOfNextRange whole(name);
  function.before(std::string(name));
}

}  // namespace

struct record_function::Range {
  explicit Range(at::StepCallbacks&& callbacks) : function(std::move(callbacks)) {}
  at::RecordFunction function;
};

record_function::record_function(std::string_view name) : range_(nullptr) {
  auto callbacks = at::getStepCallbacksUnlessEmpty(at::RecordScope::USER_SCOPE);
  if (!callbacks.has_value()) return;
  range_ = new Range(std::move(*callbacks));
  begin(range_->function, name);
}

record_function::~record_function() { delete range_; }

struct async_range::Range {
  explicit Range(at::StepCallbacks&& callbacks) : function(std::move(callbacks)) {}
  at::RecordFunction function;
};

async_range::async_range(std::string_view name) {
  auto callbacks = at::getStepCallbacksUnlessEmpty(at::RecordScope::USER_SCOPE);
  if (!callbacks.has_value()) return;
  range_ = std::make_unique<Range>(std::move(*callbacks));
  range_->function._setAsync();
  begin(range_->function, name);
}

async_range::~async_range() = default;
async_range::async_range(async_range&& other) noexcept = default;
async_range& async_range::operator=(async_range&& other) noexcept = default;

void async_range::end() { range_.reset(); }

}  // namespace tbtrace
