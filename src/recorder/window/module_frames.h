// When which module of a model was running, as frames of the thread that ran it.
// Three sources: ranges that a module's forward opens itself; calls of TorchScript modules, within
// which the interpreter says of each operator which part of the module it belongs to; and operators
// that take a parameter or buffer of a module. What the last two find within a call is a reading of
// the recording, not a measurement:
//
//   - an operator's module runs while the operator does, and the modules that it is a part of run
//     from the first to the last operator of their parts
//   - the backward is nobody's forward
//   - a frame ends with the range that it began in, and where a backward begins
//   - the operator that a frame began with begins the next call of that module; of several frames
//     that began with it, of the outermost module
//
// Pure function. Any recording gives frames that nest.
#pragma once

#include <cstdint>
#include <vector>

#include "recorder/log/module_map.h"

namespace tbtrace::recorder {

class Window;

struct ModuleFrame {
  std::uint64_t start_ticks;
  std::uint64_t end_ticks;
  std::uint32_t log;
  std::uint32_t module;  ///< a row of modules
  std::int64_t parent;   ///< the frame around it; -1: none
};

struct ModuleFrames {
  std::vector<Module> modules;
  std::vector<ModuleFrame> frames;  ///< by start, outer ones first
  /// By range: whether a frame was found by its TorchScript modules. Empty: of none.
  std::vector<bool> has_script_frame = {};
};

ModuleFrames find_module_frames(const Window& window);

}  // namespace tbtrace::recorder
