// Whether the records of a restored log refer only to what there is, and when the last of them was.
// A visitor of read_records(). The options must outlive it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "recorder/log/inputs.h"
#include "recorder/log/module_map.h"
#include "recorder/log/record.h"
#include "recorder/log/recording_options.h"

namespace tbtrace::recorder::journal {

class RecordCheck {
 public:
  RecordCheck(std::size_t names, std::size_t process_names, const RecordingOptions& options)
      : names_(names), process_names_(process_names), modules_(options.modules.get()) {}

  bool are_sound() const { return are_sound_; }
  std::uint64_t last_ticks() const { return last_ticks_; }

  void operator()(const BeginRecord& record, const std::uint64_t* /*first*/) {
    see(record.ticks, record.name);
    for (const NameNumber name : {record.script_stack, record.script_modules}) {
      if (name != NameNumber::none) check(name);
    }
    if (record.inputs != nullptr) {
      are_sound_ = are_sound_ && are_inputs({record.inputs, record.inputs_size});
    }
    if (record.module == 0 || record.scope == Scope::module) return;
    const std::size_t most = modules_ == nullptr ? 0
                             : record.scope == Scope::torchscript_function
                                 ? modules_->modules().size()
                                 : modules_->tensors();
    are_sound_ = are_sound_ && record.module <= most;
  }
  void operator()(const EndRecord& record) { see(record.ticks); }
  void operator()(const MemoryEvent& event) { see(event.ticks); }
  void operator()(const InstantRecord& record) { see(record.ticks, record.name); }
  void operator()(const CounterRecord& record) { see(record.ticks, record.name); }

 private:
  void see(std::uint64_t ticks) { last_ticks_ = std::max(last_ticks_, ticks); }
  void see(std::uint64_t ticks, NameNumber name) {
    see(ticks);
    check(name);
  }
  void check(NameNumber name) {
    const auto number = static_cast<std::uint32_t>(name);
    const bool is_of_process = (number & kOfProcess) != 0;
    const std::uint32_t at = number & ~kOfProcess;
    are_sound_ = are_sound_ && at != 0 && at <= (is_of_process ? process_names_ : names_);
  }

  const std::size_t names_;
  const std::size_t process_names_;
  const ModuleMap* const modules_;
  bool are_sound_ = true;
  std::uint64_t last_ticks_ = 0;
};

}  // namespace tbtrace::recorder::journal
