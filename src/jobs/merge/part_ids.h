// How ids of a part become ids of the merged trace: the number of the part is appended to their
// digits. So ids of two parts are never equal, and who removes the last digits has the old ones.
// docs/formats/merged_trace.md has the rule for people.
// Owns a table of ids that are too long for it. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tbtrace::jobs {

/// Values of an id that mean that there is none. They stay.
enum class NoId : std::uint8_t {
  never,
  minus_one,
  zero_and_minus_one,
};

class PartIds {
 public:
  /// Ids of this many digits and fewer, with the part's, are exact in every reader.
  static constexpr std::size_t kMostDigits = 15;
  /// Ids that have more become numbers from here on. All are below 2^53.
  static constexpr std::int64_t kFirstLongId = 1'000'000'000'000'000;

  /// `digits`: as many as the largest number of a part has.
  PartIds(std::int64_t number, std::size_t digits);

  /// Appends the id of the merged trace for the JSON text of one. Appends nothing and returns false
  /// if the text is not a whole number or a string.
  bool append(std::string& json, std::string_view id, NoId no_id = NoId::never);

  /// Whether append() does.
  static bool takes(std::string_view id);

  /// The ids that were too long, as JSON: the n-th (from 0) became kFirstLongId + n * 10^digits +
  /// the number of the part.
  const std::vector<std::string>& long_ids() const { return long_ids_; }

 private:
  bool append_number(std::string& json, std::string_view digits, NoId no_id);
  void append_long(std::string& json, std::string_view digits);

  std::int64_t number_;
  std::string suffix_;  // of all digits
  std::string short_suffix_;
  std::int64_t step_ = 1;  // 10^digits
  std::vector<std::string> long_ids_;
  std::unordered_map<std::string, std::size_t> numbers_;
};

}  // namespace tbtrace::jobs
