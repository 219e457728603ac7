// The rows of a Chrome trace for torch-tb-profiler: what the model holds about a range, in the
// plugin's terms, together with everything else from the file.
// Made from a Trace, which must outlive it. Problems for the consumer are found at once and
// reported by changes(). Immutable: any number of threads may write rows, each with RowTexts of its
// own. Appends to the caller's strings. Names, categories and metadata come from files and are
// escaped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <future>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/convert.h>
#include <tbtrace/trace.h>

#include "analyses/steps/inferred.h"
#include "base/column.h"
#include "chrome/plugin/arrows.h"
#include "chrome/plugin/devices.h"
#include "chrome/plugin/frame_stacks.h"
#include "chrome/plugin/link_numbers.h"
#include "chrome/plugin/places.h"
#include "chrome/rows/crossings.h"
#include "chrome/rows/json_texts.h"
#include "chrome/rows/roles.h"

namespace tbtrace::chrome {

/// A time of the trace in ns since 1970, if the trace has a valid base time.
std::int64_t unix_ns(const Trace& trace, std::int64_t time_ns);
/// The start of the window in ns since 1970; 0 if it is before 1970.
std::int64_t span_ns(const Trace& trace);

/// Buffers that a thread needs to write rows: RowWriter::texts() makes them.
struct RowTexts {
  RowTexts(const Trace& trace, const Column<EventId>& python_frames)
      : strings(trace), call_stacks(trace, python_frames) {}

  JsonTexts strings;
  FrameStacks call_stacks;
  // Where the last search for a range ended. Ranges come in the order of the file.
  std::size_t arrow = 0;
  std::size_t missing_launch = 0;
};

class RowWriter {
 public:
  /// `threads`: as in ReadOptions. The rows do not depend on it.
  RowWriter(const Trace& trace, bool infer_steps, int threads = 1);

  /// What is not from the model: members of the event and of its `args`, as JSON that starts with a
  /// comma (`,"s":"t"`).
  struct Extra {
    std::string_view members;
    std::string_view arguments;
    bool has_call_stack = false;
  };

  /// Everything before the first row, and everything after the last one.
  void begin(std::string& json) const;
  void end(std::string& json) const;

  /// Writes the range and the rows that belong to it: flow events, and a launch that the file
  /// lacks.
  void range(EventId event, const Extra& extra, RowTexts& texts, std::string& json) const;

  /// Writes the members that all rows have; more may follow, then row_end().
  static void row_start(std::string_view phase, std::string_view name_json, const Place& at,
                        std::string& json);
  static void row_end(std::string& json);
  void time(std::int64_t time_ns, std::string& json) const;

  void memory(const MemoryRecord& record, const Place& at, const Extra& extra,
              std::string& json) const;

  /// Empty; the writer must outlive them.
  RowTexts texts() const { return {trace_, python_frames_}; }

  const Places& places() const { return places_; }
  const Devices& devices() const { return devices_; }
  bool is_collective(EventId event) const {
    return roles_.role(event) == Role::collective ||
           roles_.name_class(event) == NameClass::collective;
  }

  Changes changes() const;

 private:
  bool is_renamed(EventId event) const;
  std::int64_t duration_ns(EventId event) const;
  void name(EventId event, RowTexts& texts, std::string& json) const;
  void category(EventId event, RowTexts& texts, std::string& json) const;
  void ids(EventId event, const Place& at, std::string& json) const;
  void arrows_at(EventId event, const Place& at, RowTexts& texts, std::string& json) const;
  void missing_launch(EventId work, RowTexts& texts, std::string& json) const;
  void window_marks(std::string& json) const;

  const Trace& trace_;
  std::int64_t origin_ns_;
  Roles roles_;
  std::future<LinkNumbers> numbers_ahead_;  // reads roles_; used in the constructor only
  Devices devices_;
  Crossings crossings_;
  Places places_;
  Arrows arrows_;
  Column<EventId> python_frames_;  // around each range, for call stacks
  LinkNumbers numbers_;
  std::vector<Step> inferred_steps_;
  bool lacks_host_ = false;
  std::uint64_t unseen_steps_ = 0;
  std::uint64_t like_memory_ = 0;
};

}  // namespace tbtrace::chrome
