#include "writers/tables/cell_text.h"

#include <fmt/format.h>

namespace tbtrace::writers {
namespace {

struct AsText {
  std::string operator()(std::monostate) const { return {}; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(std::uint64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return fmt::format("{}", value); }
  std::string operator()(const std::string& value) const { return value; }
  std::string operator()(const Json& value) const { return value.text; }
  std::string operator()(const std::vector<std::string>& values) const {
    std::string text;
    for (const std::string& value : values) {
      if (!text.empty()) text += ';';
      text += value;
    }
    return text;
  }
};

struct IsBlank {
  bool operator()(std::monostate) const { return true; }
  bool operator()(bool value) const { return !value; }
  bool operator()(std::int64_t value) const { return value == 0; }
  bool operator()(std::uint64_t value) const { return value == 0; }
  bool operator()(double value) const { return value == 0; }
  bool operator()(const std::string& value) const { return value.empty(); }
  bool operator()(const Json& value) const { return value.text == "[]" || value.text.empty(); }
  bool operator()(const std::vector<std::string>& values) const { return values.empty(); }
};

}  // namespace

std::string cell_text(const Cell& cell) { return std::visit(AsText(), cell); }

bool is_blank(const Cell& cell) { return std::visit(IsBlank(), cell); }

}  // namespace tbtrace::writers
