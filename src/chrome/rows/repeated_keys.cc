#include "chrome/rows/repeated_keys.h"

#include <algorithm>
#include <cstdint>

namespace tbtrace::chrome {
namespace {

constexpr std::size_t kFewKeys = 8;  // limit for comparing each with each

static_assert(kArgumentCount <= 64);

}  // namespace

/// Cheap, and exact for nearly all rows, which have few keys that the reader does not know.
bool RepeatedKeys::may_repeat(std::span<const RowMember> members) {
  std::uint64_t fields = 0;
  std::uint64_t arguments = 0;
  unknown_.clear();
  for (const RowMember& member : members) {
    if (!member.is_plain) return true;  // unescaped, it may be a known key
    const bool is_argument = member.argument != Argument::none;
    if (!is_argument && member.field == EventField::none) {
      const bool is_there =
          std::find(unknown_.begin(), unknown_.end(), member.key) != unknown_.end();
      if (is_there || unknown_.size() == kFewKeys) return true;
      unknown_.push_back(member.key);
      continue;
    }
    const std::size_t number =
        is_argument ? index(member.argument) : static_cast<std::size_t>(member.field);
    std::uint64_t& seen = is_argument ? arguments : fields;
    const std::uint64_t bit = std::uint64_t{1} << number;
    if ((seen & bit) != 0) return true;
    seen |= bit;
  }
  return false;
}

void RepeatedKeys::find(std::span<const RowMember> members) {
  replaced_.clear();
  if (!may_repeat(members)) return;
  replaced_.resize(members.size());
  seen_.clear();
  for (std::size_t at = members.size(); at-- > 0;) {
    replaced_[at] = !seen_.insert(members[at].key).second;
  }
}

}  // namespace tbtrace::chrome
