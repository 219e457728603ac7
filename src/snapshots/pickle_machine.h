// Reads the pickle of a memory snapshot without running anything: a machine for the opcodes that
// data need. Whatever else a pickle has is refused.
// Refers to what it is made with. One thread. What it keeps is bounded by the size of the pickle.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tbtrace/status.h>

#include "base/column.h"
#include "snapshots/assembly.h"
#include "snapshots/pickle_bytes.h"
#include "snapshots/pickle_value.h"

namespace tbtrace::snapshots {

class PickleMachine {
 public:
  PickleMachine(PickleBytes& bytes, Assembly& assembly) : bytes_(bytes), assembly_(assembly) {}

  enum class End : std::uint8_t {
    whole,
    cut,      ///< the pickle ends too early
    damaged,  ///< and what follows makes no sense
  };
  struct Read {
    Value root;
    End end = End::whole;
    std::uint64_t position = 0;
  };
  /// Reads up to the end of the pickle. What a cut or damaged one lacks is closed as if it had
  /// ended there. Fails for opcodes that are refused.
  Result<Read> run();

 private:
  enum class Step : std::uint8_t { next, done, cut, damaged, refused };

  Step step();
  Step step_of_text(std::uint8_t opcode);
  Step step_of_memo(std::uint8_t opcode);
  Step step_of_object(std::uint8_t opcode);
  Step take_text(std::size_t size_bytes, bool is_kept);
  Step take_put(std::uint64_t place);
  Step take_get(std::uint64_t place);
  Step take_tuple(std::size_t count);
  Step take_items(std::size_t from);
  Step take_elements(std::size_t from);
  Step take_long();
  Step refuse(std::string message);
  bool pop_mark(std::size_t& from);
  void push(Kind kind, std::uint64_t bits = 0) { stack_.push_back({kind, bits}); }
  /// What a value is once it is a part of another.
  Value settled(const Value& value);
  void settle_from(std::size_t from);
  /// Finishes an object that another one refers to while it is on the stack. False if it is the one
  /// that is being filled.
  bool settle_on_stack(const Value& open);
  void remember(std::uint64_t place, const Value& value);
  void append_pending(std::size_t from);
  void close_all();

  PickleBytes& bytes_;
  Assembly& assembly_;
  std::vector<Value> stack_;
  std::vector<std::size_t> marks_;           // sizes of the stack
  std::vector<std::uint64_t> memo_of_list_;  // by number of an open list
  Column<Kind> memo_kinds_;
  Column<std::uint64_t> memo_bits_;
  std::uint64_t at_ = 0;  // of the opcode
  Status refusal_;
};

}  // namespace tbtrace::snapshots
