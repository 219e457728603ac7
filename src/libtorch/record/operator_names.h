// The names of the dispatcher's operators by the address of their text, which tells an operator and
// its overload without looking at its bytes.
// Names are kept for the process's life. Loading is for one thread at a time, looking for any.
// Names that are not the dispatcher's (of user ranges, of autograd's nodes) are not found here, nor
// are those of operators that were removed, whose addresses others may have by now.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/hash.h"
#include "recorder/log/name_table.h"

namespace tbtrace::libtorch {

/// Takes in the operators that there are now; about a millisecond if they changed since the last
/// time.
void load_operator_names();

namespace operator_names_detail {

/// Addresses, at most half of the places full. Filled in place, and texts stay: what is not found
/// is known by its bytes instead. Fixed, so that looking takes one access to memory.
struct Slot {
  std::atomic<const char*> text = nullptr;
  std::atomic<recorder::NameNumber> name = recorder::NameNumber::none;  ///< none: removed
};
inline constexpr int kBits = 14;
inline constexpr std::size_t kPlaces = std::size_t{1} << kBits;
extern constinit Slot slots[kPlaces];

/// One product is enough: addresses are nobody's choice, and lie 16 bytes apart or more.
inline std::size_t place(const char* text) {
  return reinterpret_cast<std::uintptr_t>(text) * hash_detail::kOddA >> (64 - kBits);
}

}  // namespace operator_names_detail

/// None if `text` is not an operator's. The text is not read.
[[gnu::always_inline]] inline recorder::NameNumber operator_name(const char* text) {
  using namespace operator_names_detail;
  for (std::size_t at = place(text);; at = (at + 1) % kPlaces) {
    const char* const there = slots[at].text.load(std::memory_order_acquire);
    if (there == text) [[likely]]
      return slots[at].name.load(std::memory_order_relaxed);
    if (there == nullptr) return recorder::NameNumber::none;
  }
}

}  // namespace tbtrace::libtorch
