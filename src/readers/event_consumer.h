// What is done with the events of a Chrome trace: each reading thread has a consumer of its own.
// To do something else with them, implement EventConsumer and give read_events() a way to make it.
// A consumer belongs to one thread at a time; commit() is called under a lock, in the file's order.
// Nothing that was added counts before commit(): a guess where text may be cut can be wrong.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "readers/chrome_tokenizer.h"
#include "readers/event_text.h"
#include "trace/issues.h"

namespace tbtrace::readers {

/// What the caller of the reader asked for.
struct Wanted {
  bool inputs = true;
  bool inputs_for_flops_only = false;
  bool call_stacks = true;
  /// All members of events instead of those that mean something to the model.
  bool all_members = false;
};

class EventConsumer {
 public:
  virtual ~EventConsumer() = default;

  /// Says how the texts of the events that follow were written.
  virtual void begin(const TextRules& rules) = 0;

  /// Takes an event that starts at `offset` of the block. Its texts are valid during the call.
  virtual void add(const RawEvent& event, std::uint64_t offset) = 0;

  /// Something at `offset` of the block was left out.
  virtual void add_issue(IssueId id, std::uint64_t offset) = 0;

  /// What was added since the last call counts; `offset` is where its block starts in the file.
  virtual void commit(std::uint64_t offset) = 0;

  /// What was added since the last call does not count, it will come again.
  virtual void discard() = 0;
};

using MakeConsumer = std::function<std::unique_ptr<EventConsumer>(const Wanted& wanted)>;

}  // namespace tbtrace::readers
