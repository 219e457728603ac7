#include "readers/replay.h"

#include <cstdint>
#include <memory>

#include "readers/chrome_document.h"
#include "readers/chrome_reader.h"
#include "readers/event_consumer.h"
#include "trace/trace_builder.h"

namespace tbtrace::readers {
namespace {

/// Counts ranges as TraceBuilder does. There are two of them, for the text before the first event
/// and for the rest, which share the count of what was committed.
class Replayer final : public EventConsumer {
 public:
  Replayer(RowVisitor& visitor, std::uint32_t& committed)
      : visitor_(visitor), committed_(committed) {}

  void begin(const TextRules& rules) override { rules_ = rules; }

  void add(const RawEvent& event, std::uint64_t) override {
    const RowKind kind = row_kind(event);
    if (kind == RowKind::incomplete) return;
    if (kind != RowKind::range) {
      visitor_.row(kind, EventId::none, event, rules_);
      return;
    }
    if (!range_times(event)) return;
    visitor_.row(kind, static_cast<EventId>(committed_ + added_++), event, rules_);
  }

  void add_issue(IssueId, std::uint64_t) override {}

  void commit(std::uint64_t) override {
    committed_ += added_;
    added_ = 0;
    visitor_.keep();
  }

  void discard() override {
    added_ = 0;
    visitor_.drop();
  }

 private:
  RowVisitor& visitor_;
  std::uint32_t& committed_;
  std::uint32_t added_ = 0;
  TextRules rules_;
};

}  // namespace

Status replay_chrome(io::ByteSource& source, RowVisitor& visitor) {
  TraceBuilder unused;  // members and issues are known from the first pass
  std::uint32_t committed = 0;
  ChromeDocument document({.all_members = true}, unused, [&](const Wanted&) {
    return std::make_unique<Replayer>(visitor, committed);
  });
  return read_events(source, document, {.threads = 1});
}

}  // namespace tbtrace::readers
