#include "cupti/detachment.h"

namespace tbtrace::cupti {

void Detachment::request() {
  if (subscriber_ != nullptr || cupti_.subscribe == nullptr || cupti_.unsubscribe == nullptr ||
      cupti_.enable_domain == nullptr || cupti_.finalize == nullptr) {
    return;
  }
  void* subscriber = nullptr;
  if (cupti_.subscribe(&subscriber, called, this) != results::kSuccess) return;
  subscriber_ = subscriber;
  for (const int domain : {kRuntimeDomain, kDriverDomain}) {
    static_cast<void>(cupti_.enable_domain(1, subscriber, domain));
  }
}

void Detachment::cancel() {
  if (subscriber_ == nullptr) return;
  static_cast<void>(cupti_.unsubscribe(subscriber_));
  subscriber_ = nullptr;
}

void Detachment::finalize() {
  cancel();
  static_cast<void>(cupti_.finalize());
}

void Detachment::called(void* user, int, std::uint32_t, const void* data) {
  if (data == nullptr || static_cast<const CallbackData*>(data)->site != kCallExit) return;
  static_cast<Detachment*>(user)->on_call_exit_();
}

}  // namespace tbtrace::cupti
