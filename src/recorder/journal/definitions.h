// What a reader of a journal must know beside the records: names, threads, options, clocks. Each
// definition is a record of the log kDefinitions, written before anything that needs it:
//
//   word 0   kind | bytes << 32     then the bytes, filled up to whole words
//
// Bytes are as journal/fields.h has them, in the order of the functions here.
// Pure functions, any thread. Bytes that are read may be anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "recorder/log/address_map.h"
#include "recorder/log/known_tensors.h"
#include "recorder/log/name_table.h"
#include "recorder/log/recording_options.h"
#include "recorder/log/thread_log.h"
#include "recorder/log/ticks.h"
#include "recorder/log/window_journal.h"

namespace tbtrace::recorder::journal {

enum class DefinitionKind : std::uint32_t {
  window = 1,    ///< of a window that has started
  thread,        ///< a log
  name,          ///< of a log's table
  process_name,  ///< of the process's table
  metadata,
  known_tensors,
  addresses,
  close,   ///< the window has ended
  forget,  ///< nobody asks for the window any more
};

struct WindowDefinition {
  RecordingOptions options = {};
  std::string trace_id = {};
  ClockSample started = {};
  std::int64_t bytes_at_start = 0;
};
std::string bytes_of(const WindowStart& start);
std::optional<WindowDefinition> read_window(std::string_view bytes);

struct ThreadDefinition {
  std::uint32_t log = 0;
  ThreadIdentity identity = {};
  std::uint64_t began = 0;
};
std::string bytes_of(const ThreadDefinition& thread);
std::optional<ThreadDefinition> read_thread(std::string_view bytes);

struct NameDefinition {
  std::uint32_t log = 0;  ///< 0 for the process's table
  NameNumber number = NameNumber::none;
  Name name = {};
};
std::string bytes_of_name(std::uint32_t log, NameNumber number, const Name& name);
std::optional<NameDefinition> read_name(std::string_view bytes);

struct MetadataDefinition {
  std::string key = {};
  std::string json = {};
};
std::string bytes_of(const MetadataDefinition& metadata);
std::optional<MetadataDefinition> read_metadata(std::string_view bytes);

std::string bytes_of(std::span<const KnownTensor> tensors);
std::optional<std::vector<KnownTensor>> read_known_tensors(std::string_view bytes);

std::string bytes_of(const AddressMap& addresses);
std::optional<AddressMap> read_addresses(std::string_view bytes);

struct CloseDefinition {
  ClockSample ended = {};
  std::uint64_t lost = 0;  ///< records of threads that had no log
};
std::string bytes_of(const CloseDefinition& close);
std::optional<CloseDefinition> read_close(std::string_view bytes);

/// False: there is no room.
bool write_definition(ThreadLog& log, DefinitionKind kind, std::string_view bytes);

/// Calls `visit(kind, bytes)` for each definition in a chunk of `count` words. False where
/// something is not a definition, and what follows it is left out.
bool read_definitions(const std::uint64_t* words, std::size_t count,
                      const std::function<void(DefinitionKind, std::string_view)>& visit);

}  // namespace tbtrace::recorder::journal
