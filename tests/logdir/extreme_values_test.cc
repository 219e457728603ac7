// What dialects write of times, sizes and ids at the ends of their ranges is strict JSON, and
// profiles of them are records; nothing overflows, which is what the sanitizer checks.
#include <cstddef>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "chrome/plugin/row_writer.h"
#include "fixtures/event_reading.h"
#include "fixtures/extreme_trace.h"
#include "fixtures/random_rounds.h"
#include "logdir/profile_summaries.h"
#include "wire/json_strict.h"

namespace tbtrace::logdir {
namespace {

using fixtures::ExtremeTrace;
using fixtures::random_rounds;

std::string json_of(const Trace& trace) {
  std::string text;
  const chrome::RowWriter writer(trace, true);
  chrome::RowTexts texts = writer.texts();
  writer.begin(text);
  for (std::size_t row = 0; row < trace.events().size(); ++row) {
    writer.range(static_cast<EventId>(row), {}, texts, text);
  }
  for (const MemoryRecord& record : trace.memory()) {
    writer.memory(record, writer.places().of_track(record.track), {}, text);
  }
  writer.end(text);
  return text;
}

TEST(ExtremeValues, AreWrittenAsStrictJson) {
  for (unsigned seed = 0; seed < random_rounds(1000u); ++seed) {
    SCOPED_TRACE(seed);
    const Trace trace = ExtremeTrace(seed).make();
    const std::string text = json_of(trace);
    std::string copy;
    ASSERT_TRUE(wire::append_strict_json(copy, text, true)) << text;
    ASSERT_EQ(text.find("\"dur\":-"), std::string::npos) << text;
  }
}

TEST(ExtremeValues, MakeProfileEvents) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE(seed);
    const Trace trace = ExtremeTrace(seed).make();
    ProfileSummaries profile(trace, true);
    const std::int64_t next = profile.place_at(fixtures::kMostInteger);
    ASSERT_GT(next, profile.first_step());
    const std::string records = profile.about_run() + profile.steps() + profile.details().records();
    ASSERT_FALSE(fixtures::events_of(records).empty());
  }
}

}  // namespace
}  // namespace tbtrace::logdir
