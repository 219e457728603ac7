#include "jobs/sets/file_facts.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <tbtrace/jobs.h>
#include <tbtrace/trace.h>

#include "base/characters.h"
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

namespace tbtrace::jobs {
namespace {

/// Enough for the members before the events and for some hundred events.
constexpr std::size_t kStart = std::size_t{128} << 10;
/// With thousands of ranks, `distributedInfo` is long.
constexpr std::size_t kLongestStart = std::size_t{16} << 20;
constexpr std::size_t kEnd = std::size_t{256} << 10;

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
    const bool is_absolute = facts_.start_ns.has_value() && !facts_.by.base_ns;
    if (facts_.by.base_ns) {
      const bool is_first = start->find("\"baseTimeNanoseconds\"") < start->find("\"traceEvents\"");
      note_format(is_first ? "2.8 or later" : "2.4 to 2.7");
    } else if (opened->is_plain || (find_base && !is_absolute)) {
      take_end(*opened);
    }
    if (facts_.by.has_schema && is_absolute) note_format("2.3 or earlier");
    return std::move(facts_);
  }

 private:
  FileFacts failed(Status why) {
    facts_.problem = std::move(why);
    return std::move(facts_);
  }

  /// What a file's layout says about the torch that wrote it.
  void note_format(const std::string& versions) {
    if (facts_.by.has_schema && !facts_.by.versions.contains("torch"))
      facts_.by.versions["torch"] = versions;
  }

  static bool has_events(std::string_view text) {
    return text.find("\"ph\"") != std::string_view::npos;
  }

  void take(const Trace& trace) {
    const TraceIdentity identity = trace.identity();
    facts_.by = recorded_by(trace);
    facts_.host = identity.host;
    facts_.process = identity.process;
    facts_.start_ns = identity.start_ns;
    first_ns_ = trace.window_start_ns();
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
      facts_.by.take_member(key, json);
    }
    if (!facts_.by.base_ns) return;
    note_format("2.4 to 2.7");
    if (facts_.start_ns || !first_ns_) return;
    constexpr std::int64_t kFarthest = std::int64_t{1} << 62;
    if (*facts_.by.base_ns > 0 && *facts_.by.base_ns < kFarthest && *first_ns_ < kFarthest) {
      facts_.start_ns = *facts_.by.base_ns + *first_ns_;
    }
  }

  const std::string& path_;
  FileFacts facts_;
  std::optional<std::int64_t> first_ns_;
};

/// Whether the first event's process has the label that SGLang's merge gives it: `[TP00-DP01]
/// 1234`.
bool has_labelled_process(std::string_view start) {
  constexpr std::string_view kKey = "\"pid\"";
  const std::size_t key = start.find(kKey);
  if (key == std::string_view::npos) return false;
  const std::size_t value = start.find_first_not_of(" :", key + kKey.size());
  constexpr std::string_view kForm = "\"[TP0";
  if (value == std::string_view::npos || start.size() - value < kForm.size()) return false;
  const std::string_view text = start.substr(value, kForm.size());
  const bool is_group = text[2] == 'T' || text[2] == 'D' || text[2] == 'P' || text[2] == 'E';
  return text.starts_with("\"[") && is_group && text[3] == 'P' && is_digit(text[4]);
}

}  // namespace

bool begins_as_merged(std::string_view start) {
  // It is the second member.
  constexpr std::size_t kSecond = 256;
  return start.substr(0, kSecond).find('"' + std::string(kMergedRanks) + '"') !=
             std::string_view::npos ||
         has_labelled_process(start);
}

FileFacts look_at_trace(const std::string& path, bool find_base) {
  return Looker(path).look(find_base);
}

}  // namespace tbtrace::jobs
