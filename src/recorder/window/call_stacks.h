// The call stacks of a recording as texts, each of them once.
// Owns the texts. One thread at a time. Slow for code that was not seen before: files are read.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "recorder/log/address_map.h"
#include "symbols/addresses/code_places.h"

namespace tbtrace::recorder {

class CallStacks {
 public:
  /// Of this process; or of another one that had these files at its addresses, whose frames are
  /// offsets in them, since the files may have changed.
  explicit CallStacks(const AddressMap* of_other = nullptr) : of_other_(of_other) {}

  /// The number of the stack of TorchScript's frames and of return addresses; 0: it is empty, or
  /// has only frames that are not shown.
  std::uint32_t add(std::string_view script_stack, std::span<void* const> addresses);

  /// Frames with a `;` behind each, innermost first: TorchScript's, then the program's.
  const std::string& text(std::uint32_t number) const { return texts_[number]; }

 private:
  struct Frames {
    std::string text;  // of those that are shown
    bool is_libtorchs = false;
  };

  std::vector<symbols::CodePlace> places(void* return_address) const;
  const Frames& frames(void* return_address);

  const AddressMap* of_other_;
  std::vector<std::string> texts_ = {""};
  std::unordered_map<std::string, std::uint32_t> numbers_;  // by what it was made of
  std::unordered_map<void*, Frames> frames_;                // by return address
};

}  // namespace tbtrace::recorder
