#pragma once

#include <cstddef>
#include <new>

namespace tbtrace::recorder {

/// For a static object that threads may use while the program ends. It lies in static memory: a
/// library that is unloaded before it is used takes it along.
template <typename T>
class NeverDestroyed {
 public:
  NeverDestroyed() { ::new (place_) T(); }

  T& operator*() { return *std::launder(reinterpret_cast<T*>(place_)); }

 private:
  alignas(T) std::byte place_[sizeof(T)];
};

}  // namespace tbtrace::recorder
