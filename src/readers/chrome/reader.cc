#include "readers/chrome/reader.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/threads.h"
#include "readers/blocks/cut.h"
#include "readers/blocks/pipeline.h"
#include "readers/blocks/text_buffer.h"
#include "readers/chrome/document.h"
#include "trace/issues.h"

namespace tbtrace::readers {
namespace {

constexpr std::uint64_t kExpectAfter = std::uint64_t{1} << 20;  // bytes; the rest will be like them
constexpr double kMargin = 1.4;

/// Reads the source to its end; a source that fails half way ends there, with an issue.
class Input {
 public:
  Input(io::ByteSource& source, TraceBuilder& builder) : source_(source), builder_(builder) {}

  /// Adds up to `count` bytes to `text`.
  void fill(TextBuffer& text, std::size_t count) {
    const std::span<char> room = text.room(count);
    std::size_t filled = 0;
    while (filled < count && !ended_) {
      const Result<std::size_t> got = source_.read(room.subspan(filled));
      if (!got.ok()) {
        failure_ = got.status();
        damaged_at_ = taken_ + filled;
      }
      ended_ = !got.ok() || *got == 0;
      if (got.ok()) filled += *got;
    }
    text.added(filled);
    taken_ += filled;
  }

  /// Reports how far reading is. False if the caller cancelled it; then this is the end.
  bool report_progress(const ReadOptions& options) {
    if (!options.on_progress || options.on_progress(position(), total())) return true;
    is_cancelled_ = true;
    ended_ = true;
    return false;
  }

  bool ended() const { return ended_; }
  std::uint64_t position() const { return source_.position(); }
  std::uint64_t total() const { return source_.total(); }

  /// To be called at the end.
  Status finish() {
    if (is_cancelled_) return {StatusCode::cancelled, "reading was cancelled"};
    if (failure_.ok()) return {};
    if (taken_ == 0) return failure_;
    builder_.issues().add_lost(IssueId::input_damaged, damaged_at_, damaged_at_);
    return {};
  }

 private:
  io::ByteSource& source_;
  TraceBuilder& builder_;
  Status failure_;
  std::uint64_t damaged_at_ = 0;
  std::uint64_t taken_ = 0;
  bool ended_ = false;
  bool is_cancelled_ = false;
};

/// Gives text to the document in order, and keeps what it could not use yet.
class Feeder {
 public:
  explicit Feeder(ChromeDocument& document) : document_(document) {}

  TextBuffer& pending() { return pending_; }
  /// Where the pending text starts in the file.
  std::uint64_t offset() const { return offset_; }

  /// The document stands between two events, at offset(), and has used all text.
  bool is_between_events() const { return pending_.size() == 0 && document_.in_events(); }

  /// Nothing is pending, and the document has got the next `used` bytes from somebody else. `rest`
  /// follows them and waits.
  void skip(std::size_t used, std::string_view rest) {
    pending_.append(rest);
    took(used);
  }

  /// `last`: the pending text is all that is left.
  void feed(bool last) {
    if (!last && pending_.size() < retry_at_) return;
    const std::size_t used = document_.consume(pending_.view(), offset_, last);
    pending_.drop_front(used);
    took(used);
  }

 private:
  /// An item that is not whole: wait until there is twice the text, so that reading it again and
  /// again costs no more than reading it twice.
  void took(std::size_t used) {
    offset_ += used;
    retry_at_ = used == 0 ? pending_.size() * 2 : 0;
  }

  ChromeDocument& document_;
  TextBuffer pending_;
  std::uint64_t offset_ = 0;
  std::size_t retry_at_ = 0;
};

/// A piece of text that seems to start with an event, and what was made of it.
struct Block {
  std::uint64_t offset = 0;
  bool starts_with_event = false;  ///< as far as can be guessed
  bool last = false;
  std::uint64_t position = 0;
  TextBuffer text;
  std::unique_ptr<ChromeParser> parser;
  bool is_parsed = false;
  ChromeParser::Progress progress;
};

/// Reads the rest of a document from the middle of its events. Blocks are parsed by whoever is
/// free, from where they seem to start. Those rows count if the document stands exactly there once
/// its turn has come; else the text goes to the document itself.
class RestReader {
 public:
  RestReader(Input& input, Feeder& feeder, ChromeDocument& document, const ReadOptions& options,
             BlockSize block)
      : input_(input),
        feeder_(feeder),
        document_(document),
        options_(options),
        size_(block.bytes),
        quoting_(document.quoting()) {}

  void run(int threads) {
    tail_.append(feeder_.pending().view());
    tail_offset_ = feeder_.offset();
    tail_starts_with_event_ = document_.in_events();
    feeder_.pending().clear();
    std::vector<Block> blocks(threads == 1 ? 1 : static_cast<std::size_t>(threads) + 2);
    for (Block& block : blocks) block.parser = document_.make_parser();
    BlockPipeline<Block> pipeline(blocks,
                                  {.read = [this](Block& block) { return read(block); },
                                   .work = [this](Block& block) { parse(block); },
                                   .finish = [this](Block& block) { return finish(block); }});
    pipeline.run(threads);
  }

 private:
  bool read(Block& block) {
    if (all_read_) return false;
    block.offset = tail_offset_;
    block.starts_with_event = tail_starts_with_event_;
    block.text.clear();
    block.text.append(tail_.view());
    input_.fill(block.text, size_);
    block.position = input_.position();
    block.last = input_.ended();
    all_read_ = block.last;
    const std::size_t cut = block.last ? 0 : find_cut(block.text.view());
    tail_.clear();
    tail_starts_with_event_ = cut > 0;
    tail_offset_ = block.offset + (cut > 0 ? cut : block.text.size());
    if (cut > 0) {
      tail_.append(block.text.view().substr(cut));
      block.text.truncate(cut);
    }
    if (input_.report_progress(options_)) return true;
    all_read_ = true;
    return false;
  }

  void parse(Block& block) {
    block.is_parsed = block.starts_with_event && block.offset >= guess_from_;
    if (block.is_parsed) block.progress = block.parser->parse(block.text.view(), quoting_);
  }

  bool finish(Block& block) {
    const std::string_view text = block.text.view();
    bool is_whole = false;
    // Tables of parsers name what stood in an array that another one replaced; only the document's
    // own are new then.
    const bool counts = block.is_parsed && document_.directory().replaced_arrays() == 0;
    const bool is_accepted = counts && feeder_.is_between_events();
    if (is_accepted) {
      const std::size_t used =
          document_.accept(*block.parser, block.progress, text, block.offset, block.last);
      feeder_.skip(used, text.substr(used));
      is_whole = used == text.size();
    } else {
      block.parser->rows().discard();
      feeder_.pending().append(text);
      feeder_.feed(block.last);
    }
    judge(block, is_accepted, is_whole);
    if (!has_expected_ && block.offset >= kExpectAfter && block.position < input_.total()) {
      has_expected_ = true;
      document_.builder().expect(kMargin * static_cast<double>(input_.total()) /
                                 static_cast<double>(block.position));
    }
    return true;
  }

  /// After a guess that failed, the next blocks are not guessed, more with each failure: within a
  /// long event guesses cost more than they gain.
  void judge(const Block& block, bool is_accepted, bool is_whole) {
    constexpr std::uint64_t kMostPassed = 63;
    if (is_whole) {
      passed_ /= 2;
    } else if (block.is_parsed && !is_accepted) {
      passed_ = std::min(2 * passed_ + 1, kMostPassed);
      guess_from_ = block.offset + block.text.size() + passed_ * size_;
    }
  }

  Input& input_;
  Feeder& feeder_;
  ChromeDocument& document_;
  const ReadOptions& options_;
  std::size_t size_;
  wire::Quoting quoting_;  // of this array; what was parsed of later ones does not count

  // Of reading.
  TextBuffer tail_;
  std::uint64_t tail_offset_ = 0;
  bool tail_starts_with_event_ = false;
  bool all_read_ = false;

  // Of finishing.
  bool has_expected_ = false;
  std::uint64_t passed_ = 0;  // blocks after the last failure
  std::atomic<std::uint64_t> guess_from_ = 0;
};

}  // namespace

Sniff sniff_chrome(std::string_view start) {
  if (start.starts_with("\xef\xbb\xbf")) start.remove_prefix(3);
  const std::size_t first = start.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return Sniff::no;
  return start[first] == '{' || start[first] == '[' ? Sniff::yes : Sniff::no;
}

Status read_events(io::ByteSource& source, ChromeDocument& document, const ReadOptions& options,
                   BlockSize block) {
  Input input(source, document.builder());
  Feeder feeder(document);
  while (!input.ended()) {
    if (document.in_events()) {
      RestReader(input, feeder, document, options, block).run(thread_count(options.threads));
      break;
    }
    input.fill(feeder.pending(), block.bytes);
    feeder.feed(input.ended());
    if (!input.report_progress(options)) break;
  }
  if (Status status = input.finish(); !status.ok()) return status;
  return document.finish();
}

Result<Reading> read_chrome(io::ByteSource& source, const ReadOptions& options) {
  return read_chrome(source, options, BlockSize());
}

Result<Reading> read_chrome(io::ByteSource& source, const ReadOptions& options, BlockSize block) {
  TraceBuilder builder;
  const RowRequest request = {.arguments = options.arguments,
                              .inputs_for_flops_only = options.inputs_for_flops_only};
  ChromeDocument document(request, builder, builder);
  if (Status status = read_events(source, document, options, block); !status.ok()) return status;
  BlockDirectory directory = document.directory();
  directory.arguments = options.arguments;
  directory.block_bytes = block.bytes;
  directory.losses = builder.issues().losses();
  Trace trace = std::move(builder).finish(thread_count(options.threads));
  constexpr std::string_view kUnreadable =
      kIssueTable[static_cast<std::size_t>(IssueId::time_unreadable)].id;
  directory.times_are_sound =
      std::none_of(trace.issues().begin(), trace.issues().end(),
                   [&](const Issue& issue) { return issue.id == kUnreadable; });
  return Reading{std::move(trace), std::move(directory)};
}

}  // namespace tbtrace::readers
