// The arguments of an event as debug annotations of a Perfetto trace: numbers as numbers, texts by
// their numbers. Refers to a trace and to Packets. One thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/trace.h>

#include "writers/exports/perfetto_packets.h"

namespace tbtrace::writers::perfetto {

class Annotations {
 public:
  Annotations(const Trace& trace, Packets& packets);

  /// Appends those of an event to a TrackEvent.
  void append(std::string& event, EventId of);
  /// Appends one text of the trace.
  void append_text(std::string& event, std::string_view name, StringId text);
  void append_integer(std::string& event, std::string_view name, std::int64_t value);

 private:
  struct Column {
    const ArgumentColumn* values;
    std::string_view name;
    ArgumentType type;
    std::size_t number;  // of its name
  };

  void start(std::size_t number, std::string_view name);
  void finish(std::string& event) const;
  void append_integer(std::string& event, std::size_t number, std::string_view name,
                      std::int64_t value);
  void append_true_or_false(std::string& event, std::size_t number, std::string_view name,
                            bool value);

  const Trace& trace_;
  Packets& packets_;
  std::vector<Column> columns_;
  std::string annotation_;
};

}  // namespace tbtrace::writers::perfetto
