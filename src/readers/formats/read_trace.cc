#include <istream>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <tbtrace/trace.h>

#include "io/archives/input.h"
#include "io/archives/unpacked.h"
#include "io/source.h"
#include "io/stream_source.h"
#include "readers/formats/format.h"
#include "readers/formats/only_trace.h"
#include "readers/formats/other_files.h"

namespace tbtrace {
namespace {

struct Opened {
  std::unique_ptr<io::ByteSource> source;
  const readers::Format* format;
};

Result<Opened> open_format(std::unique_ptr<io::ByteSource> raw) {
  Result<io::Unpacked> content = io::unpacked(std::move(raw));
  if (!content.ok()) return content.status();
  const Result<std::string> start = io::peek(content->source, readers::kSniffSize);
  if (!start.ok()) return start.status();
  if (content->archive != io::PackedKind::none) {
    // Some programs write what is theirs as an archive.
    if (const std::string_view other = readers::other_file(*start); !other.empty())
      return Status(StatusCode::unreadable_input, std::string(other));
    Result<std::unique_ptr<io::ByteSource>> trace = readers::only_trace(*std::move(content));
    if (!trace.ok()) return trace.status();
    return open_format(*std::move(trace));
  }
  const Result<const readers::Format*> format = readers::find_format(*start);
  if (!format.ok()) return format.status();
  return Opened{std::move(content->source), *format};
}

Result<Trace> trace_of(Result<readers::Reading> reading) {
  if (!reading.ok()) return reading.status();
  return std::move(reading->trace);
}

}  // namespace

namespace readers {

Result<Reading> read_source(std::unique_ptr<io::ByteSource> source, const ReadOptions& options) {
  try {
    Result<Opened> opened = open_format(std::move(source));
    if (!opened.ok()) return opened.status();
    Result<Reading> reading = opened->format->read(*opened->source, options);
    if (reading.ok() && options.strict && !reading->trace.issues().empty()) {
      return strict_failure(reading->trace.issues().front());
    }
    return reading;
  } catch (const std::bad_alloc&) {
    return out_of_memory(options.threads);
  } catch (const std::length_error&) {
    return out_of_memory(options.threads);
  }
}

Result<std::unique_ptr<io::ByteSource>> trace_text(std::unique_ptr<io::ByteSource> source) {
  Result<Opened> opened = open_format(std::move(source));
  if (!opened.ok()) return opened.status();
  return std::move(opened->source);
}

Status strict_failure(const Issue& issue) {
  return {StatusCode::check_failed, "strict reading failed: " + std::to_string(issue.count) +
                                        " x " + std::string(issue.id) + ": " +
                                        std::string(issue.sentence)};
}

Status replay_source(std::unique_ptr<io::ByteSource> source, const BlockDirectory& blocks,
                     BlockSinks& sinks, int threads) {
  Result<Opened> opened = open_format(std::move(source));
  if (!opened.ok()) return opened.status();
  return opened->format->replay(*opened->source, blocks, sinks, threads);
}

}  // namespace readers

Result<Trace> read_trace(const std::string& path, const ReadOptions& options) {
  Result<std::unique_ptr<io::ByteSource>> file = io::open_input(path);
  if (!file.ok()) return file.status();
  return trace_of(readers::read_source(std::move(*file), options));
}

Result<Trace> read_trace(std::istream& stream, const ReadOptions& options) {
  return trace_of(readers::read_source(io::stream_source(stream), options));
}

}  // namespace tbtrace
