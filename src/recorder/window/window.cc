#include "recorder/window/window.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "base/hash.h"
#include "recorder/window/device_links.h"
#include "recorder/window/open_ranges.h"

namespace tbtrace::recorder {

namespace {

/// torch gives the range around a node's run the node's numbers afterwards.
bool evaluates(const ThreadLog& log, const BeginRecord& around, const BeginRecord& node) {
  if (around.scope != Scope::function) return false;
  const Name& name = log.name(around.name);
  if (!is_of_backward(around, name)) return false;
  return std::string_view(name.text).substr(kEvaluatesNode.size()) == log.name(node.name).text;
}

/// The system may give a thread the number of one that ended, whose ranges may have stayed open.
bool may_share_thread(const Recording& recording) {
  std::unordered_set<std::int64_t> threads;
  for (const auto& log : recording.logs()) {
    if (!threads.insert(log->identity().system_id).second) return true;
  }
  return false;
}

}  // namespace

Window::Window(std::shared_ptr<const Recording> recording, const Part& part)
    : recording_(std::move(recording)),
      scale_(recording_->started(), recording_->ended(),
             recording_->other_process() == nullptr ? first_clock_sample()
                                                    : recording_->other_process()->first_sample),
      ranges_(recording_->started().ticks, recording_->ended().ticks),
      stacks_(recording_->other_process() == nullptr ? nullptr
                                                     : &recording_->other_process()->addresses) {
  is_part_ = part.from.has_value() || part.to.has_value();
  start_ns_ = unix_ns(recording_->started().ticks);
  end_ns_ = unix_ns(recording_->ended().ticks);
  unreadable_chunks_ = recording_->unreadable_parts();
  std::vector<LateEnd> late;
  for (std::uint32_t log = 0; log < recording_->logs().size(); ++log) read_log(log, late);
  ranges_.sort_by_start();
  const auto sort_memory = [this] {
    std::stable_sort(memory_.begin(), memory_.end(), [](const Memory& a, const Memory& b) {
      return a.event.ticks < b.event.ticks;
    });
  };
  sort_memory();
  std::stable_sort(marks_.begin(), marks_.end(),
                   [](const Mark& a, const Mark& b) { return a.ticks() < b.ticks(); });
  std::int64_t total = recording_->bytes_at_start();
  for (Memory& memory : memory_) memory.total_allocated = total += memory.event.bytes;
  if (!recording_->device_memory().empty()) {
    add_device_memory();
    sort_memory();
  }
  if (!late.empty()) end_late(late);
  const bool is_part = part.from || part.to;
  const std::uint64_t from = part.from.value_or(recording_->started().ticks);
  const std::uint64_t to = part.to.value_or(recording_->ended().ticks);
  if (is_part) leave_out_all_but(from, to);
  ranges_may_cross_ = ranges_may_cross_ || !late.empty() || may_share_thread(*recording_);
  find_arrows();
  name_stacks();
  if (recording_->options().wants_modules()) modules_ = find_module_frames(*this);
  device_trace_ = recording_->device_trace();
  if (device_trace_ != nullptr && is_part) {
    device_trace_ = std::make_shared<const DeviceTrace>(rows_between(*device_trace_, from, to));
  }
  if (device_trace_ != nullptr) {
    ranges_may_cross_ = true;  // drivers have clocks of their own
    device_links_ = std::make_unique<const DeviceLinks>(link_device_trace(*this, *device_trace_));
  }
}

Window::~Window() = default;

void Window::leave_out_all_but(std::uint64_t from, std::uint64_t to) {
  const auto is_outside = [&](std::uint64_t ticks) { return ticks < from || ticks > to; };
  ranges_.keep_between(from, to);
  std::erase_if(memory_, [&](const Memory& memory) { return is_outside(memory.event.ticks); });
  std::erase_if(marks_, [&](const Mark& mark) { return is_outside(mark.ticks()); });
  start_ns_ = unix_ns(from);
  end_ns_ = unix_ns(to);
}

std::size_t Window::unfinished_ranges() const {
  return static_cast<std::size_t>(std::count_if(ranges_.begin(), ranges_.end(),
                                                [](const Range& range) { return range.is_open; }));
}

void Window::read_log(std::uint32_t log, std::vector<LateEnd>& late) {
  struct Reader {
    Window& window;
    std::uint32_t log;
    std::vector<LateEnd>& late;
    OpenRanges open = {};
    std::uint64_t last_ticks = 0;

    void operator()(const BeginRecord& record, const std::uint64_t* first) {
      if (const auto row = open.innermost(); row && record.scope == Scope::backward_function) {
        const Range around = window.ranges_[*row];
        const ThreadLog& own = *window.recording_->logs()[log];
        if (evaluates(own, begin_record(around.record), record))
          window.ranges_.set_numbers(*row, first);
      }
      if (record.ticks < last_ticks) window.ranges_may_cross_ = true;
      last_ticks = record.ticks;
      open.begin(record.key, window.ranges_.size());
      window.ranges_.add(first, log);
    }
    void operator()(const EndRecord& record) {
      const auto innermost = open.innermost();
      const auto row = open.end(record.key);
      // Another thread may have ended an asynchronous one and used its key again.
      if (!row || record.is_async) {
        late.push_back({record, log});
        return;
      }
      if (row != innermost) window.ranges_may_cross_ = true;
      if (record.ticks < last_ticks) window.ranges_may_cross_ = true;
      last_ticks = record.ticks;
      window.ranges_.set_end(*row, record.ticks);
    }
    void operator()(const MemoryEvent& event) {
      window.memory_.push_back(
          {.event = event, .total_allocated = 0, .total_reserved = 0, .log = log});
    }
    void operator()(const InstantRecord& record) { window.marks_.push_back({record, log}); }
    void operator()(const CounterRecord& record) { window.marks_.push_back({record, log}); }
  };
  unreadable_chunks_ += read_records(*recording_->logs()[log], Reader{*this, log, late});
}

void Window::add_device_memory() {
  std::unordered_map<const ThreadLog*, std::uint32_t> logs;
  for (const std::shared_ptr<ThreadLog>& log : recording_->logs()) {
    logs.emplace(log.get(), static_cast<std::uint32_t>(logs.size()));
  }
  for (const DeviceMemory& memory : recording_->device_memory()) {
    for (const DeviceMemoryEvent& event : memory.events()) {
      memory_.push_back({.event = event.event,
                         .total_allocated = event.totals.allocated,
                         .total_reserved = event.totals.reserved,
                         .log = logs.at(event.log),
                         .device = MemoryDevice::cuda(event.device),
                         .is_out_of_memory = event.event.address == 0});
    }
  }
}

/// Ends of asynchronous ranges, and those on other threads than that of the begin. Of the ranges
/// that were open with the key, the end belongs to the one that began last before it.
void Window::end_late(std::vector<LateEnd>& late) {
  struct SameKey {
    std::vector<std::size_t> rows;  // by start
    std::size_t later = 0;          // of rows: the first that begins after the ends so far
    std::vector<std::size_t> begun = {};
  };
  std::unordered_map<std::uint64_t, SameKey> open;
  for (std::size_t row = 0; row < ranges_.size(); ++row) {
    if (ranges_[row].is_open) open[begin_record(ranges_[row].record).key].rows.push_back(row);
  }
  std::stable_sort(late.begin(), late.end(), [](const LateEnd& a, const LateEnd& b) {
    return a.record.ticks < b.record.ticks;
  });
  for (const auto& [end, log] : late) {
    const auto found = open.find(end.key);
    if (found == open.end()) continue;
    auto& [rows, later, begun] = found->second;
    while (later < rows.size() && ranges_.start_ticks(rows[later]) <= end.ticks) {
      begun.push_back(rows[later++]);
    }
    if (begun.empty()) continue;
    ranges_.set_late_end(begun.back(), end.ticks, log != ranges_[begun.back()].log);
    begun.pop_back();
  }
}

/// As torch pairs them: in the order of ends, a backward operator takes the forward one of its
/// thread and number that began last.
void Window::find_arrows() {
  struct Key {
    std::uint64_t thread;
    std::int64_t number;
    bool operator==(const Key&) const = default;
  };
  struct HashKey {
    std::size_t operator()(const Key& key) const {
      return hash_integer(static_cast<std::uint64_t>(key.number), key.thread);
    }
  };
  constexpr std::uint32_t kNone = 0xffffffff;
  // Those that a backward operator looks for: a window may be an inference, or one of its parts.
  std::unordered_map<Key, std::uint32_t, HashKey> forward;
  const auto for_each = [&](auto&& visit) {
    for (std::uint32_t row = 0; row < ranges_.size(); ++row) {
      const BeginRecord record = begin_record(ranges_[row].numbers);
      if (record.sequence_number >= 0) visit(row, record);
    }
  };
  for_each([&](std::uint32_t /*row*/, const BeginRecord& record) {
    if (record.forward_thread == 0) return;
    forward.try_emplace({record.forward_thread, record.sequence_number}, kNone);
  });
  if (forward.empty()) return;
  const auto key_of = [&](std::uint32_t row, const BeginRecord& record) -> Key {
    if (record.forward_thread != 0) return {record.forward_thread, record.sequence_number};
    return {recording_->logs()[ranges_[row].log]->identity().logical_id, record.sequence_number};
  };
  struct Ended {
    std::uint64_t ticks;
    std::uint32_t row;
  };
  std::vector<Ended> by_end;
  for_each([&](std::uint32_t row, const BeginRecord& record) {
    if (forward.contains(key_of(row, record))) by_end.push_back({ranges_[row].end_ticks, row});
  });
  std::stable_sort(by_end.begin(), by_end.end(),
                   [](const Ended& a, const Ended& b) { return a.ticks < b.ticks; });
  for (const auto& [ticks, row] : by_end) {
    const BeginRecord record = begin_record(ranges_[row].numbers);
    std::uint32_t& found = forward.at(key_of(row, record));
    if (record.forward_thread == 0) {
      const bool is_later =
          found == kNone || ranges_.start_ticks(row) >= ranges_.start_ticks(found);
      if (is_later) found = row;
    } else if (found != kNone) {
      arrows_.push_back({.forward = found, .backward = row});
      found = kNone;
    }
  }
}

void Window::name_stacks() {
  if (!recording_->options().with_stack) return;
  for (const Range& range : ranges_) {
    const BeginRecord record = begin_record(range.record);
    const bool has_script = record.script_stack != NameNumber::none;
    ranges_.add_stack(stacks_.add(
        has_script ? std::string_view(text(range, record.script_stack).text) : "", record.stack));
  }
}

}  // namespace tbtrace::recorder
