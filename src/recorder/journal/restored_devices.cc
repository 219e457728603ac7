#include "recorder/journal/restored_devices.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "recorder/journal/framed_records.h"

namespace tbtrace::recorder::journal {

namespace {

constexpr const char* kEndedEarly = "the process ended before CUPTI had returned all records";
constexpr const char* kMissingName = "(name not in the journal)";

constexpr std::uint64_t kMostTicks = std::uint64_t{1} << 62;  // decades
constexpr std::int64_t kMostBytes = std::int64_t{1} << 60;
constexpr int kMostDevices = 1 << 16;

template <std::size_t kCount, typename Read, typename Use>
bool read_with(std::string_view bytes, Read&& read, Use&& use) {
  const auto words = words_in<kCount>(bytes);
  if (words) use(read(*words));
  return words.has_value();
}

template <typename Row>
bool has_times(const Row& row) {
  return row.start_ticks < kMostTicks && row.end_ticks < kMostTicks &&
         row.start_ticks <= row.end_ticks;
}

bool are_sizes(const DeviceProperties& device) {
  const auto sizes = {device.compute_major,
                      device.compute_minor,
                      device.max_threads_per_block,
                      device.max_threads_per_multiprocessor,
                      device.max_blocks_per_multiprocessor,
                      device.registers_per_block,
                      device.registers_per_multiprocessor,
                      device.warp_size,
                      device.shared_bytes_per_block,
                      device.shared_bytes_per_block_optin,
                      device.shared_bytes_per_multiprocessor,
                      device.reserved_shared_bytes_per_block,
                      device.multiprocessors};
  return std::all_of(sizes.begin(), sizes.end(), [](int size) { return size >= 0; });
}

bool are_sound(const AllocatorTotals& totals) {
  const auto all = {totals.allocated, totals.active, totals.reserved};
  return std::all_of(all.begin(), all.end(), [](std::int64_t bytes) {
    return bytes >= -kMostBytes && bytes <= kMostBytes;
  });
}

bool is_sound(const MemoryRecord& record) {
  return record.device >= -1 && record.device < kMostDevices && are_sound(record.totals) &&
         record.event.requested >= -kMostBytes && record.event.requested <= kMostBytes &&
         record.ticks < kMostTicks;
}

}  // namespace

// Rows.

bool RestoredDevices::add(const std::uint64_t* words, std::size_t count) {
  is_readable_ = true;
  const bool is_whole =
      for_each_framed(words, count, [&](std::uint32_t kind, std::string_view bytes) {
        add(static_cast<DeviceRecordKind>(kind), bytes);
      });
  return is_whole && is_readable_;
}

/// Puts the row where others look for it. False: it cannot be there.
template <typename Table, typename Row>
bool RestoredDevices::place(Table& table, std::uint32_t number, const Row& row,
                            const Row& missing) {
  if (number < table.size() || number - table.size() > most_missing_) {
    is_readable_ = false;
    return false;
  }
  most_missing_ -= number - table.size();
  while (table.size() < number) table.push_back(missing);
  table.push_back(row);
  return true;
}

template <typename List, typename Row>
void RestoredDevices::keep(List& list, Row row, bool is_sound) {
  if (is_sound) {
    list.push_back(row);
  } else {
    ++left_out_;
  }
}

void RestoredDevices::add_name(std::string_view bytes) {
  const auto number = words_in<1>(bytes);
  if (!number) {
    is_readable_ = false;
    return;
  }
  place(trace_.names, low((*number)[0]), std::string(bytes.substr(sizeof *number)),
        std::string(kMissingName));
}

void RestoredDevices::add_launch(Numbered<KernelLaunch> launch) {
  const std::size_t before = trace_.launches.size();
  const bool has_name = launch.row.name < trace_.names.size();
  if (!has_name) launch.row.name = 0;
  if (!place(trace_.launches, launch.number, launch.row, KernelLaunch())) return;
  const std::size_t missing = launch.number + (has_name ? 0U : 1U);
  for (std::size_t row = before; row < missing; ++row) missing_launches_.push_back(row);
}

void RestoredDevices::add_function(Numbered<ApiFunction> function) {
  const std::size_t before = trace_.functions.size();
  const bool has_name = function.row.name < trace_.names.size();
  if (!has_name) function.row.name = 0;
  if (!place(trace_.functions, function.number, function.row, ApiFunction())) return;
  const std::size_t missing = function.number + (has_name ? 0U : 1U);
  for (std::size_t row = before; row < missing; ++row) missing_functions_.push_back(row);
}

void RestoredDevices::add_activity(DeviceRecordKind kind, std::string_view bytes) {
  Words<6> words = {};
  const auto first = words_in<kKernelWords>(bytes);
  if (!first) {
    is_readable_ = false;
    return;
  }
  std::copy(first->begin(), first->end(), words.begin());
  const std::uint32_t activity_kind = high(words[3]);
  const bool is_kernel = activity_kind == static_cast<std::uint32_t>(DeviceActivityKind::kernel);
  if (!is_kernel) {
    const auto all = words_in<6>(bytes);
    if (!all) {
      is_readable_ = false;
      return;
    }
    words = *all;
  }
  auto [at, activity] = activity_of(words);
  const bool is_sound = has_times(activity) &&
                        activity_kind <= static_cast<std::uint32_t>(DeviceActivityKind::memset) &&
                        at < places_.size() &&
                        (is_kernel ? activity.launch < trace_.launches.size()
                                   : activity.transfer.peers <= trace_.peers.size());
  if (is_sound) activity.place = places_[at];
  keep(kind == DeviceRecordKind::activity ? trace_.activities : outside_, activity, is_sound);
}

void RestoredDevices::add(DeviceRecordKind kind, std::string_view bytes) {
  has_records_ = true;
  const auto has_name = [&](std::uint32_t name) { return name < trace_.names.size(); };
  bool is_read = true;
  switch (kind) {
    case DeviceRecordKind::head: {
      std::optional<DeviceHead> head = read_head(bytes);
      is_read = head.has_value();
      if (!is_read) break;
      is_whole_ = head->is_whole;
      trace_.interface_version = head->trace.interface_version;
      trace_.driver_version = head->trace.driver_version;
      trace_.runtime_version = head->trace.runtime_version;
      trace_.lost = std::max(trace_.lost, head->trace.lost);
      trace_.untimed = std::max(trace_.untimed, head->trace.untimed);
      trace_.problem = std::move(head->trace.problem);
      trace_.devices = std::move(head->trace.devices);
      std::erase_if(trace_.devices, [](const auto& device) { return !are_sizes(device); });
      break;
    }
    case DeviceRecordKind::counts:
      is_read = read_with<2>(bytes, std::identity(), [&](const Words<2>& counts) {
        trace_.lost = std::max(trace_.lost, counts[0]);
        trace_.untimed = std::max(trace_.untimed, counts[1]);
      });
      break;
    case DeviceRecordKind::name:
      add_name(bytes);
      break;
    case DeviceRecordKind::launch:
      is_read = read_with<6>(bytes, launch_of, [&](const auto& row) { add_launch(row); });
      break;
    case DeviceRecordKind::peers:
      is_read = read_with<3>(bytes, peers_of, [&](const auto& peers) {
        place(trace_.peers, peers.number, peers.row, DevicePeers());
      });
      break;
    case DeviceRecordKind::function:
      is_read = read_with<2>(bytes, function_of, [&](const auto& row) { add_function(row); });
      break;
    case DeviceRecordKind::place:
      is_read = read_with<5>(bytes, place_of, [&](const auto& row) {
        place(places_, row.number, row.row, DevicePlace());
      });
      break;
    case DeviceRecordKind::activity:
    case DeviceRecordKind::outside_activity:
      add_activity(kind, bytes);
      break;
    case DeviceRecordKind::call:
      is_read = read_with<4>(bytes, call_of, [&](const ApiCall& call) {
        keep(trace_.calls, call, has_times(call) && call.function < trace_.functions.size());
      });
      break;
    case DeviceRecordKind::synchronization:
      is_read = read_with<5>(bytes, synchronization_of, [&](const DeviceSynchronization& wait) {
        keep(trace_.synchronizations, wait, has_times(wait));
      });
      break;
    case DeviceRecordKind::event:
      is_read = read_with<2>(bytes, event_of,
                             [&](const DeviceEvent& event) { keep(trace_.events, event); });
      break;
    case DeviceRecordKind::overhead:
      is_read = read_with<3>(bytes, overhead_of, [&](const DeviceOverhead& overhead) {
        keep(trace_.overheads, overhead, has_times(overhead));
      });
      break;
    case DeviceRecordKind::marker:
      is_read = read_with<4>(bytes, marker_of, [&](const DeviceMarker& marker) {
        keep(trace_.markers, marker,
             has_times(marker) && has_name(marker.name) && has_name(marker.domain));
      });
      break;
    case DeviceRecordKind::check:
      is_read = read_with<2>(bytes, check_of,
                             [&](const DeviceCheck& check) { keep(trace_.checks, check); });
      break;
  }  // others are of a later version
  if (!is_read) is_readable_ = false;
}

std::shared_ptr<const DeviceTrace> RestoredDevices::take() {
  if (!has_records_) return nullptr;
  if (!missing_launches_.empty() || !missing_functions_.empty()) {
    const auto name = static_cast<std::uint32_t>(trace_.names.size());
    trace_.names.emplace_back(kMissingName);
    for (const std::size_t row : missing_launches_) trace_.launches[row].name = name;
    for (const std::size_t row : missing_functions_) trace_.functions[row].name = name;
  }
  add_begun(trace_, outside_);
  trace_.lost += std::min(left_out_, ~std::uint64_t{0} - trace_.lost);
  if (!is_whole_) {
    trace_.problem += trace_.problem.empty() ? "" : "; ";
    trace_.problem += kEndedEarly;
  }
  return std::make_shared<const DeviceTrace>(std::move(trace_));
}

// Memory.

bool RestoredDeviceMemory::add(const std::uint64_t* words, std::size_t count) {
  bool is_readable = true;
  const bool is_whole =
      for_each_framed(words, count, [&](std::uint32_t kind, std::string_view bytes) {
        is_readable = add(static_cast<MemoryRecordKind>(kind), bytes) && is_readable;
      });
  return is_whole && is_readable;
}

bool RestoredDeviceMemory::add(MemoryRecordKind kind, std::string_view bytes) {
  Words<kMemoryWords> words = {};
  const std::size_t size = std::min(bytes.size(), sizeof words);
  std::copy_n(bytes.data(), size, reinterpret_cast<char*>(words.data()));
  const MemoryRecord record = memory_record_of(words);
  const auto has_words = [size](std::size_t count) {
    return size >= count * sizeof(std::uint64_t);
  };
  if (kind == MemoryRecordKind::begin) {
    parts_.emplace_back();
    return true;
  }
  if (parts_.empty()) parts_.emplace_back();  // its begin is damaged
  DeviceMemory& part = parts_.back();
  switch (kind) {
    case MemoryRecordKind::start:
      if (!has_words(kTotalsWords) || !is_sound(record)) return false;
      part.start(record.device, record.totals);
      return true;
    case MemoryRecordKind::event:
      if (!has_words(kMemoryWords) || !is_sound(record)) return false;
      add_event(record);
      return true;
    case MemoryRecordKind::lose:
      part.lose(record.device);
      return has_words(1);
    case MemoryRecordKind::gap:
      part.skip(record.device);
      return has_words(1);
    case MemoryRecordKind::close:
      part.close();
      return true;
    case MemoryRecordKind::end:
      if (!has_words(kTotalsWords) || !is_sound(record)) return false;
      part.end(record.device, record.totals);
      return true;
    default:
      return true;  // of a later version
  }
}

void RestoredDeviceMemory::add_event(const MemoryRecord& record) {
  const ThreadLog* log = nullptr;
  if (record.log != MemoryRecord::kNoLog) {
    const auto known = logs_.find(record.log);
    if (known != logs_.end()) {
      log = known->second.get();
      last_ticks_ = std::max(last_ticks_, record.ticks);
    } else {
      ++lost_;
    }
  }
  parts_.back().add(record.event, record.totals, record.ticks, log);
}

std::vector<DeviceMemory> RestoredDeviceMemory::take() {
  std::erase_if(parts_, [](const DeviceMemory& memory) {
    return memory.events().empty() && memory.lost() == 0;
  });
  return std::move(parts_);
}

}  // namespace tbtrace::recorder::journal
