// The rows of devices in a window's text, in the form that Kineto gives them.
// Refers to the window and to the lines, which must outlive it. One thread per object. Cannot fail.
// The format is docs/formats/chrome_json.md; the numbers' sources are named where they are made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "recorder/log/device_trace.h"
#include "recorder/window/device_links.h"
#include "recorder/window/event_lines.h"
#include "recorder/window/window.h"

namespace tbtrace::recorder {

/// `[{"id": 0, ...}]`, for the head of a trace.
std::string device_properties_json(const std::vector<DeviceProperties>& devices);

class DeviceText {
 public:
  /// Ids of operators are rows of the window's ranges + `first_id`. `process` is the program's
  /// own, `program` its name.
  DeviceText(const Window& window, EventLines& lines, std::int64_t process, std::uint64_t first_id,
             std::string program);

  /// Rows that name processes and threads of devices.
  void append_names();
  /// One more row, or the two of an arrow. False: there was none.
  bool append_next();

 private:
  enum class Part : unsigned char {
    calls,
    activities,
    synchronizations,
    overheads,
    markers,
    annotations,
    end
  };

  void append_call(const ApiCall& call, std::uint32_t row);
  void append_activity(const DeviceActivity& activity, std::uint32_t row);
  void append_synchronization(const DeviceSynchronization& wait);
  void append_overhead(const DeviceOverhead& overhead);
  void append_marker(const DeviceMarker& marker);
  void append_annotation(const DeviceLinks::Annotation& annotation);
  void append_arrow_end(bool is_start, std::uint32_t correlation, std::uint64_t ticks,
                        std::int64_t process, std::int64_t thread);
  void append_external_id(std::uint32_t call);
  void append_collective(std::uint32_t call);
  void append_times(std::uint64_t start_ticks, std::uint64_t end_ticks);
  const std::string& kernel_name(std::uint32_t name);
  const std::string& launch_text(std::uint32_t device, std::uint32_t launch);
  std::size_t rows_of(Part part) const;

  const Window& window_;
  const DeviceTrace& trace_;
  const DeviceLinks& links_;
  EventLines& lines_;
  std::int64_t process_;
  std::uint64_t first_id_;
  std::string program_;

  std::vector<std::uint32_t> calls_;  // by start, as activities_
  std::vector<std::uint32_t> activities_;
  std::vector<bool> has_work_;                                    // of each call
  std::unordered_map<std::uint32_t, std::uint32_t> devices_;      // of contexts
  std::unordered_map<std::uint64_t, const DeviceEvent*> events_;  // by context and number
  std::unordered_map<std::uint32_t, std::string> kernel_names_;
  std::unordered_map<std::uint64_t, std::string> launch_texts_;

  Part part_ = Part::calls;
  std::size_t next_ = 0;  // of the part
};

}  // namespace tbtrace::recorder
