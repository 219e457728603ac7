// What events have of the keys that rows are grouped by besides names: the only definition of each.
// Made from a Trace, which must outlive it. Not synchronised, but values() and bytes() may be read
// on several threads while of() is not called.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <tbtrace/analysis_context.h>
#include <tbtrace/group_keys.h>
#include <tbtrace/trace.h>

#include "analyses/grouping/notes.h"
#include "base/string_pool.h"

namespace tbtrace::analyses {

class OwnLines;
class StackGroups;
class TorchNames;

/// The arguments that the keys are read from; without them they have no values.
ArgumentSet group_key_arguments(GroupKeySet keys);

class GroupKeys {
 public:
  GroupKeys(const Trace& trace, GroupKeySet keys);
  ~GroupKeys();

  /// A number for the values of an event; equal values have equal numbers. EventId::none has a rank
  /// only. To be called once for each event of the rows, for the notes.
  std::uint32_t of(EventId event);

  const std::shared_ptr<const GroupValues>& values(std::uint32_t number) const {
    return values_[number];
  }

  /// A text that only equal values have, of whatever trace.
  const std::string& bytes(std::uint32_t number) const { return bytes_[number]; }

  /// Why some of the events have no values. `what`: `kernels`.
  std::vector<std::string> notes(std::string_view what) const;

 private:
  using Parts = std::array<std::int64_t, kGroupKeys>;
  struct Hash {
    std::size_t operator()(const Parts& parts) const;
  };

  Parts parts_of(EventId event);
  std::int64_t number_of_stack(EventId op, EventId host);
  std::int64_t number_of(std::string_view text) { return texts_.intern(text); }
  GroupValues values_of(const Parts& parts) const;

  const Trace& trace_;
  const GroupKeySet keys_;
  const std::optional<std::int64_t> rank_;
  std::unique_ptr<AnalysisContext> context_;  // null if no key needs it
  std::unique_ptr<OwnLines> lines_;           // likewise
  std::unique_ptr<TorchNames> names_;         // likewise
  std::unique_ptr<StackGroups> stacks_;       // likewise
  StringPool texts_;
  std::unordered_map<std::string, std::int64_t> stack_numbers_;
  std::vector<std::vector<std::string>> stack_frames_;  // by number
  std::unordered_map<Parts, std::uint32_t, Hash> numbers_;
  std::vector<std::shared_ptr<const GroupValues>> values_;  // by number
  std::vector<std::string> bytes_;                          // likewise
  MissingKeys missing_;
};

}  // namespace tbtrace::analyses
