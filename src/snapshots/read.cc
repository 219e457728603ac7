// Reads memory snapshots, and finds them.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <tbtrace/memory_snapshot.h>

#include "base/characters.h"
#include "base/decimal.h"
#include "base/natural_order.h"
#include "inputs/search.h"
#include "inputs/trace_names.h"
#include "io/archives/input.h"
#include "io/archives/unpacked.h"
#include "io/stream_source.h"
#include "readers/formats/format.h"
#include "readers/formats/other_files.h"
#include "snapshots/assembly.h"
#include "snapshots/base64_source.h"
#include "snapshots/pickle_machine.h"
#include "snapshots/snapshot.h"

namespace tbtrace {
namespace {

namespace files = std::filesystem;
using snapshots::PickleMachine;

/// The pickle in a file, whatever is around it.
Result<std::unique_ptr<io::ByteSource>> open_pickle(Result<std::unique_ptr<io::ByteSource>> file) {
  if (!file.ok()) return file.status();
  Result<io::Unpacked> content = io::unpacked(*std::move(file));
  if (!content.ok()) return content.status();
  const Result<std::string> start = io::peek(content->source, readers::kSniffSize);
  if (!start.ok()) return start.status();
  if (readers::is_memory_snapshot(*start)) return std::move(content->source);
  if (const std::size_t text = snapshots::base64_start(*start); text != std::string::npos) {
    std::string skipped(text, '\0');
    for (std::size_t done = 0; done < text;) {
      const Result<std::size_t> got =
          content->source->read(std::span<char>(skipped.data() + done, text - done));
      if (!got.ok() || *got == 0) break;
      done += *got;
    }
    std::unique_ptr<io::ByteSource> pickle =
        std::make_unique<snapshots::Base64Source>(std::move(content->source));
    const Result<std::string> start_of_pickle = io::peek(pickle, readers::kSniffSize);
    if (start_of_pickle.ok() && readers::is_memory_snapshot(*start_of_pickle)) return pickle;
  }
  const std::string_view other = readers::other_file(*start);
  return Status(StatusCode::unreadable_input, other.empty()
                                                  ? "is not a memory snapshot; give the file that "
                                                    "torch.cuda.memory._dump_snapshot() wrote"
                                                  : std::string(other));
}

/// Calls back for progress.
class Watched final : public io::ByteSource {
 public:
  Watched(io::ByteSource& source, const ReadOptions& options)
      : source_(source), options_(options) {}

  Result<std::size_t> read(std::span<char> buffer) override {
    if (options_.on_progress && !options_.on_progress(source_.position(), source_.total())) {
      return Status(StatusCode::cancelled, "reading was cancelled");
    }
    return source_.read(buffer);
  }
  std::uint64_t position() const override { return source_.position(); }
  std::uint64_t total() const override { return source_.total(); }

 private:
  io::ByteSource& source_;
  const ReadOptions& options_;
};

Result<MemorySnapshot> read_pickle(io::ByteSource& source, const ReadOptions& options,
                                   const std::string& path) {
  auto data = std::make_shared<MemorySnapshot::Data>();
  data->name = files::path(path).filename().string();
  snapshots::SnapshotData& content = data->content;
  Watched watched(source, options);
  snapshots::PickleBytes bytes(watched);
  snapshots::Assembly assembly(content);
  PickleMachine machine(bytes, assembly);
  const Result<PickleMachine::Read> read = machine.run();
  if (!read.ok()) return read.status();
  if (bytes.failure().code() == StatusCode::cancelled) return bytes.failure();
  if (read->end != PickleMachine::End::whole) {
    content.is_cut = true;
    content.issues.add(!bytes.failure().ok()                  ? IssueId::input_damaged
                       : read->end == PickleMachine::End::cut ? IssueId::input_truncated
                                                              : IssueId::pickle_damaged,
                       read->position);
  } else if (bytes.has(1)) {
    content.issues.add(IssueId::trailing_text, bytes.position());
  }
  content.bytes = bytes.position();
  if (!assembly.finish(read->root)) {
    return Status(StatusCode::unreadable_input,
                  content.is_cut
                      ? "is damaged at byte " + std::to_string(read->position) +
                            ", before anything of use; copy or record the file again"
                      : "is a pickle, but has neither segments nor traces of an allocator");
  }
  if (options.strict && !content.issues.empty()) {
    return readers::strict_failure(content.issues.list().front());
  }
  data->devices = snapshots::replays_of(content);
  return MemorySnapshot(std::move(data));
}

Result<MemorySnapshot> read_from(Result<std::unique_ptr<io::ByteSource>> file,
                                 const ReadOptions& options, const std::string& name) {
  try {
    const Result<std::unique_ptr<io::ByteSource>> pickle = open_pickle(std::move(file));
    if (!pickle.ok()) return pickle.status();
    return read_pickle(**pickle, options, name);
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  } catch (const std::length_error&) {
    return out_of_memory();
  }
}

bool is_named_like_snapshot(std::string_view name) {
  const std::string_view inner = inputs::without_packing(name);
  return inner.ends_with(".pickle") || inner.ends_with(".pkl");
}

void add_folder(const std::string& folder, std::vector<std::string>& paths) {
  std::vector<std::string> found;
  std::error_code failed;
  for (files::recursive_directory_iterator each(folder, failed), end; each != end && !failed;
       each.increment(failed)) {
    const std::string path = each->path().string();
    if (each->is_regular_file(failed) && is_named_like_snapshot(each->path().filename().string()) &&
        is_memory_snapshot(path)) {
      found.push_back(path);
    }
  }
  std::ranges::sort(found, in_natural_order);
  paths.insert(paths.end(), found.begin(), found.end());
}

/// The number after the last such word of a name, with or without a mark between: `rank3`,
/// `rank-3`, `rank_3`. A date is too long. `is_last`: the name ends there, but for its extension.
std::optional<std::int64_t> number_behind(std::string_view name, std::string_view word,
                                          bool is_last) {
  constexpr std::size_t kMostDigits = 5;
  std::optional<std::int64_t> found;
  for (std::size_t at = name.find(word); at != std::string_view::npos;
       at = name.find(word, at + 1)) {
    if (at > 0 && (is_letter(name[at - 1]) || is_digit(name[at - 1]))) continue;
    std::string_view rest = name.substr(at + word.size());
    if (rest.starts_with('-') || rest.starts_with('_')) rest.remove_prefix(1);
    const auto digits =
        static_cast<std::size_t>(std::ranges::find_if_not(rest, is_digit) - rest.begin());
    if (digits == 0 || digits > kMostDigits) continue;
    if (is_last && digits < rest.size() && rest[digits] != '.') continue;
    found = parse_integer(rest.substr(0, digits));
  }
  return found;
}

}  // namespace

std::vector<Issue> MemorySnapshot::issues() const { return data_->content.issues.list(); }

std::size_t MemorySnapshot::entry_count() const {
  std::size_t count = 0;
  for (const snapshots::RowList& trace : data_->content.traces) count += trace.size();
  return count;
}

std::optional<std::int64_t> MemorySnapshot::rank() const {
  // torchtitan, NeMo, Lightning; verl: `snapshot_3.pickle`.
  const auto named = number_behind(data_->name, "rank", false);
  return named ? named : number_behind(data_->name, "snapshot", true);
}

bool is_memory_snapshot(const std::string& path) {
  std::error_code failed;
  if (path == "-" || files::is_directory(path, failed)) return false;
  return open_pickle(io::open_input(path)).ok();
}

Result<MemorySnapshot> read_memory_snapshot(const std::string& path, const ReadOptions& options) {
  return read_from(io::open_input(path), options, path);
}

Result<MemorySnapshot> read_memory_snapshot(std::istream& stream, const std::string& name,
                                            const ReadOptions& options) {
  return read_from(io::stream_source(stream), options, name);
}

std::vector<std::string> find_memory_snapshots(const std::vector<std::string>& named) {
  std::vector<std::string> paths;
  for (const std::string& input : named) {
    std::error_code failed;
    if (files::is_directory(input, failed)) {
      add_folder(input, paths);
    } else if (const auto matches = inputs::pattern_matches(input)) {
      paths.insert(paths.end(), matches->begin(), matches->end());
    } else {
      paths.push_back(input);
    }
  }
  std::vector<std::string> once;
  for (std::string& path : paths) {
    if (std::ranges::find(once, path) == once.end()) once.push_back(std::move(path));
  }
  return once;
}

}  // namespace tbtrace
