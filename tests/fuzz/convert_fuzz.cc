// Any bytes that read as a trace, converted for both consumers: strict JSON that reads again,
// whole, with every range there was; the same on one thread and on several.
//
// If the first byte is 0x80 to 0xbf, a trace is made of the rest (grammar_text.h); else all bytes
// are the trace.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>

#include <tbtrace/convert.h>
#include <tbtrace/trace.h>

#include "chrome/convert/write_model_rows.h"
#include "chrome/rows/model_rows.h"
#include "fixtures/converted.h"
#include "fuzz/grammar_text.h"
#include "fuzz/require.h"
#include "io/sink.h"
#include "io/source.h"
#include "readers/chrome/reader.h"
#include "wire/json_strict.h"

namespace {

using namespace tbtrace;
using fixtures::Converted;
using fuzz::require;
using readers::Reading;

Result<Reading> read(std::string_view text) {
  constexpr readers::BlockSize kBlock = {std::size_t{32} << 10};
  const std::unique_ptr<io::ByteSource> source = io::memory_source(text);
  return readers::read_chrome(*source, {.threads = 1, .arguments = {}}, kBlock);
}

Converted rewritten(const Reading& reading, std::string_view text, Dialect dialect, int threads) {
  Converted converted;
  const std::unique_ptr<io::ByteSink> sink = io::memory_sink(converted.text);
  const Status status =
      fixtures::convert(reading, text, dialect, true, threads, *sink, converted.changes);
  require(status.ok(), "what was read can be read again, and memory takes all rows");
  return converted;
}

Converted from_model(const Trace& trace, Dialect dialect) {
  Converted converted;
  const std::unique_ptr<io::ByteSink> sink = io::memory_sink(converted.text);
  Result<Changes> changes = chrome::write_model_rows(trace, dialect, true, *sink);
  require(changes.ok(), "memory takes all rows");
  converted.changes = *std::move(changes);
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
  const Result<Trace> again = fixtures::try_read(converted.text);
  require(again.ok(), "what is written is a trace");
  const auto was_there = [&](const Issue& issue) {
    return std::any_of(trace.issues().begin(), trace.issues().end(),
                       [&](const Issue& before) { return before.id == issue.id; });
  };
  for (const Issue& issue : again->issues()) {
    // Rows of other phases are kept, and are as unknown as before; Kineto's dialect keeps more.
    if (issue.severity != Severity::data_loss || issue.id == "phase_unsupported") continue;
    if (dialect == Dialect::kineto && was_there(issue)) continue;
    std::fprintf(stderr, "%s in\n%s\n", issue.id.data(), converted.text.c_str());
    require(false, "what is written is read whole");
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

/// Events, each with a comma after it: more text than the second pass takes as one block.
std::string filler() {
  constexpr std::size_t kSize = std::size_t{150} << 10;
  std::string events;
  for (int number = 0; events.size() < kSize; ++number) {
    events += R"({"ph": "X", "cat": "cpu_op", "name": "aten::op)" + std::to_string(number % 7) +
              R"(", "pid": 1, "tid": 1, "ts": )" + std::to_string(number) +
              R"(, "dur": 0.5, "args": {"External id": )" + std::to_string(number) + "}},\n";
  }
  return events;
}

/// Some of the texts: long ones take long.
bool may_be_lengthened(std::string_view text, const readers::BlockDirectory& blocks) {
  const unsigned sum = std::accumulate(text.begin(), text.end(), 0U, [](unsigned before, char c) {
    return before * 31 + static_cast<unsigned char>(c);
  });
  return sum % 16 == 0 && !blocks.blocks().empty();
}

std::string trace_text(std::string_view input) {
  const bool are_choices = !input.empty() && (static_cast<unsigned char>(input[0]) & 0xc0) == 0x80;
  if (!are_choices) return std::string(input);
  return fuzz::GrammarText(input.substr(1), fuzz::Phases::unquoted_too).trace();
}

/// Converts the trace with many events before its own.
void check_on_threads(std::string_view text, const readers::BlockDirectory& blocks) {
  static const std::string kBefore = filler();
  std::string longer(text);
  longer.insert(blocks.blocks().front().offset, kBefore);
  const Result<Reading> reading = read(longer);
  if (!reading.ok()) return;
  const Converted one = rewritten(*reading, longer, Dialect::plugin, 1);
  const Converted two = rewritten(*reading, longer, Dialect::plugin, 2);
  require(one.text == two.text, "threads do not change what is written");
  require(one.changes == two.changes, "threads do not change what is told");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = trace_text({reinterpret_cast<const char*>(data), size});
  const Result<Reading> reading = read(text);
  if (!reading.ok()) return 0;
  if (may_be_lengthened(text, reading->blocks)) check_on_threads(text, reading->blocks);
  for (const Dialect dialect : {Dialect::plugin, Dialect::kineto}) {
    check(reading->trace, rewritten(*reading, text, dialect, 1), dialect);
    check(reading->trace, from_model(reading->trace, dialect), dialect);
  }
  return 0;
}
