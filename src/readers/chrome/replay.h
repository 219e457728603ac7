// The second pass over a Chrome trace: every row that is whole, with all its members, block by
// block and on several threads. To rewrite rows, implement BlockSink. Damage is read around as in
// the first pass, so the numbers of ranges agree; it was counted there.
#pragma once

#include <cstddef>
#include <memory>

#include <tbtrace/status.h>
#include <tbtrace/trace.h>

#include "io/source.h"
#include "readers/blocks/directory.h"
#include "trace/event_sink.h"

namespace tbtrace::readers {

/// What is made of the rows of one block. Used by one thread at a time, for one block after
/// another.
class BlockSink : public EventSink {
 public:
  /// The rows that follow are of a block whose first range has this number in the Trace.
  virtual void begin(EventId first_range) = 0;

  /// All rows of the block were added and its turn has come: blocks are finished in the order of
  /// the file, one at a time. A failure ends the pass.
  virtual Status finish() = 0;

  /// Never: which rows count is known.
  void restart() final {}
};

/// Makes as many sinks as blocks are under way at once.
class BlockSinks {
 public:
  virtual ~BlockSinks() = default;
  virtual std::unique_ptr<BlockSink> make() = 0;
  /// Whether its sinks take flow events: otherwise these are not in the batches.
  virtual bool takes_flows() const = 0;
  /// What its sinks do without in EventBatch::members and EventBatch::arguments.
  virtual LeftOutMembers left_out() const { return {}; }
};

/// Takes the rows of an input as a whole, on one thread, for one sink.
class WholeReplay final : public EventSink {
 public:
  /// Rows of the arrays that the last one replaced do not count.
  explicit WholeReplay(BlockSinks& sinks, int replaced_arrays = 0)
      : sink_(sinks.make()), arrays_left_(replaced_arrays) {}

  void add(const EventBatch& rows) override;
  void restart() override { --arrays_left_; }

  const Status& failure() const { return failure_; }

 private:
  std::unique_ptr<BlockSink> sink_;
  int arrays_left_;
  std::size_t ranges_ = 0;
  Status failure_;
};

/// The source must give the bytes that the directory was made of; if it does not, that is a
/// failure. `threads`: as in ReadOptions.
Status replay_chrome(io::ByteSource& source, const BlockDirectory& blocks, BlockSinks& sinks,
                     int threads);

/// What is said of an input that was another one in the second pass.
Status changed_while_read();

}  // namespace tbtrace::readers
