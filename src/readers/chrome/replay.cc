#include "readers/chrome/replay.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/threads.h"
#include "readers/blocks/pipeline.h"
#include "readers/blocks/text_buffer.h"
#include "readers/chrome/document.h"
#include "readers/chrome/parser.h"
#include "readers/chrome/reader.h"
#include "trace/trace_builder.h"

namespace tbtrace::readers {
namespace {

struct ReplayedBlock {
  std::size_t number = 0;  ///< in the directory
  TextBuffer text;
  std::unique_ptr<ChromeParser> parser;
  std::unique_ptr<BlockSink> sink;
  bool is_as_before = false;
};

/// Reads the blocks of a sound file, each by itself.
class BlockReplay {
 public:
  BlockReplay(io::ByteSource& source, const BlockDirectory& directory, BlockSinks& sinks)
      : source_(source), directory_(directory), sinks_(sinks) {}

  Status run(int threads) {
    if (directory_.blocks().empty()) return {};
    if (!skip_to(directory_.blocks().front().offset)) return read_failure_;
    threads = thread_count(threads);
    const std::size_t most = threads == 1 ? 1 : 2 * static_cast<std::size_t>(threads);
    std::vector<ReplayedBlock> blocks(std::min(most, directory_.blocks().size()));
    std::uint32_t reader = 0;
    for (ReplayedBlock& block : blocks) {
      const RowRequest request = {.arguments = directory_.arguments,
                                  .members = true,
                                  .flow_members = sinks_.takes_flows(),
                                  .left_out = sinks_.left_out(),
                                  .times_are_sound = directory_.times_are_sound};
      block.parser = std::make_unique<ChromeParser>(request, reader++);
      block.sink = sinks_.make();
    }
    BlockPipeline<ReplayedBlock> pipeline(
        blocks, {.read = [this](ReplayedBlock& block) { return read(block); },
                 .work = [this](ReplayedBlock& block) { parse(block); },
                 .finish = [this](ReplayedBlock& block) { return finish(block); }});
    pipeline.run(threads);
    return failure_.ok() ? read_failure_ : failure_;
  }

 private:
  std::uint64_t end_of(std::size_t block) const {
    const auto& blocks = directory_.blocks();
    return block + 1 < blocks.size() ? blocks[block + 1].offset : directory_.end_offset();
  }

  bool skip_to(std::uint64_t offset) {
    TextBuffer skipped;
    constexpr std::uint64_t kStep = std::uint64_t{256} << 10;
    for (std::uint64_t at = 0; at < offset; at += skipped.size()) {
      skipped.clear();
      if (!fill(skipped, std::min(kStep, offset - at))) return false;
    }
    return true;
  }

  bool fill(TextBuffer& text, std::uint64_t count) {
    const std::span<char> room = text.room(count);
    std::size_t filled = 0;
    while (filled < count) {
      const Result<std::size_t> got = source_.read(room.subspan(filled));
      if (!got.ok() || *got == 0) {
        read_failure_ = changed_while_read();
        return false;
      }
      filled += *got;
    }
    text.added(filled);
    return true;
  }

  bool read(ReplayedBlock& block) {
    if (next_ == directory_.blocks().size()) return false;
    block.number = next_++;
    block.text.clear();
    return fill(block.text, end_of(block.number) - directory_.blocks()[block.number].offset);
  }

  void parse(ReplayedBlock& block) {
    const BlockDirectory::Block& place = directory_.blocks()[block.number];
    const bool is_last = block.number + 1 == directory_.blocks().size();
    const std::string_view text = block.text.view();
    ChromeParser::Progress progress = block.parser->parse(text, directory_.quoting);
    if (is_last && progress.stop == EventStop::need_text && progress.consumed < text.size()) {
      // A file that was cut right after an element of the array, which need not be an event.
      const ChromeParser::Damaged element =
          block.parser->read_damaged(text, directory_.quoting, progress.consumed, true);
      if (element.end == wire::ScanEnd::complete) progress.consumed = element.after;
    }
    const EventBatch& rows = block.parser->rows().rows();
    block.is_as_before = progress.consumed == text.size() &&
                         (is_last || place.first_event + rows.ranges.size() ==
                                         directory_.blocks()[block.number + 1].first_event);
    if (!block.is_as_before) return;
    block.sink->begin(static_cast<EventId>(place.first_event));
    block.sink->add(rows);
  }

  bool finish(ReplayedBlock& block) {
    if (failure_.ok()) failure_ = block.is_as_before ? block.sink->finish() : changed_while_read();
    block.parser->rows().clear();
    return failure_.ok();
  }

  io::ByteSource& source_;
  const BlockDirectory& directory_;
  BlockSinks& sinks_;
  std::size_t next_ = 0;
  Status read_failure_;  // of the reading thread
  Status failure_;       // of finishing
};

}  // namespace

void WholeReplay::add(const EventBatch& rows) {
  if (!failure_.ok() || arrays_left_ > 0) return;
  sink_->begin(static_cast<EventId>(ranges_));
  sink_->add(rows);
  failure_ = sink_->finish();
  ranges_ += rows.ranges.size();
}

Status changed_while_read() {
  return {StatusCode::unreadable_input,
          "was written to while it was read; convert it when its writer has finished"};
}

Status replay_chrome(io::ByteSource& source, const BlockDirectory& blocks, BlockSinks& sinks,
                     int threads) {
  if (blocks.is_sound()) return BlockReplay(source, blocks, sinks).run(threads);
  // What a damaged event is taken for depends on the text around it.
  TraceBuilder unused;  // members and issues are known from the first pass
  WholeReplay rows(sinks, blocks.replaced_arrays());
  ChromeDocument document({.arguments = blocks.arguments,
                           .members = true,
                           .flow_members = sinks.takes_flows(),
                           .left_out = sinks.left_out()},
                          unused, rows);
  const BlockSize same = {blocks.block_bytes};
  if (Status read = read_events(source, document, {.threads = 1}, same); !read.ok()) return read;
  return rows.failure();
}

}  // namespace tbtrace::readers
