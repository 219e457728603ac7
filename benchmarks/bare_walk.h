// What reading is compared with: a walk over text that is in memory already, which touches every
// key and every value and keeps nothing.
// A walker owns its parser and reuses it; one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <simdjson.h>

namespace tbtrace::benchmarks {

/// The bytes of a file, inflated if they are gzip, and room behind them for the parser. Null, and
/// a line on standard error, if it cannot be read.
std::unique_ptr<simdjson::padded_string> read_text(const std::string& path);

class BareWalk {
 public:
  struct Seen {
    std::uint64_t events = 0;  ///< elements of `traceEvents`, or of the outer array
    std::uint64_t bytes = 0;   ///< of keys and values, so that the walk has a result
    bool sound = true;
  };

  Seen run(const simdjson::padded_string& text);

 private:
  simdjson::ondemand::parser parser_;
};

}  // namespace tbtrace::benchmarks
