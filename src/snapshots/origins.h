// Where memory was allocated: the line of own code in a stack, and what the frames of a
// stack say of what the program was doing.
// Refers to its data, which must outlive it. One thread: results are kept.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "snapshots/data.h"

namespace tbtrace::snapshots {

/// What a program does where it allocates.
enum class Doing : std::uint8_t {
  unknown,
  loader,
  workspace,  ///< of cuBLAS or cuDNN
  gradient,   ///< it is accumulated
  optimizer,
  forward,  ///< of an nn.Module
  backward,
  setup,  ///< an nn.Module is made or moved
  communication,
  unsharding,  ///< sharded parameters are gathered
};

/// What runs in a stack: by its innermost frame that shows it.
struct StackSigns {
  Doing doing = Doing::unknown;
  bool in_backward = false;  ///< at any depth: a forward in it is a recomputation
};

class Origins {
 public:
  explicit Origins(const SnapshotData& data);

  /// `model.py(12): forward`: the innermost frame of own code; empty if there is none.
  const std::string& own_line(std::uint32_t stack);
  const StackSigns& signs(std::uint32_t stack);
  /// All frames, innermost first, with ` < ` between them.
  std::string stack_text(std::uint32_t stack) const;
  std::string frame_text(std::uint32_t number) const;

  /// The folder that the paths of the user's own files begin with, which lines leave out.
  const std::string& folder() const { return folder_; }
  /// Sets it to one that `folder()` begins with.
  void set_folder(std::string folder);

 private:
  bool is_own(const Frame& frame);
  std::string_view shortened(std::string_view file) const;

  const SnapshotData& data_;
  std::string folder_;
  std::vector<std::int8_t> own_files_;             // by text; -1: not known yet
  std::vector<std::optional<std::string>> lines_;  // by stack
  std::vector<std::optional<StackSigns>> signs_;
};

}  // namespace tbtrace::snapshots
