#include "jobs/merge/part_ids.h"

#include <algorithm>
#include <optional>

#include "base/characters.h"
#include "base/decimal.h"
#include "wire/json_strict.h"

namespace tbtrace::jobs {
namespace {

/// `12`, `-3`, `0`: the one text of a whole number.
bool is_whole_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  if (text.empty() || (text.front() == '0' && text.size() > 1)) return false;
  return std::ranges::all_of(text, is_digit);
}

bool is_hexadecimal(std::string_view text) {
  return text.size() > 2 && text[0] == '0' && (text[1] | 0x20) == 'x' &&
         std::ranges::all_of(text.substr(2), [](char c) {
           return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
         });
}

/// Of `7.0` and `1e3`, of programs that hold all numbers as doubles.
std::optional<std::string> digits_of(std::string_view id) {
  std::string digits;
  const bool is_whole = wire::is_json_number(id) && wire::append_canonical_json(digits, id) &&
                        is_whole_number(digits);
  return is_whole ? std::optional(digits) : std::nullopt;
}

}  // namespace

PartIds::PartIds(std::int64_t number, std::size_t digits)
    : number_(number), short_suffix_(std::to_string(number)) {
  suffix_ = std::string(digits - std::min(digits, short_suffix_.size()), '0') + short_suffix_;
  for (std::size_t digit = 0; digit < digits; ++digit) step_ *= 10;
}

bool PartIds::append(std::string& json, std::string_view id, NoId no_id) {
  if (id.empty()) return false;
  if (id.front() == '"') {
    const std::string_view text = id.substr(1, id.size() - 2);
    json += '"';
    if (!is_whole_number(text) || !append_number(json, text, no_id)) {
      json += text;
      if (!is_hexadecimal(text)) json += ' ';
      json += suffix_;
    }
    json += '"';
    return true;
  }
  if (is_whole_number(id)) return append_number(json, id, no_id);
  const std::optional<std::string> digits = digits_of(id);
  return digits && append_number(json, *digits, no_id);
}

bool PartIds::takes(std::string_view id) {
  return id.starts_with('"') || is_whole_number(id) || digits_of(id).has_value();
}

bool PartIds::append_number(std::string& json, std::string_view digits, NoId no_id) {
  const bool is_zero = digits == "0" || digits == "-0";
  const bool is_none =
      (is_zero && no_id == NoId::zero_and_minus_one) || (digits == "-1" && no_id != NoId::never);
  if (is_none) {
    json += digits;
  } else if (is_zero) {
    json += short_suffix_;
  } else if (digits.size() + suffix_.size() > kMostDigits) {
    append_long(json, digits);
  } else {
    json += digits;
    json += suffix_;
  }
  return true;
}

void PartIds::append_long(std::string& json, std::string_view digits) {
  const auto [found, is_new] = numbers_.try_emplace(std::string(digits), long_ids_.size());
  if (is_new) long_ids_.emplace_back(digits);
  json += std::to_string(kFirstLongId + static_cast<std::int64_t>(found->second) * step_ + number_);
}

}  // namespace tbtrace::jobs
