#include "analyses/torch/names.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/characters.h"
#include "symbols/names/demangle.h"
#include "trace/step_names.h"

namespace tbtrace::analyses {
namespace {

constexpr std::array<std::string_view, 8> kLeftOut = {
    "[memory]",
    "[OutOfMemory]",
    "profiler::_record_function_enter",
    "profiler::_record_function_enter_new",
    "profiler::_record_function_exit",
    "aten::is_leaf",
    "aten::output_nr",
    "aten::_version",
};

constexpr std::size_t kLongestDemangled = std::size_t{16} << 20;  // limit for one name
constexpr std::size_t kDemangleBudget = std::size_t{64} << 20;    // limit for all names of a trace

bool is_word(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return is_letter(c) || is_digit(c) || c == '_';
  });
}

/// The position of the dot in `namespace::operator.overload`; npos if the name has another form.
std::size_t overload_dot(std::string_view name) {
  const std::size_t colons = name.find("::");
  const std::size_t dot = name.find('.');
  if (colons == std::string_view::npos || dot == std::string_view::npos || dot < colons) {
    return std::string_view::npos;
  }
  const bool words = is_word(name.substr(0, colons)) &&
                     is_word(name.substr(colons + 2, dot - colons - 2)) &&
                     is_word(name.substr(dot + 1));
  return words ? dot : std::string_view::npos;
}

}  // namespace

TorchNames::TorchNames(const Trace& trace) : trace_(trace) {}

const TorchName& TorchNames::learn(std::vector<Known>& known, StringId name, bool overloads) {
  if (index(name) >= known.size()) known.resize(index(name) + 1);
  Known& entry = known[index(name)];
  entry = {make(trace_.string(name), overloads), true};
  return entry.name;
}

TorchName TorchNames::make(std::string_view raw, bool overloads) {
  TorchName name;
  if (overloads) {
    const std::size_t dot = overload_dot(raw);
    if (dot != std::string_view::npos) {
      name.overload = pool_.intern(raw.substr(dot + 1));
      raw = raw.substr(0, dot);
    }
  }
  name.is_left_out = std::find(kLeftOut.begin(), kLeftOut.end(), raw) != kLeftOut.end();
  name.is_memory = raw == kLeftOut[0];
  name.is_out_of_memory = raw == kLeftOut[1];
  std::string text(raw);
  if (text.size() > 1 && demangled_bytes_ < kDemangleBudget) {
    if (std::optional<std::string> readable = demangle(text, kLongestDemangled)) {
      demangled_bytes_ += readable->size();
      text = *std::move(readable);
    }
  }
  if (is_step_name(text)) text = "ProfilerStep*";
  name.name = pool_.intern(text);
  return name;
}

}  // namespace tbtrace::analyses
