#include "recorder/journal/restore.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "recorder/journal/checksums.h"
#include "recorder/journal/definitions.h"
#include "recorder/journal/mapped_journal.h"
#include "recorder/log/inputs.h"
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

template <std::size_t kSize>
std::string text_of(const std::array<char, kSize>& text) {
  return {text.begin(), std::find(text.begin(), text.end(), '\0')};
}

bool is_boot_of_this_machine(const Head& head) {
  const std::string then = text_of(head.boot);
  std::array<char, 64> now = {};
  const int file = ::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const ssize_t size = ::read(file, now.data(), now.size() - 1);
  ::close(file);
  const std::string text = text_of(now);
  return size > 0 && then == text.substr(0, text.find('\n'));
}

/// The last sign of life but for records. Without one, the process's first sample.
ClockSample last_heartbeat(const Head& head) {
  const Heartbeat* last = nullptr;
  for (const Heartbeat& beat : head.heartbeats) {
    if (beat.number == 0 || beat.checksum != checksum_of(beat)) continue;
    if (last == nullptr || beat.number > last->number) last = &beat;
  }
  return last == nullptr ? head.first_sample : last->sample;
}

/// The same instant on the clocks, if they go on as they went between the samples.
ClockSample sample_at(std::uint64_t ticks, const ClockSample& first, const ClockSample& last) {
  if (last.ticks <= first.ticks || ticks <= last.ticks) return last;
  const long double rate = static_cast<long double>(last.steady_ns - first.steady_ns) /
                           static_cast<long double>(last.ticks - first.ticks);
  const auto more = static_cast<std::int64_t>(static_cast<long double>(ticks - last.ticks) * rate);
  return {.ticks = ticks, .steady_ns = last.steady_ns + more, .unix_ns = last.unix_ns + more};
}

/// Whether records refer only to what there is, and when the last of them was.
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

/// The process's code and names, and one window's parts, while they are put together.
struct Parts {
  struct Log {
    std::optional<ThreadDefinition> thread;
    std::vector<NameDefinition> names;
    std::map<std::uint64_t, Chunk*> chunks;  // by sequence
  };

  std::map<std::uint64_t, Chunk*> definitions;  // by sequence
  std::map<std::uint64_t, Log> logs;

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
    read_process_names();
    home_ = std::make_shared<RestoredHome>(files_, process_names_);
    for (auto& [window, parts] : windows_) {
      read_definitions_of(parts);
      if (parts.is_forgotten) continue;
      if (!parts.window) {
        unreadable_ += parts.logs.size();
        continue;
      }
      journal.windows.push_back(restore_window(window, parts));
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
    if (has_mark && !has_valid_mark) ++unreadable_;  // something has written over it
    if (has_mark && !has_valid_mark) return 0;
    if (!is_sound || written > most) {
      ++unreadable_;
      return checked;
    }
    if (same_boot_ || written <= checked) return std::max(written, checked);
    // Of pages that the machine's end kept from the disk, nobody knows what is in them.
    unchecked_words_ += written - checked;
    return checked;
  }

  void add_slot(const MappedJournal::Slot& slot) {
    Chunk* const chunk = new (chunk_of(slot.head)) Chunk;
    chunk->capacity = (slot.bytes - kSlotHeadBytes) / sizeof(std::uint64_t);
    chunk->committed =
        static_cast<std::size_t>(whole_words(*slot.head, chunk->words(), chunk->capacity));
    const std::uint64_t window = slot.head->window.load();
    const std::uint64_t log = slot.head->log;
    auto& chunks = window == kProcessWindow ? process_definitions_
                   : log == kDefinitions    ? windows_[window].definitions
                                            : windows_[window].logs[log].chunks;
    if (!chunks.try_emplace(slot.head->sequence, chunk).second) ++unreadable_;
  }

  template <typename Visit>
  void for_each_definition(const std::map<std::uint64_t, Chunk*>& chunks, Visit&& visit) {
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

  RestoredWindow restore_window(std::uint64_t window, Parts& parts) {
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
    for (auto& [number, log] : parts.logs) {
      if (!log.thread) {
        unreadable_ += log.chunks.size();
        continue;
      }
      restored.logs.push_back(restore_log(log, options, last_ticks));
    }
    const ClockSample beat = last_heartbeat(head);
    if (parts.close) {
      restored.ended = parts.close->ended;
      restored.lost += parts.close->lost;
    } else {
      const ClockSample& alive = beat.ticks > restored.started.ticks ? beat : restored.started;
      restored.ended = sample_at(std::max(last_ticks, alive.ticks), head.first_sample, alive);
    }
    return {.recording = Recording::restored(std::move(restored)), .was_open = !parts.close};
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
    read_records(*restored, check);
    if (!check.are_sound()) {
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
  std::map<std::uint64_t, Chunk*> process_definitions_;
  std::map<std::uint64_t, Parts> windows_;
  std::size_t unreadable_ = 0;
  std::uint64_t unchecked_words_ = 0;
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
