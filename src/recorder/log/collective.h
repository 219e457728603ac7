// What c10d says of a collective or of a message between ranks.
// Values only. Any thread.
// Texts and numbers are c10d's and may be anything; what its release does not say is not there.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tbtrace::recorder {

/// The range of an operator that c10d describes.
inline constexpr std::string_view kCollectiveRange = "record_param_comms";

struct Collective {
  std::string name = {};          ///< `allreduce`, `send`
  std::string element_type = {};  ///< as torch names it: `Float`
  std::int64_t in_elements = 0;
  std::int64_t out_elements = 0;
  std::string in_splits = {};  ///< lists are as shown_list() gives them
  std::string out_splits = {};
  std::int64_t rank = 0;  ///< of a message: the other one's
  std::optional<std::int64_t> first_rank = {};
  std::optional<std::int64_t> rank_stride = {};
  std::optional<std::int64_t> group_size = {};
  std::string group = {};              ///< its name; empty: it has none
  std::string group_description = {};  ///< likewise
  std::optional<std::string> group_ranks = {};
  std::optional<std::int64_t> sender = {};  ///< of a message, among all ranks
  std::optional<std::int64_t> receiver = {};
  std::optional<std::int64_t> sequence = {};
  std::optional<std::uint64_t> id = {};  ///< the same on all ranks
  std::optional<bool> is_async = {};
  bool has_words = false;  ///< truth is `true`, as torch writes it since 2.14, and not 1
};

/// `[0, 1, 2]`; of more than 30 numbers the first 29 and the last one, as torch shows them.
std::string shown_list(std::span<const std::int64_t> numbers);

}  // namespace tbtrace::recorder
