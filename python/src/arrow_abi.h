// The three structs of Arrow's C data and C stream interfaces, whose layout is an ABI for all
// Arrow libraries. Source: Arrow's specification, "The Arrow C data interface" and "The Arrow C
// stream interface".
#pragma once

#include <cstdint>

extern "C" {

struct ArrowSchema {
  const char* format = nullptr;
  const char* name = nullptr;
  const char* metadata = nullptr;
  std::int64_t flags = 0;
  std::int64_t n_children = 0;
  ArrowSchema** children = nullptr;
  ArrowSchema* dictionary = nullptr;
  void (*release)(ArrowSchema*) = nullptr;  // nullptr: released
  void* private_data = nullptr;
};

struct ArrowArray {
  std::int64_t length = 0;
  std::int64_t null_count = 0;
  std::int64_t offset = 0;
  std::int64_t n_buffers = 0;
  std::int64_t n_children = 0;
  const void** buffers = nullptr;
  ArrowArray** children = nullptr;
  ArrowArray* dictionary = nullptr;
  void (*release)(ArrowArray*) = nullptr;
  void* private_data = nullptr;
};

struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema* out) = nullptr;  // 0, or an errno
  int (*get_next)(ArrowArrayStream*,
                  ArrowArray* out) = nullptr;  // an `out` without release: the end
  const char* (*get_last_error)(ArrowArrayStream*) = nullptr;
  void (*release)(ArrowArrayStream*) = nullptr;
  void* private_data = nullptr;
};

}  // extern "C"

namespace tbtrace::python {

constexpr std::int64_t kArrowNullable = 2;  // ARROW_FLAG_NULLABLE

}  // namespace tbtrace::python
