// Detaches CUPTI from the process (cuptiFinalize), for programs that asked for it: a process in
// which CUPTI has traced stays slower without that (pytorch#146604).
// CUPTI may be detached safely at the exit of a CUDA call of the program and nowhere else, so this
// subscribes to CUDA's calls and does it in the first one that ends. If another tool holds CUPTI's
// only subscription, CUPTI stays attached.
// request() and cancel() are for one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "cupti/cupti_library.h"

namespace tbtrace::cupti {

class Detachment {
 public:
  /// `on_call_exit` is called at the exits of CUDA calls, on the threads that make them, from
  /// request() until cancel() or finalize(). It calls finalize() if nothing is being recorded.
  Detachment(const CuptiLibrary& cupti, std::function<void()> on_call_exit)
      : cupti_(cupti), on_call_exit_(std::move(on_call_exit)) {}
  Detachment(const Detachment&) = delete;
  Detachment& operator=(const Detachment&) = delete;
  ~Detachment() { cancel(); }

  void request();
  void cancel();
  bool is_requested() const { return subscriber_ != nullptr; }
  /// Detaches now. Requires is_requested().
  void finalize();

 private:
  static void called(void* user, int domain, std::uint32_t number, const void* data);

  const CuptiLibrary& cupti_;
  const std::function<void()> on_call_exit_;
  void* subscriber_ = nullptr;
};

}  // namespace tbtrace::cupti
