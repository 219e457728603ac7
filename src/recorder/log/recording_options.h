// What a recording was asked for, and what its host says of itself.
// Owns its texts. Immutable while it is recorded.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "recorder/log/module_map.h"

namespace tbtrace::recorder {

struct RecordingOptions {
  bool record_shapes = false;
  bool profile_memory = false;
  bool with_stack = false;
  bool with_flops = false;
  bool with_modules = false;
  /// Names of element types by their number, as torch prints them: `float`.
  std::vector<std::string> element_types = {};
  /// Their sizes, by the same number.
  std::vector<std::uint8_t> element_bytes = {};
  /// Of the models whose modules are to be found; null: of none.
  std::shared_ptr<const ModuleMap> modules = nullptr;

  bool wants_inputs() const { return record_shapes || with_flops; }
  bool wants_modules() const { return with_modules || with_stack || modules != nullptr; }
  /// Which storages operators take is recorded where all is that torch's memory profile needs.
  bool has_storages() const { return record_shapes && profile_memory && with_stack; }
};

}  // namespace tbtrace::recorder
