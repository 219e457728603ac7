// Any bytes that read as a trace, converted for both consumers: strict JSON that reads again,
// whole, with every range there was.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <tbtrace/convert.h>
#include <tbtrace/trace.h>

#include "converters/model_rows.h"
#include "converters/row_rewriter.h"
#include "dialects/row_writer.h"
#include "fuzz/require.h"
#include "io/sink.h"
#include "io/source.h"
#include "readers/chrome_reader.h"
#include "readers/replay.h"
#include "wire/json_strict.h"

namespace {

using namespace tbtrace;
using fuzz::require;

struct Converted {
  std::string text;
  Changes changes;
};

Converted rewritten(const Trace& trace, std::string_view text, Dialect dialect) {
  Converted converted;
  dialects::RowWriter writer(trace, dialect, true);
  const std::unique_ptr<io::ByteSink> sink = io::memory_sink(converted.text);
  converters::RowRewriter rewriter(trace, writer, *sink);
  const std::unique_ptr<io::ByteSource> source = io::memory_source(text);
  require(readers::replay_chrome(*source, rewriter).ok(), "what was read can be read again");
  require(rewriter.finish().ok(), "memory takes all rows");
  converted.changes = writer.changes();
  return converted;
}

Converted from_model(const Trace& trace, Dialect dialect) {
  Converted converted;
  dialects::RowWriter writer(trace, dialect, true);
  const std::unique_ptr<io::ByteSink> sink = io::memory_sink(converted.text);
  require(converters::write_model_rows(trace, writer, *sink).ok(), "memory takes all rows");
  converted.changes = writer.changes();
  return converted;
}

/// append_strict_json() refuses it for that alone.
bool is_nested_too_deep(std::string_view json) {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t at = 0; at < json.size(); ++at) {
    const char c = json[at];
    if (in_string) {
      if (c == '\\') ++at;
      in_string = c != '"';
      continue;
    }
    in_string = c == '"';
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (depth > 100) return true;
  }
  return false;
}

std::uint64_t count_of(const Changes& changes, std::string_view id) {
  const auto found = changes.find(id);
  return found == changes.end() ? 0 : found->second;
}

void check(const Trace& trace, const Converted& converted, Dialect dialect) {
  std::string copy;
  require(
      wire::append_strict_json(copy, converted.text, true) || is_nested_too_deep(converted.text),
      "what is written is strict JSON");
  const std::unique_ptr<io::ByteSource> source = io::memory_source(converted.text);
  const Result<Trace> again = readers::read_chrome(*source, {.threads = 1});
  require(again.ok(), "what is written is a trace");
  for (const Issue& issue : again->issues()) {
    // Rows of other phases are kept, and are as unknown as before.
    require(issue.severity != Severity::data_loss || issue.id == "phase_unsupported",
            "what is written is read whole");
  }
  const std::uint64_t added = count_of(converted.changes, "launches_added") +
                              2 * count_of(converted.changes, "window_marked");
  require(again->events().size() == trace.events().size() + added, "every range is written once");
  for (const auto& [id, count] : converted.changes) {
    require(count > 0, "what did not happen is not told");
    require(!change_sentence(id).empty(), "every change has its sentence");
  }
  if (dialect == Dialect::kineto) require(added == 0, "today's readers need no rows more");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::unique_ptr<io::ByteSource> source = io::memory_source(text);
  const Result<Trace> trace =
      readers::read_chrome(*source, {.threads = 1, .inputs = false, .call_stacks = false});
  if (!trace.ok()) return 0;
  for (const Dialect dialect : {Dialect::plugin, Dialect::kineto}) {
    check(*trace, rewritten(*trace, text, dialect), dialect);
    check(*trace, from_model(*trace, dialect), dialect);
  }
  return 0;
}
