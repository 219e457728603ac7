// What operation a collective is. Plain values.
#pragma once

#include <cstdint>
#include <string_view>

#include <tbtrace/export.h>

namespace TBTRACE_EXPORT tbtrace {

enum class CollectiveKind : std::uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  broadcast,
  reduce,
  gather,
  scatter,
  barrier,
  send,
  receive,
  other,  ///< sends and receives in one kernel, or an operation that is not known
};

/// `all_reduce`, `send`, ...
std::string_view collective_kind_name(CollectiveKind kind);

}  // namespace tbtrace
