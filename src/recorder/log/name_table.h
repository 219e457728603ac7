// Names of ranges, each kept once, found by their bytes and known by number; those of collectives,
// each with what is said of the one collective that has it.
// Owns the names. One thread at a time adds; any thread may read a name whose number it was given.
// Any bytes are a name.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "recorder/log/collective.h"

namespace tbtrace::recorder {

struct Name {
  std::string text;
  std::string overload = {};  ///< of an operator: `Tensor`; empty where it has none
  std::unique_ptr<const Collective> collective = nullptr;  ///< null: it names no collective
};

/// How records refer to a name: its place in the table of its log or in that of the process.
enum class NameNumber : std::uint32_t { none = 0 };

class NameTable {
 public:
  NameTable() = default;
  NameTable(const NameTable&) = delete;
  NameTable& operator=(const NameTable&) = delete;
  ~NameTable();

  /// The number of the name with these bytes. Allocates only for a new name.
  NameNumber find(std::string_view text, std::string_view overload = {});
  /// A new name, which find() does not know.
  NameNumber add(std::string_view text, Collective collective);
  NameNumber add(Name name);

  /// Has `listener` hear of each name that is added from now on, before anybody has its number.
  /// It must not throw.
  using Listener = std::function<void(NameNumber number, const Name& name)>;
  void set_listener(Listener listener) { listener_ = std::move(listener); }

  std::size_t size() const { return size_; }  ///< numbers are 1 to it; for whoever adds

  const Name& operator[](NameNumber number) const {
    const std::size_t at = static_cast<std::size_t>(number) - 1;
    const std::size_t block = block_of(at);
    return blocks_[block].load(std::memory_order_acquire)[at - first_of(block)];
  }

 private:
  struct Slot {
    std::uint64_t hash = 0;
    NameNumber name = NameNumber::none;
  };

  // Names never move, so that others can read while one is added: each block is twice as long as
  // the one before.
  static constexpr std::size_t kFirst = 8;
  static constexpr std::size_t kBlocks = 28;
  static std::size_t block_of(std::size_t at) {
    return static_cast<std::size_t>(std::bit_width(at / kFirst + 1)) - 1;
  }
  static std::size_t first_of(std::size_t block) {
    return kFirst * ((std::size_t{1} << block) - 1);
  }

  void grow();

  std::array<std::atomic<Name*>, kBlocks> blocks_ = {};
  std::size_t size_ = 0;
  Listener listener_;
  std::vector<Slot> slots_;  // a power of two, at most half full
};

/// The names of the process: those of LibTorch's operators. Never destroyed. Whoever adds holds a
/// lock of its own.
NameTable& process_names();

/// Marks numbers of process_names(), which records of all logs have.
inline constexpr std::uint32_t kOfProcess = std::uint32_t{1} << 31;

}  // namespace tbtrace::recorder
