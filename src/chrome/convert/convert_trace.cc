#include "chrome/convert/convert_trace.h"

#include <cstddef>
#include <string_view>
#include <utility>

#include "chrome/convert/dialects.h"
#include "io/archives/input.h"
#include "readers/formats/format.h"
#include "trace/issues.h"

namespace tbtrace::chrome {
namespace {

constexpr std::size_t kPiece = std::size_t{256} << 10;

}  // namespace

Result<Trace> FileRows::read(const ReadOptions& options) {
  Result<readers::Reading> reading = readers::read_source(file_->source(), options);
  if (!reading.ok()) return reading.status();
  blocks_ = std::move(reading->blocks);
  return std::move(reading->trace);
}

Status FileRows::replay(readers::BlockSinks& sinks, int threads) {
  return unchanged(readers::replay_source(file_->source(), blocks_, sinks, threads));
}

Status FileRows::copy(io::ByteSink& sink) const {
  const Result<std::unique_ptr<io::ByteSource>> text = readers::trace_text(file_->source());
  if (!text.ok()) return text.status();
  std::vector<char> piece(kPiece);
  for (;;) {
    const Result<std::size_t> got = (*text)->read(piece);
    if (!got.ok()) return got.status();
    if (*got == 0) return unchanged({});
    if (Status written = sink.write({piece.data(), *got}); !written.ok()) return written;
  }
}

Status FileRows::unchanged(Status done) const {
  if (done.ok() && file_->has_changed()) return readers::changed_while_read();
  return done;
}

TraceConverter::TraceConverter(std::unique_ptr<RowInput> input, Trace trace, const Options& options)
    : input_(std::move(input)), trace_(std::move(trace)), options_(options) {
  constexpr std::string_view kOtherPhases =
      kIssueTable[static_cast<std::size_t>(IssueId::phase_unsupported)].id;
  for (const Issue& issue : trace_.issues()) {
    if (issue.id != kOtherPhases) issues_.push_back(issue);
  }
}

Result<std::unique_ptr<TraceConverter>> TraceConverter::open(const std::string& path,
                                                             const Options& options) {
  Result<std::unique_ptr<io::Rereadable>> input = io::open_rereadable(path);
  if (!input.ok()) return input.status();
  return open(std::make_unique<FileRows>(*std::move(input)), options);
}

Result<std::unique_ptr<TraceConverter>> TraceConverter::open(std::unique_ptr<RowInput> input,
                                                             const Options& options) {
  // The second pass copies what the model does not keep.
  Result<Trace> trace = input->read({.threads = options.threads,
                                     .arguments = options.arguments,
                                     .on_progress = options.on_progress});
  if (!trace.ok()) return trace.status();
  std::unique_ptr<TraceConverter> converter(
      new TraceConverter(std::move(input), *std::move(trace), options));
  if (options.strict && !converter->issues_.empty()) {
    return readers::strict_failure(converter->issues_.front());
  }
  return converter;
}

Result<Changes> TraceConverter::write(io::ByteSink& sink) {
  const std::unique_ptr<RowDocument> document =
      new_document(trace_, options_.dialect, options_.infer_steps, options_.threads, sink);
  return write(*document, sink);
}

Result<Changes> TraceConverter::write(RowDocument& document, io::ByteSink& sink) {
  if (Status begun = document.begin(); !begun.ok()) return begun;
  if (Status read = input_->replay(document, options_.threads); !read.ok()) return read;
  if (Status ended = document.end(); !ended.ok()) return ended;
  if (Status closed = sink.close(); !closed.ok()) return closed;
  return document.changes();
}

}  // namespace tbtrace::chrome
