#include "libtorch/record/operator_names.h"

#include <memory>
#include <mutex>
#include <string>

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

#include "recorder/process/process.h"

namespace tbtrace::libtorch {

namespace {

using operator_names_detail::kPlaces;
using operator_names_detail::Slot;
using operator_names_detail::slots;
using recorder::NameNumber;

std::atomic<bool> is_stale = true;

/// Where the text is, or else the place for it.
Slot& slot_of(const char* text) {
  std::size_t at = operator_names_detail::place(text);
  for (;; at = (at + 1) % kPlaces) {
    const char* const there = slots[at].text.load(std::memory_order_acquire);
    if (there == text || there == nullptr) return slots[at];
  }
}

/// Hears of each operator that comes or goes, under the dispatcher's lock.
class Listener final : public c10::OpRegistrationListener {
 public:
  void onOperatorRegistered(const c10::OperatorHandle&) override { is_stale.store(true); }
  void onOperatorDeregistered(const c10::OperatorHandle& op) override {
    is_stale.store(true);
    Slot& slot = slot_of(op.schema().name().c_str());
    if (slot.text.load() != nullptr) slot.name.store(NameNumber::none);
  }
};

NameNumber number_of(const c10::FunctionSchema& schema) {
  const NameNumber number = recorder::process_names().find(schema.name(), schema.overload_name());
  return static_cast<NameNumber>(static_cast<std::uint32_t>(number) | recorder::kOfProcess);
}

}  // namespace

namespace operator_names_detail {
constinit Slot slots[kPlaces];
}  // namespace operator_names_detail

void load_operator_names() {
  const std::lock_guard lock(recorder::process_mutex<recorder::PartOrder::names>());
  auto& dispatcher = c10::Dispatcher::singleton();
  // Registered once and for all, as the names are kept.
  static const auto& registration = *new c10::RegistrationHandleRAII(
      dispatcher.addRegistrationListener(std::make_unique<Listener>()));
  (void)registration;
  if (!is_stale.exchange(false)) return;
  static std::size_t known = 0;
  for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
    const auto found = dispatcher.findSchema(name);
    if (!found) continue;
    const char* const text = found->schema().name().c_str();
    Slot& slot = slot_of(text);
    if (slot.text.load() == nullptr && ++known > kPlaces / 2) continue;
    slot.name.store(number_of(found->schema()));
    slot.text.store(text, std::memory_order_release);
  }
}

}  // namespace tbtrace::libtorch
