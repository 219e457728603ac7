#include "recorder/log/range_arguments.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "wire/json_strict.h"
#include "wire/json_text.h"

namespace tbtrace::recorder {

enum class RangeArgumentsWriter::Tag : char { boolean, integer, whole, real, text };

void RangeArgumentsWriter::text(std::string_view value) {
  const std::uint64_t size = value.size();
  bytes_.append(reinterpret_cast<const char*>(&size), sizeof size);
  bytes_ += value;
}

void RangeArgumentsWriter::add(std::string_view key, Tag tag, std::uint64_t bits) {
  text(key);
  bytes_ += static_cast<char>(tag);
  bytes_.append(reinterpret_cast<const char*>(&bits), sizeof bits);
}

void RangeArgumentsWriter::add(std::string_view key, bool value) {
  add(key, Tag::boolean, value ? 1 : 0);
}

void RangeArgumentsWriter::add(std::string_view key, std::int64_t value) {
  add(key, Tag::integer, static_cast<std::uint64_t>(value));
}

void RangeArgumentsWriter::add(std::string_view key, std::uint64_t value) {
  add(key, Tag::whole, value);
}

void RangeArgumentsWriter::add(std::string_view key, double value) {
  add(key, Tag::real, std::bit_cast<std::uint64_t>(value));
}

void RangeArgumentsWriter::add(std::string_view key, std::string_view value) {
  text(key);
  bytes_ += static_cast<char>(Tag::text);
  text(value);
}

std::string number_json(double value) {
  if (std::isnan(value)) return "\"NaN\"";
  if (std::isinf(value)) return value < 0 ? "\"-Infinity\"" : "\"Infinity\"";
  std::string json;
  wire::append_canonical_json(json, fmt::format("{}", value));
  return json;
}

std::string range_arguments_json(std::string_view bytes) {
  using Tag = RangeArgumentsWriter::Tag;
  const auto take = [&bytes](std::uint64_t size) {
    const std::string_view taken = bytes.substr(0, size);
    bytes.remove_prefix(taken.size());
    return taken;
  };
  const auto number = [&]() -> std::optional<std::uint64_t> {
    std::uint64_t bits = 0;
    const std::string_view from = take(sizeof bits);
    if (from.size() < sizeof bits) return std::nullopt;
    std::memcpy(&bits, from.data(), sizeof bits);
    return bits;
  };
  const auto text = [&]() -> std::optional<std::string_view> {
    const auto size = number();
    if (!size || *size > bytes.size()) return std::nullopt;
    return take(*size);
  };
  std::vector<std::pair<std::string, std::string>> members;  // key and value, as JSON
  while (!bytes.empty()) {
    const auto key = text();
    if (!key || bytes.empty()) return {};
    const auto tag = static_cast<Tag>(take(1)[0]);
    std::string json;
    if (tag == Tag::text) {
      const auto value = text();
      if (!value) return {};
      wire::append_json_string(json, *value);
    } else {
      const auto bits = number();
      if (!bits || tag > Tag::text) return {};
      switch (tag) {
        case Tag::boolean:
          json = *bits != 0 ? "true" : "false";
          break;
        case Tag::integer:
          json = fmt::format("{}", static_cast<std::int64_t>(*bits));
          break;
        case Tag::whole:
          json = fmt::format("{}", *bits);
          break;
        default:
          json = number_json(std::bit_cast<double>(*bits));
      }
    }
    std::string quoted;
    wire::append_json_string(quoted, *key);
    const auto known = std::find_if(members.begin(), members.end(),
                                    [&](const auto& member) { return member.first == quoted; });
    if (known == members.end()) {
      members.emplace_back(std::move(quoted), std::move(json));
    } else {
      known->second = std::move(json);
    }
  }
  std::string object;
  for (const auto& [key, json] : members) {
    object += object.empty() ? "{" : ", ";
    object += key + ": " + json;
  }
  return object.empty() ? object : object + "}";
}

}  // namespace tbtrace::recorder
