#pragma once

namespace tbtrace::recorder {

/// For a static object that threads may use while the program ends. It lies in static memory: a
/// library that is unloaded before it is used takes it along.
template <typename T>
class NeverDestroyed {
 public:
  constexpr NeverDestroyed() : object_() {}
  ~NeverDestroyed() {}  // NOLINT(modernize-use-equals-default): that of a union is deleted
  NeverDestroyed(const NeverDestroyed&) = delete;
  NeverDestroyed& operator=(const NeverDestroyed&) = delete;

  T& operator*() { return object_; }
  T* operator->() { return &object_; }

 private:
  union {
    T object_;
  };
};

}  // namespace tbtrace::recorder
