// How much text each row of a document has, so that a part of a given size can be chosen.
// Filled while a document is written, by the threads that write its blocks. Read when it is there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <tbtrace/trace.h>

#include "chrome/kineto/rows.h"
#include "chrome/rows/selection.h"
#include "trace/event_batch.h"

namespace tbtrace::chrome {

class RowSizes final : public RowSizeSink {
 public:
  explicit RowSizes(const Trace& trace) : ranges_(trace.events().size()) {}

  void add(EventId range, std::size_t bytes) override;
  void add(const EventBatch& rows, const EventBatch::Row& row, std::size_t bytes) override;

  /// Of the rows that are taken, with what marks ranges as cut.
  std::uint64_t total(const RowSelection& selection) const;

 private:
  struct Other {
    RowKind kind = RowKind::label;
    std::uint32_t bytes = 0;
    std::optional<std::int64_t> time_ns = {};
    FlowEnd flow = {};
    std::uint32_t process = 0;  ///< of a flow, among `processes_`
  };

  std::vector<std::uint32_t> ranges_;
  std::mutex mutex_;
  std::vector<Other> others_;  // of those that may be left out
  std::map<std::string, std::uint32_t> processes_;
  std::uint64_t labels_ = 0;
};

}  // namespace tbtrace::chrome
