#include "libtorch/profile/distributed_info.h"

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "wire/json_text.h"

namespace tbtrace::libtorch {

namespace {

std::optional<int> number_in_environment(const char* name) {
  const char* const value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  const std::string_view digits(value);
  int number = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), number);
  if (error != std::errc() || end != digits.end()) return std::nullopt;
  return number;
}

}  // namespace

std::string distributed_info_json(const DistributedInfo& info) {
  std::string json = "{\"backend\": ";
  wire::append_json_string(json, info.backend);
  json += ", \"rank\": " + std::to_string(info.rank);
  json += ", \"world_size\": " + std::to_string(info.world_size) + "}";
  return json;
}

std::string distributed_info_of_environment() {
  const auto rank = number_in_environment("RANK");
  const auto size = number_in_environment("WORLD_SIZE");
  if (!rank || !size || *rank < 0 || *rank >= *size) return {};
  return distributed_info_json({.rank = *rank, .world_size = *size});
}

}  // namespace tbtrace::libtorch
