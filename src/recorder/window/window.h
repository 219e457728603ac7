// A closed recording put in order: ranges with their ends and call stacks, memory events, instants
// and values that the program told of, arrows to the backward, frames of modules.
// Keeps the recording; its rows point into the logs. Immutable, so any thread may read one.
// A range without an end was open when the recording ended; an end without a beginning is dropped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "recorder/log/device_trace.h"
#include "recorder/log/record.h"
#include "recorder/log/recording.h"
#include "recorder/log/storage_key.h"
#include "recorder/window/call_stacks.h"
#include "recorder/window/module_frames.h"
#include "recorder/window/ranges.h"

namespace tbtrace::recorder {

struct DeviceLinks;

class Window {
 public:
  using Range = recorder::Range;
  struct Memory {
    MemoryEvent event;
    std::int64_t total_allocated;  ///< bytes on its device, after the event
    std::int64_t total_reserved;   ///< likewise; 0 on the CPU
    std::uint32_t log;
    MemoryDevice device = MemoryDevice::cpu();
    bool is_out_of_memory = false;  ///< so many bytes could not be allocated
  };
  /// An instant or a value that the program told of.
  struct Mark {
    std::variant<InstantRecord, CounterRecord> record;
    std::uint32_t log;
    std::uint64_t ticks() const {
      return std::visit([](const auto& one) { return one.ticks; }, record);
    }
    NameNumber name() const {
      return std::visit([](const auto& one) { return one.name; }, record);
    }
  };
  /// From the operator that made a node of autograd's graph to the node's run, as rows of ranges().
  struct Arrow {
    std::uint32_t forward;
    std::uint32_t backward;
  };

  /// Requires that the recording is closed. Waits for what is still to come of devices.
  /// A part of a recording, in its ticks: what had ended before it or began after it is left out.
  struct Part {
    std::optional<std::uint64_t> from = {};
    std::optional<std::uint64_t> to = {};
  };
  explicit Window(std::shared_ptr<const Recording> recording)
      : Window(std::move(recording), Part()) {}
  Window(std::shared_ptr<const Recording> recording, const Part& part);
  ~Window();

  const Recording& recording() const { return *recording_; }
  const Ranges& ranges() const { return ranges_; }            ///< by start
  std::span<const Memory> memory() const { return memory_; }  ///< by time
  std::span<const Mark> marks() const { return marks_; }      ///< by time
  std::span<const Arrow> arrows() const { return arrows_; }   ///< by the end of the backward
  const Name& name(const Range& range) const {
    return text(range, begin_record(range.record).name);
  }
  const Name& name(const Mark& mark) const {
    return recording_->logs()[mark.log]->name(mark.name());
  }
  /// Of the range's log.
  const Name& text(const Range& range, NameNumber number) const {
    return recording_->logs()[range.log]->name(number);
  }
  /// Frames with a `;` behind each, innermost first; empty where none were recorded.
  const std::string& call_stack(const Range& range) const { return stacks_.text(range.stack); }
  const ModuleFrames& modules() const { return modules_; }
  /// Null: nothing was recorded of devices.
  const DeviceTrace* device_trace() const { return device_trace_.get(); }
  const DeviceLinks& device_links() const { return *device_links_; }  ///< of that activity
  std::int64_t start_ns() const { return start_ns_; }                 ///< since 1970, as all times
  std::int64_t end_ns() const { return end_ns_; }
  std::int64_t unix_ns(std::uint64_t ticks) const { return scale_.unix_ns(ticks); }
  /// False: of two ranges of a thread, one is inside the other or after it. True: perhaps not.
  bool ranges_may_cross() const { return ranges_may_cross_; }
  std::size_t unfinished_ranges() const;
  bool is_part() const { return is_part_; }
  /// Parts of the logs, or of the journal, that something has written over: their records are
  /// missing.
  std::size_t unreadable_chunks() const { return unreadable_chunks_; }

 private:
  struct LateEnd {
    EndRecord record;
    std::uint32_t log;  // the thread that it ended on
  };

  void read_log(std::uint32_t log, std::vector<LateEnd>& late);
  void add_device_memory();
  void end_late(std::vector<LateEnd>& late);
  void leave_out_all_but(std::uint64_t from, std::uint64_t to);
  void find_arrows();
  void name_stacks();

  std::shared_ptr<const Recording> recording_;
  TickScale scale_;
  std::int64_t start_ns_;
  std::int64_t end_ns_;
  std::size_t unreadable_chunks_ = 0;
  bool ranges_may_cross_ = false;
  bool is_part_ = false;
  Ranges ranges_;
  std::vector<Memory> memory_;
  std::vector<Mark> marks_;
  std::vector<Arrow> arrows_;
  CallStacks stacks_;
  ModuleFrames modules_;
  std::shared_ptr<const DeviceTrace> device_trace_;
  std::unique_ptr<const DeviceLinks> device_links_;
};

}  // namespace tbtrace::recorder
