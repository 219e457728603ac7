#include "readers/chrome_reader.h"

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/column.h"
#include "readers/chrome_document.h"
#include "readers/chrome_events.h"
#include "wire/json_index.h"

namespace tbtrace::readers {
namespace {

constexpr std::size_t kFirstBlock = std::size_t{128} << 10;
// Also of one thread: what is made of damaged text depends on where blocks end.
constexpr std::size_t kBlock = std::size_t{256} << 10;
constexpr std::size_t kExpectAfter = 4;  // blocks; what follows is taken to be like them
constexpr double kMargin = 1.4;
constexpr std::size_t kLargestItem = std::size_t{32} << 20;  // of one event or member

/// Text that may be given to the index: the bytes behind it are readable.
class TextBuffer {
 public:
  std::string_view view() const { return {bytes_.data(), size_}; }
  std::size_t size() const { return size_; }

  /// Room for `count` more bytes; say how many were written with added().
  std::span<char> room(std::size_t count) {
    bytes_.reserve(size_ + count + wire::kJsonPadding);
    return {bytes_.data() + size_, count};
  }
  void added(std::size_t count) {
    size_ += count;
    std::memset(bytes_.data() + size_, 0, wire::kJsonPadding);
  }
  void append(std::string_view text) {
    const std::span<char> place = room(text.size());
    std::copy(text.begin(), text.end(), place.begin());
    added(text.size());
  }
  void drop_front(std::size_t count) {
    std::copy(bytes_.data() + count, bytes_.data() + size_, bytes_.data());
    size_ -= count;
  }
  void truncate(std::size_t size) { size_ = std::min(size, size_); }

 private:
  Column<char> bytes_;
  std::size_t size_ = 0;
};

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

  bool ended() const { return ended_; }
  std::uint64_t position() const { return source_.position(); }
  std::uint64_t total() const { return source_.total(); }

  /// To be called at the end by one thread.
  Status finish() {
    if (failure_.ok()) return {};
    if (taken_ == 0) return failure_;
    builder_.issues().add(IssueId::input_damaged, damaged_at_);
    return {};
  }

 private:
  io::ByteSource& source_;
  TraceBuilder& builder_;
  Status failure_;
  std::uint64_t damaged_at_ = 0;
  std::uint64_t taken_ = 0;
  bool ended_ = false;
};

/// Gives text to the document in order, and keeps what it could not use yet.
class Feeder {
 public:
  explicit Feeder(ChromeDocument& document) : document_(document) {}

  TextBuffer& pending() { return pending_; }
  /// Where the pending text starts in the file.
  std::uint64_t offset() const { return offset_; }

  /// Whether all text that was given has been used, up to the end of an item.
  bool is_between_items() const { return pending_.size() == 0 && !skipping_; }

  /// Text up to `offset` reached the document on another way.
  void moved_to(std::uint64_t offset) { offset_ = offset; }

  /// `last`: the pending text is all that is left.
  void feed(bool last) {
    if (!last && pending_.size() < retry_at_) return;
    for (;;) {
      const std::string_view text = pending_.view();
      if (skipping_) {
        const std::size_t skipped = document_.skip(text, offset_, last);
        skipping_ = skipped == text.size() && !last;
        drop(skipped);
        if (skipped == text.size()) return;
        continue;
      }
      std::size_t cut = text.size();
      if (!last && document_.in_events()) {
        const std::size_t boundary = document_.separator().last_boundary(text);
        if (boundary > 0) cut = boundary;
      }
      const std::size_t used = document_.consume(text.substr(0, cut), offset_, last);
      drop(used);
      if (last || (used > 0 && pending_.size() <= kLargestItem)) return;
      // An item that is not whole: wait until there is twice the text, so that reading it again
      // and again costs no more than reading it twice.
      retry_at_ = pending_.size() * 2;
      if (pending_.size() <= kLargestItem) return;
      skipping_ = true;
    }
  }

 private:
  void drop(std::size_t count) {
    pending_.drop_front(count);
    offset_ += count;
    retry_at_ = 0;
  }

  ChromeDocument& document_;
  TextBuffer pending_;
  std::uint64_t offset_ = 0;
  std::size_t retry_at_ = 0;
  bool skipping_ = false;
};

/// Reads the rest of the events on one or several threads. Whoever is free takes the next block
/// under a lock, which inflates it, and parses it alone; blocks are committed in their order, so
/// the result does not depend on the number of threads. The end of a block is a guess: where
/// parsing does not end there, or the array ends, the text goes to the document piece by piece
/// instead.
class ParallelReader {
 public:
  ParallelReader(Input& input, Feeder& feeder, ChromeDocument& document, const ReadOptions& options)
      : input_(input), feeder_(feeder), document_(document), options_(options) {}

  void run(int threads) {
    separator_ = document_.separator();
    tail_.append(feeder_.pending().view());
    tail_offset_ = feeder_.offset();
    feeder_.pending().truncate(0);
    std::vector<std::jthread> others;
    try {
      for (int thread = 1; thread < threads; ++thread) {
        others.emplace_back([this] { work(false); });
      }
    } catch (const std::system_error&) {
      // The system gives no more threads; those that there are do the work.
    }
    work(true);
  }

 private:
  struct Block {
    std::size_t number = 0;
    std::uint64_t offset = 0;
    bool last = false;
    std::uint64_t position = 0;
    TextBuffer text;
  };

  void work(bool may_report) {
    const std::unique_ptr<ChromeParser> parser = document_.make_parser();
    Block block;
    while (take(block)) {
      // quoting() does not change any more once events were seen.
      const auto progress = parser->parse(block.text.view(), document_.quoting(), block.last);
      const bool whole = progress.consumed == block.text.size() && !progress.array_ended;
      commit(block, whole, parser->consumer());
      if (may_report && options_.on_progress) options_.on_progress(block.position, input_.total());
    }
  }

  bool take(Block& block) {
    const std::lock_guard lock(reading_);
    if (all_taken_) return false;
    block.number = next_to_take_++;
    block.offset = tail_offset_;
    block.text.truncate(0);
    block.text.append(tail_.view());
    input_.fill(block.text, kBlock);
    block.position = input_.position();
    block.last = input_.ended();
    all_taken_ = block.last;
    std::size_t cut = block.text.size();
    if (!block.last) {
      const std::size_t boundary = separator_.last_boundary(block.text.view());
      if (boundary > 0) cut = boundary;
    }
    tail_.truncate(0);
    tail_.append(block.text.view().substr(cut));
    tail_offset_ = block.offset + cut;
    block.text.truncate(cut);
    return true;
  }

  void commit(const Block& block, bool whole, EventConsumer& consumer) {
    std::unique_lock lock(committing_);
    turn_.wait(lock, [&] { return next_to_commit_ == block.number; });
    if (whole && !block.last && feeder_.is_between_items() && document_.in_events()) {
      consumer.commit(block.offset);
      feeder_.moved_to(block.offset + block.text.size());
    } else {
      consumer.discard();
      feeder_.pending().append(block.text.view());
      feeder_.feed(block.last);
    }
    if (block.number == kExpectAfter && block.position < input_.total()) {
      document_.builder().expect(kMargin * static_cast<double>(input_.total()) /
                                 static_cast<double>(block.position));
    }
    ++next_to_commit_;
    turn_.notify_all();
  }

  Input& input_;
  Feeder& feeder_;
  ChromeDocument& document_;
  const ReadOptions& options_;

  std::mutex reading_;  // guards the input and what follows
  EventSeparator separator_;
  TextBuffer tail_;
  std::uint64_t tail_offset_ = 0;
  std::size_t next_to_take_ = 0;
  bool all_taken_ = false;

  std::mutex committing_;  // guards the document, the feeder and what follows
  std::condition_variable turn_;
  std::size_t next_to_commit_ = 0;
};

}  // namespace

Sniff sniff_chrome(std::string_view start) {
  if (start.starts_with("\xef\xbb\xbf")) start.remove_prefix(3);
  const std::size_t first = start.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return Sniff::no;
  return start[first] == '{' || start[first] == '[' ? Sniff::yes : Sniff::no;
}

Status read_events(io::ByteSource& source, ChromeDocument& document, const ReadOptions& options) {
  Input input(source, document.builder());
  Feeder feeder(document);
  const int threads = options.threads > 0
                          ? options.threads
                          : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  while (!input.ended()) {
    if (document.in_events()) {
      ParallelReader(input, feeder, document, options).run(threads);
      break;
    }
    input.fill(feeder.pending(), kFirstBlock);
    feeder.feed(input.ended());
    if (options.on_progress) options.on_progress(input.position(), input.total());
  }
  if (Status status = input.finish(); !status.ok()) return status;
  if (document.has_events()) return {};
  return {StatusCode::unreadable_input,
          "is JSON without an array `traceEvents`, so no trace; "
          "export one with prof.export_chrome_trace()"};
}

Result<Trace> read_chrome(io::ByteSource& source, const ReadOptions& options) {
  TraceBuilder builder;
  ChromeDocument document({.inputs = options.inputs,
                           .inputs_for_flops_only = options.inputs_for_flops_only,
                           .call_stacks = options.call_stacks},
                          builder, [&builder](const Wanted& wanted) {
                            return std::make_unique<EventMapper>(wanted, builder);
                          });
  if (Status status = read_events(source, document, options); !status.ok()) return status;
  return std::move(builder).finish();
}

}  // namespace tbtrace::readers
