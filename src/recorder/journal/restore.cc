#include "recorder/journal/restore.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include <unistd.h>

#include "recorder/journal/checksums.h"
#include "recorder/journal/definitions.h"
#include "recorder/journal/mapped_journal.h"
#include "recorder/journal/record_check.h"
#include "recorder/journal/restored_devices.h"
#include "recorder/journal/signs_of_life.h"
#include "recorder/log/record.h"

namespace tbtrace::recorder::journal {

namespace {

/// What chunks and names of restored logs need for as long as there is one.
class RestoredHome final : public LogHome {
 public:
  RestoredHome(std::shared_ptr<MappedJournal> files, std::shared_ptr<const NameTable> names)
      : files_(std::move(files)), names_(std::move(names)) {}

  Chunk* take(std::size_t /*words*/, std::size_t /*bytes*/) override { return nullptr; }
  void fill(Chunk* /*chunk*/) override {}
  void give(Chunk* /*chunk*/) override {}
  void add_name(NameNumber /*number*/, const Name& /*name*/) override {}
  void count_lost() override {}
  const NameTable* process_names() const override { return names_.get(); }

 private:
  std::shared_ptr<MappedJournal> files_;
  std::shared_ptr<const NameTable> names_;
};

/// Puts the name where records look for it. Names that are missing before it have a text that says
/// so.
void restore_name(NameTable& table, NameDefinition definition) {
  const auto number = static_cast<std::size_t>(definition.number);
  constexpr std::size_t kMostMissing = 1U << 20;
  if (number <= table.size() || number > table.size() + kMostMissing) return;
  while (table.size() + 1 < number) table.add(Name{.text = "(name not in the journal)"});
  table.add(std::move(definition.name));
}

using Chunks = std::map<std::uint64_t, Chunk*>;  // by sequence

/// The process's code and names, and one window's parts, while they are put together.
struct Parts {
  struct Log {
    std::optional<ThreadDefinition> thread;
    std::vector<NameDefinition> names;
    Chunks chunks;
  };

  Chunks definitions;
  Chunks devices;
  Chunks device_memory;
  std::map<std::uint64_t, Log> logs;

  Chunks& chunks_of(std::uint64_t log) {
    switch (log) {
      case kDefinitions:
        return definitions;
      case kDevices:
        return devices;
      case kDeviceMemory:
        return device_memory;
      default:
        return logs[log].chunks;
    }
  }

  std::vector<Chunks*> record_chunks() {
    std::vector<Chunks*> all = {&devices, &device_memory};
    for (auto& [number, log] : logs) all.push_back(&log.chunks);
    return all;
  }

  std::optional<WindowDefinition> window;
  std::map<std::string, std::string> metadata;
  std::vector<KnownTensor> known_tensors;
  AddressMap addresses;
  std::optional<CloseDefinition> close;
  bool is_forgotten = false;
};

class Restorer {
 public:
  explicit Restorer(std::shared_ptr<MappedJournal> files) : files_(std::move(files)) {}

  RestoredJournal restore() {
    RestoredJournal journal;
    if (files_->head() == nullptr) {
      journal.is_alive = files_->is_alive();
      return journal;
    }
    const Head& head = *files_->head();
    journal.process = head.process;
    journal.host = text_of(head.host);
    if (files_->is_alive()) {
      journal.is_alive = true;
      return journal;
    }
    same_boot_ = is_boot_of_this_machine(head);
    unreadable_ = files_->unreadable();
    for (const MappedJournal::Slot& slot : files_->slots()) add_slot(slot);
    close_holes(process_definitions_);
    read_process_names();
    home_ = std::make_shared<RestoredHome>(files_, process_names_);
    const std::size_t of_all = unreadable_;  // whichever window they were of
    std::size_t of_none = 0;                 // of windows that cannot be restored
    for (auto& [window, parts] : windows_) {
      const std::size_t unreadable_before = unreadable_;
      close_holes(parts.definitions);
      read_definitions_of(parts);
      if (parts.is_forgotten) {  // its chunks may be given back already, one by one
        unreadable_ = unreadable_before;
        continue;
      }
      for (Chunks* const chunks : parts.record_chunks()) close_holes(*chunks);
      if (!parts.window) {
        if (same_boot_) unreadable_ += parts.logs.size();  // else it had not come to the disk
        of_none += unreadable_ - unreadable_before;
        continue;
      }
      in_logs_ = 0;
      RestoredRecording& one = restored_.emplace_back(restore_window(window, parts));
      one.unreadable_parts = unreadable_ - unreadable_before - in_logs_;
    }
    for (RestoredRecording& one : restored_) one.unreadable_parts += of_all + of_none;
    std::int64_t last_sign_ns = last_heartbeat(head).unix_ns;
    for (const RestoredRecording& one : restored_) {
      last_sign_ns = std::max(last_sign_ns, one.ended.unix_ns);
    }
    for (RestoredRecording& one : restored_) {
      one.process.last_sign_ns = last_sign_ns;
      const bool was_open = one.process.ended_within;
      journal.windows.push_back({Recording::restored(std::move(one)), was_open});
    }
    journal.unreadable_chunks = unreadable_;
    journal.unchecked_words = unchecked_words_;
    return journal;
  }

 private:
  /// How much of the slot was written, as far as it is known to be whole.
  std::uint64_t whole_words(const SlotHead& slot, const std::uint64_t* words, std::uint64_t most) {
    const std::uint64_t end = slot.end.load();
    const bool is_sound =
        end >= slot.words_at && (end - slot.words_at) % sizeof(std::uint64_t) == 0;
    const std::uint64_t written = is_sound ? (end - slot.words_at) / sizeof(std::uint64_t) : 0;
    std::uint64_t checked = 0;
    bool has_mark = false;
    bool has_valid_mark = false;
    for (const SlotMark& mark : slot.marks) {
      if (mark.words == 0 || mark.checksum != checksum_of(mark)) continue;
      has_mark = true;
      if (mark.words > most || mark.words <= checked) continue;
      if (checksum_of_words(words, static_cast<std::size_t>(mark.words)) != mark.words_checksum) {
        continue;
      }
      has_valid_mark = true;
      checked = mark.words;
    }
    if (has_mark && !has_valid_mark && same_boot_) {
      ++unreadable_;  // something has written over it
      return 0;
    }
    if (!is_sound || written > most) {
      ++unreadable_;
      return checked;
    }
    if (same_boot_ || written <= checked) return std::max(written, checked);
    // Of pages that the machine's end kept from the disk, nobody knows what is in them.
    unchecked_words_ += written - checked;
    cut_.insert(words);
    return checked;
  }

  /// Of a log whose chunks lack one, or the end of one, a reader would take what is around the hole
  /// for neighbours. After the machine's end the rest is left out; otherwise it is damage.
  void close_holes(Chunks& chunks) {
    std::uint64_t next = 0;
    for (auto at = chunks.begin(); at != chunks.end(); ++at) {
      const auto& [sequence, chunk] = *at;
      if (sequence != next && same_boot_) ++unreadable_;
      if (sequence != next && !same_boot_) {
        for (auto rest = at; rest != chunks.end(); ++rest) {
          unchecked_words_ += rest->second->committed;
        }
        chunks.erase(at, chunks.end());
        return;
      }
      // Nothing follows what is cut.
      next = cut_.contains(chunk->words()) ? kDefinitions : sequence + 1;
    }
  }

  void add_slot(const MappedJournal::Slot& slot) {
    Chunk* const chunk = new (chunk_of(slot.head)) Chunk;
    chunk->capacity = (slot.bytes - kSlotHeadBytes) / sizeof(std::uint64_t);
    chunk->committed =
        static_cast<std::size_t>(whole_words(*slot.head, chunk->words(), chunk->capacity));
    const std::uint64_t window = slot.head->window.load();
    auto& chunks = window == kProcessWindow ? process_definitions_
                                            : windows_[window].chunks_of(slot.head->log);
    if (!chunks.try_emplace(slot.head->sequence, chunk).second) ++unreadable_;
  }

  template <typename Visit>
  void for_each_definition(const Chunks& chunks, Visit&& visit) {
    for (const auto& [sequence, chunk] : chunks) {
      if (!read_definitions(chunk->words(), chunk->committed, visit)) ++unreadable_;
    }
  }

  void read_process_names() {
    for_each_definition(process_definitions_, [&](DefinitionKind kind, std::string_view bytes) {
      if (kind != DefinitionKind::process_name) return;
      if (auto name = read_name(bytes)) restore_name(*process_names_, *std::move(name));
    });
  }

  void read_definitions_of(Parts& parts) {
    for_each_definition(parts.definitions, [&](DefinitionKind kind, std::string_view bytes) {
      switch (kind) {
        case DefinitionKind::window:
          parts.window = read_window(bytes);
          break;
        case DefinitionKind::thread:
          if (auto thread = read_thread(bytes)) parts.logs[thread->log].thread = std::move(thread);
          break;
        case DefinitionKind::name:
          if (auto name = read_name(bytes)) {
            std::vector<NameDefinition>& names = parts.logs[name->log].names;
            names.push_back(*std::move(name));
          }
          break;
        case DefinitionKind::metadata:
          if (auto read = read_metadata(bytes)) parts.metadata[read->key] = std::move(read->json);
          break;
        case DefinitionKind::known_tensors:
          if (const auto read = read_known_tensors(bytes)) {
            parts.known_tensors.insert(parts.known_tensors.end(), read->begin(), read->end());
          }
          break;
        case DefinitionKind::addresses:
          if (auto read = read_addresses(bytes)) parts.addresses = *std::move(read);
          break;
        case DefinitionKind::close:
          parts.close = read_close(bytes);
          break;
        case DefinitionKind::forget:
          parts.is_forgotten = true;
          break;
        default:
          break;  // of the process, or of a later version
      }
    });
  }

  RestoredRecording restore_window(std::uint64_t window, Parts& parts) {
    const Head& head = *files_->head();
    const auto options = std::make_shared<const RecordingOptions>(std::move(parts.window->options));
    RestoredRecording restored;
    restored.options = options;
    restored.trace_id = std::move(parts.window->trace_id);
    restored.started = parts.window->started;
    restored.bytes_at_start = parts.window->bytes_at_start;
    restored.metadata = std::move(parts.metadata);
    restored.known_tensors = std::move(parts.known_tensors);
    restored.process = {.id = head.process,
                        .host = text_of(head.host),
                        .first_sample = head.first_sample,
                        .ended_within = !parts.close,
                        .addresses = std::move(parts.addresses)};
    for (const Losses& losses : head.losses) {
      if (losses.window.load() == window) restored.lost += losses.records.load();
    }
    std::uint64_t last_ticks = restored.started.ticks;
    RestoredDeviceMemory::Logs logs;
    for (auto& [number, log] : parts.logs) {
      if (!log.thread) {
        unreadable_ += log.chunks.size();
        continue;
      }
      logs[number] = restored.logs.emplace_back(restore_log(log, options, last_ticks));
    }
    RestoredDevices devices;
    add_chunks(parts.devices, devices);
    restored.device_trace = devices.take();
    RestoredDeviceMemory device_memory(logs);
    add_chunks(parts.device_memory, device_memory);
    restored.device_memory = device_memory.take();
    restored.lost += device_memory.lost();
    last_ticks = std::max(last_ticks, device_memory.last_ticks());
    const ClockSample beat = last_heartbeat(head);
    if (parts.close) {
      restored.ended = parts.close->ended;
      restored.lost += parts.close->lost;
    } else {
      const ClockSample& alive = beat.ticks > restored.started.ticks ? beat : restored.started;
      restored.ended = sample_at(std::max(last_ticks, alive.ticks), head.first_sample, alive);
    }
    return restored;
  }

  template <typename Restored>
  void add_chunks(const Chunks& chunks, Restored& restored) {
    for (const auto& [sequence, chunk] : chunks) {
      if (!restored.add(chunk->words(), chunk->committed)) ++unreadable_;
    }
  }

  std::shared_ptr<ThreadLog> restore_log(Parts::Log& log,
                                         const std::shared_ptr<const RecordingOptions>& options,
                                         std::uint64_t& last_ticks) {
    const auto make = [&] {
      return std::make_shared<ThreadLog>(log.thread->identity, options, log.thread->began, home_);
    };
    auto restored = make();
    for (NameDefinition& name : log.names) restore_name(restored->names(), std::move(name));
    std::vector<Chunk*> chunks;
    for (const auto& [sequence, chunk] : log.chunks) chunks.push_back(chunk);
    restored->adopt(chunks);
    RecordCheck check(restored->names().size(), process_names_->size(), *options);
    const std::size_t damaged = read_records(*restored, check);
    if (check.are_sound()) {
      unreadable_ += damaged;
      in_logs_ += damaged;
    } else {
      unreadable_ += chunks.size();
      return make();
    }
    last_ticks = std::max(last_ticks, check.last_ticks());
    return restored;
  }

  std::shared_ptr<MappedJournal> files_;
  bool same_boot_ = false;
  std::shared_ptr<NameTable> process_names_ = std::make_shared<NameTable>();
  std::shared_ptr<RestoredHome> home_;
  Chunks process_definitions_;
  std::map<std::uint64_t, Parts> windows_;
  std::vector<RestoredRecording> restored_;
  std::size_t unreadable_ = 0;
  std::size_t in_logs_ = 0;  // of these; whoever reads the window's logs finds them again
  std::uint64_t unchecked_words_ = 0;
  std::set<const std::uint64_t*> cut_;  // words of chunks whose end is left out
};

}  // namespace

std::vector<std::filesystem::path> journals_in(const std::filesystem::path& directory) {
  std::error_code error;
  if (std::filesystem::exists(directory / kHeadName, error)) return {directory};
  std::vector<std::filesystem::path> found;
  for (std::filesystem::directory_iterator at(directory, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code ignored;
    if (std::filesystem::exists(at->path() / kHeadName, ignored)) found.push_back(at->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

Result<RestoredJournal> restore_journal(const std::filesystem::path& folder) {
  Result<std::shared_ptr<MappedJournal>> files = MappedJournal::open(folder);
  if (!files.ok()) return files.status();
  return Restorer(*std::move(files)).restore();
}

void remove_journal(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.starts_with(kSegmentStart) && name.ends_with(kSuffix)) files.push_back(at->path());
  }
  files.push_back(folder / kHeadName);  // the last: without it, nobody takes it for a journal
  for (const std::filesystem::path& file : files) std::filesystem::remove(file, error);
  ::rmdir(folder.c_str());
}

}  // namespace tbtrace::recorder::journal
