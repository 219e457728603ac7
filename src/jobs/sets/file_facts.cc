#include "jobs/sets/file_facts.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <tbtrace/jobs.h>
#include <tbtrace/trace.h>

#include "inputs/look.h"
#include "io/archives/input.h"
#include "io/archives/unpacked.h"
#include "io/source.h"
#include "readers/blocks/text_buffer.h"
#include "readers/chrome/document.h"
#include "trace/trace_builder.h"
#include "wire/json_blanks.h"
#include "wire/json_scanner.h"
#include "wire/json_text.h"
#include "wire/json_tree.h"

namespace tbtrace::jobs {
namespace {

using wire::JsonTree;

/// Enough for the members before the events and for some hundred events.
constexpr std::size_t kStart = std::size_t{128} << 10;
/// With thousands of ranks, `distributedInfo` is long.
constexpr std::size_t kLongestStart = std::size_t{16} << 20;
constexpr std::size_t kEnd = std::size_t{256} << 10;

/// Versions in traces, as people call what has them.
struct VersionKey {
  std::string_view key;
  std::string_view what;
};
constexpr std::array kVersionKeys = std::to_array<VersionKey>({
    {"torch_version", "torch"},
    {"pytorch_version", "torch"},
    {"cuda_runtime_version", "CUDA"},
    {"cuda_driver_version", "the CUDA driver"},
    {"cupti_version", "CUPTI"},
    {"hip_runtime_version", "HIP"},
    {"hip_driver_version", "the HIP driver"},
});

std::string text_of(const JsonTree& value) {
  switch (value.kind) {
    case JsonTree::Kind::text:
      return value.text;
    case JsonTree::Kind::integer:
      return std::to_string(value.integer);
    default:
      return {};
  }
}

/// A trace of what is in the text, which may end anywhere.
Trace trace_of_start(std::string_view start) {
  readers::TextBuffer text;
  text.append(start);
  TraceBuilder builder;
  const readers::RowRequest request = {.arguments = {}};
  readers::ChromeDocument document(request, builder, builder);
  static_cast<void>(document.consume(text.view(), 0, false));
  return std::move(builder).finish();
}

/// The members after the events, from the end of a file. Their text is JSON, or they are not found.
std::map<std::string, std::string> members_at_end(std::string_view end) {
  std::map<std::string, std::string> best;
  // A bracket that closes the events is followed by members only, to the end of the file. Members
  // may hold brackets as well.
  constexpr int kMostTries = 64;
  std::size_t bracket = end.size();
  for (int tried = 0; tried < kMostTries && bracket > 0; ++tried) {
    bracket = end.rfind(']', bracket - 1);
    if (bracket == std::string_view::npos) break;
    std::map<std::string, std::string> members;
    wire::JsonScanner scanner(wire::Quoting::strict);
    std::size_t at = bracket + 1;
    while (true) {
      at = wire::skip_json_gap(end, at);
      if (at >= end.size() || end[at] != '"') break;
      const std::size_t start = at;
      if (scanner.scan_member(end, at, true) != wire::ScanEnd::complete) break;
      const std::uint32_t* const position = scanner.positions();
      std::string key;
      const std::string_view written = end.substr(start + 1, position[1] - start - 1);
      wire::append_unescaped(key, written.substr(0, written.rfind('"')));
      members[key] = end.substr(position[2], at - position[2]);
    }
    const bool is_end =
        at < end.size() && end[at] == '}' && wire::skip_json_blanks(end, at + 1) == end.size();
    if (is_end && members.size() > best.size()) best = std::move(members);
  }
  return best;
}

/// The last bytes of a source that is read to its end.
std::string end_of(io::ByteSource& source) {
  std::string kept;
  std::vector<char> piece(kEnd);
  for (;;) {
    const Result<std::size_t> got = source.read(piece);
    if (!got.ok() || *got == 0) return kept;
    kept.append(piece.data(), *got);
    if (kept.size() > 2 * kEnd) kept.erase(0, kept.size() - kEnd);
  }
}

struct Opened {
  std::unique_ptr<io::ByteSource> content;  ///< inflated
  bool is_plain = false;                    ///< and so its end can be read alone
};

Result<Opened> open(const std::string& path) {
  Result<std::unique_ptr<io::ByteSource>> file = io::open_input(path);
  if (!file.ok()) return file.status();
  const Result<std::string> start = io::peek(*file, 4);
  if (!start.ok()) return start.status();
  const bool is_plain = start->starts_with('{') || start->starts_with('[');
  Result<io::Unpacked> content = io::unpacked(*std::move(file));
  if (!content.ok()) return content.status();
  if (content->archive != io::PackedKind::none) {
    return Status(StatusCode::unreadable_input, "is an archive");
  }
  return Opened{std::move(content->source), is_plain};
}

class Looker {
 public:
  explicit Looker(const std::string& path) : path_(path) {}

  FileFacts look(bool find_base) && {
    Result<Opened> opened = open(path_);
    if (!opened.ok()) return failed(opened.status());
    std::size_t size = kStart;
    Result<std::string> start = io::peek(opened->content, size);
    if (!start.ok()) return failed(start.status());
    if (start->find_first_not_of(" \t\r\n") == std::string::npos) {
      return failed({StatusCode::unreadable_input,
                     "is empty; record it again, or delete it if its rank wrote no trace"});
    }
    if (begins_as_merged(*start)) {
      facts_.is_merged = true;
      return std::move(facts_);
    }
    while (start->size() == size && size < kLongestStart && !has_events(*start)) {
      size *= 4;
      start = io::peek(opened->content, size);
      if (!start.ok()) return failed(start.status());
    }
    take(trace_of_start(*start));
    const bool is_absolute = facts_.start_ns.has_value() && !facts_.base_ns;
    if (facts_.base_ns) {
      const bool is_first = start->find("\"baseTimeNanoseconds\"") < start->find("\"traceEvents\"");
      note_format(is_first ? "2.8 or later" : "2.4 to 2.7");
    } else if (opened->is_plain || (find_base && !is_absolute)) {
      take_end(*opened);
    }
    if (has_schema_ && is_absolute) note_format("2.3 or earlier");
    return std::move(facts_);
  }

 private:
  FileFacts failed(Status why) {
    facts_.problem = std::move(why);
    return std::move(facts_);
  }

  /// What a file's layout says about the torch that wrote it.
  void note_format(const std::string& versions) {
    if (has_schema_ && !facts_.versions.contains("torch")) facts_.versions["torch"] = versions;
  }

  static bool has_events(std::string_view text) {
    return text.find("\"ph\"") != std::string_view::npos;
  }

  void take(const Trace& trace) {
    const TraceIdentity identity = trace.identity();
    facts_.rank = identity.rank;
    facts_.world_size = identity.world_size;
    facts_.host = identity.host;
    facts_.process = identity.process;
    facts_.start_ns = identity.start_ns;
    first_ns_ = trace.window_start_ns();
    for (const auto& [key, json] : trace.metadata()) take_member(key, json);
  }

  void take_member(const std::string& key, const std::string& json) {
    if (key == "schemaVersion") has_schema_ = true;
    const std::optional<JsonTree> value = wire::parse_json_tree(json);
    if (!value) return;
    if (key == "baseTimeNanoseconds" && value->kind == JsonTree::Kind::integer) {
      facts_.base_ns = value->integer;
    }
    if (key == "distributedInfo") take_distributed(*value);
    for (const VersionKey& version : kVersionKeys) {
      const std::string text = text_of(*value);
      if (key == version.key && !text.empty()) facts_.versions[std::string(version.what)] = text;
    }
  }

  void take_distributed(const JsonTree& value) {
    if (value.kind == JsonTree::Kind::text) {  // some writers store it as a text
      const std::optional<JsonTree> inner = wire::parse_json_tree(value.text);
      if (inner && inner->kind == JsonTree::Kind::object) take_distributed(*inner);
      return;
    }
    const auto count = [&](std::string_view key) -> std::optional<std::int64_t> {
      const JsonTree* const found = value.find(key, JsonTree::Kind::integer);
      if (found == nullptr || found->integer < 0) return std::nullopt;
      return found->integer;
    };
    if (!facts_.rank) facts_.rank = count("rank");
    if (!facts_.world_size) facts_.world_size = count("world_size");
    if (const JsonTree* const backend = value.find("backend")) facts_.backend = text_of(*backend);
    if (const JsonTree* const nccl = value.find("nccl_version")) {
      if (const std::string text = text_of(*nccl); !text.empty()) facts_.versions["NCCL"] = text;
    }
  }

  /// Until torch 2.7 the time base comes after the events, in traces on demand also the rest.
  void take_end(Opened& opened) {
    io::ByteSource& content = *opened.content;
    const std::uint64_t total = opened.is_plain ? content.total() : 0;
    std::unique_ptr<io::ByteSource> again;
    if (total > kEnd) {
      Result<std::unique_ptr<io::ByteSource>> file = io::open_input(path_);
      if (file.ok() && (*file)->seek(total - kEnd)) again = *std::move(file);
    }
    for (const auto& [key, json] : members_at_end(end_of(again ? *again : content))) {
      take_member(key, json);
    }
    if (!facts_.base_ns) return;
    note_format("2.4 to 2.7");
    if (facts_.start_ns || !first_ns_) return;
    constexpr std::int64_t kFarthest = std::int64_t{1} << 62;
    if (*facts_.base_ns > 0 && *facts_.base_ns < kFarthest && *first_ns_ < kFarthest) {
      facts_.start_ns = *facts_.base_ns + *first_ns_;
    }
  }

  const std::string& path_;
  FileFacts facts_;
  std::optional<std::int64_t> first_ns_;
  bool has_schema_ = false;
};

}  // namespace

bool begins_as_merged(std::string_view start) {
  // It is the second member.
  constexpr std::size_t kSecond = 256;
  return start.substr(0, kSecond).find('"' + std::string(kMergedRanks) + '"') !=
         std::string_view::npos;
}

FileFacts look_at_trace(const std::string& path, bool find_base) {
  return Looker(path).look(find_base);
}

}  // namespace tbtrace::jobs
