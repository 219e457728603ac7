// By what besides names the rows of kernels and operators are grouped, and what the events of such
// a row have in common. Plain values that own their texts. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/export.h>

namespace TBTRACE_EXPORT tbtrace {

/// Of work on a device, the host's side is its launch; its operator if the launch is not known.
enum class GroupKey : std::uint8_t {
  shape,   ///< sizes of the operator's inputs
  stack,   ///< Python frames around the operator, else around the launch
  module,  ///< innermost `nn.Module` frame around the host's side
  /// Innermost line of the user's own code around the host's side; a backward pass has the lines of
  /// its forward operators.
  line,
  device,  ///< number of the device; only work on devices has one
  stream,  ///< the device and its stream
  thread,  ///< thread of the host's side
  rank,    ///< rank of the recording
  step,    ///< number of the step that was open when the host's side started
};
inline constexpr std::size_t kGroupKeys = 9;

/// `shape`, `stack`, ...
std::string_view group_key_name(GroupKey key);
/// nullopt for a name that there is not.
std::optional<GroupKey> group_key_named(std::string_view name);

class GroupKeySet {
 public:
  constexpr GroupKeySet() = default;
  constexpr GroupKeySet(std::initializer_list<GroupKey> keys) {
    for (const GroupKey key : keys) add(key);
  }

  constexpr void add(GroupKey key) { bits_ |= 1U << static_cast<unsigned>(key); }
  constexpr bool has(GroupKey key) const { return (bits_ >> static_cast<unsigned>(key) & 1U) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  bool operator==(const GroupKeySet&) const = default;

 private:
  std::uint32_t bits_ = 0;
};

/// Nothing where a key was not asked for, was not recorded, or does not apply.
struct GroupValues {
  std::optional<std::string> input_shapes;  ///< `[[32, 28], []]`
  std::vector<std::string> stack;           ///< innermost first
  std::optional<std::string> module;        ///< `nn.Module: Linear_0`
  std::optional<std::string> line;          ///< `model.py(12): forward`
  std::optional<std::int64_t> device;
  std::optional<std::string> stream;  ///< thread id of its row in the file
  std::optional<std::string> thread;  ///< thread id in the file
  std::optional<std::int64_t> rank;
  std::optional<std::int64_t> step;

  auto operator<=>(const GroupValues&) const = default;  // NOLINT(modernize-use-nullptr): in std
};

}  // namespace tbtrace
