// From a piece of the `traceEvents` array to events, which it gives to its consumer.
// Owns its index and the consumer; one thread at a time. Views are not kept.
// Proper JSON goes through the fast index; a piece that is not, event by event through the scanner.
// An event that neither understands is counted and left out, and reading goes on at the next one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "readers/chrome_tokenizer.h"
#include "readers/event_consumer.h"
#include "wire/json_index.h"
#include "wire/json_scanner.h"

namespace tbtrace::readers {

class ChromeParser {
 public:
  /// `all_members`: events are given with all that they hold.
  ChromeParser(std::unique_ptr<EventConsumer> consumer, bool all_members)
      : consumer_(std::move(consumer)), tokenizer_(all_members) {}

  struct Progress {
    std::size_t consumed = 0;  ///< text up to here is done with
    bool array_ended = false;  ///< the bracket that closes the array was the last thing consumed
  };

  /// Reads the events of `text`, which starts between two events and must be followed by
  /// wire::kJsonPadding readable bytes. Stops before an event that is not whole. `last`: no more
  /// text will come.
  Progress parse(std::string_view text, wire::Quoting quoting, bool last);

  /// Only the first event, by the scanner; for a text of which nothing is known yet.
  Progress parse_one(std::string_view text, wire::Quoting quoting, bool last);

  EventConsumer& consumer() { return *consumer_; }

 private:
  enum class Stop : std::uint8_t { none, need_text, array_end };

  void start(std::string_view text, wire::Quoting quoting, bool last);
  Stop walk_index(std::size_t& at);
  Stop scan_event(std::size_t& at);
  bool may_start_event(std::size_t at) const;
  std::size_t next_event(std::size_t at) const;

  std::unique_ptr<EventConsumer> consumer_;
  wire::JsonIndex index_;
  wire::JsonScanner scanner_;
  ChromeTokenizer tokenizer_;
  RawEvent event_;
  std::string_view text_;
  wire::Quoting quoting_ = wire::Quoting::escaped;
  bool last_ = false;
  std::size_t rescans_left_ = 0;  // bytes of broken events that may be looked at once more
};

}  // namespace tbtrace::readers
