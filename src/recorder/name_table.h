// Names of ranges, each kept once, found by their bytes; those of collectives, each with what is
// said of the one collective that has it.
// Owns the names; addresses stay. One thread at a time. Any bytes are a name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "recorder/collective.h"

namespace tbtrace::recorder {

struct Name {
  std::string text;
  std::unique_ptr<const Collective> collective = nullptr;  ///< null: it names no collective
};

class NameTable {
 public:
  /// The name of these bytes; a new one allocates, one that is there does not.
  const Name* find(std::string_view text);
  /// A new name, which find() does not know.
  const Name* add(std::string_view text, Collective collective);

 private:
  struct Slot {
    std::uint64_t hash = 0;
    const Name* name = nullptr;
  };

  void grow();

  std::deque<Name> names_;
  std::vector<Slot> slots_;  // a power of two, at most half full
};

}  // namespace tbtrace::recorder
