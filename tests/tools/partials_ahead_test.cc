#include "partials_ahead.h"

#include <chrono>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/chrome_text.h"
#include "fixtures/scratch_folder.h"
#include "fixtures/whole_file.h"

namespace tbtrace::tools {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class PartialsAheadTest : public testing::Test {
 protected:
  /// A trace with `events` operators of its own names.
  std::string put(std::size_t number, std::size_t events) {
    fixtures::ChromeText text;
    for (std::size_t event = 0; event < events; ++event) {
      text.events.push_back(
          fixtures::op("op" + std::to_string(number), std::to_string(100 * event)));
    }
    return put_text("trace_" + std::to_string(number) + ".json", text.text());
  }
  std::string put_text(const std::string& name, const std::string& text) {
    fixtures::write_whole_file(folder.path(name), text);
    return folder.path(name);
  }

  static ReadOptions with_threads(int threads) {
    return {.threads = threads, .arguments = partial_arguments()};
  }
  static std::string alone(const std::string& path) {
    const Trace trace = *read_trace(path, with_threads(1));
    return *partial_bytes(*Partial::of(trace, path));
  }

  fixtures::ScratchFolder folder;
};

TEST_F(PartialsAheadTest, PartialsComeInTheOrderOfThePaths) {
  std::vector<std::string> paths;
  // The first ones take longest.
  for (std::size_t number = 0; number < 20; ++number) {
    paths.push_back(put(number, number < 3 ? 3000 : number));
  }
  for (const int threads : {0, 1, 2, 7, 50}) {
    PartialsAhead ahead(paths, with_threads(threads), {});
    for (std::size_t number = 0; number < paths.size(); ++number) {
      const MadePartial made = ahead.next();
      ASSERT_TRUE(made.is_trace);
      ASSERT_TRUE(made.partial.has_value());
      ASSERT_TRUE(made.partial->ok()) << made.partial->status().message();
      EXPECT_EQ(made.events, number < 3 ? 3000 : number);
      EXPECT_THAT(made.issues, IsEmpty());
      EXPECT_GE(made.milliseconds, 0);
      ASSERT_EQ(*partial_bytes(**made.partial), alone(paths[number])) << threads;
    }
  }
}

TEST_F(PartialsAheadTest, FilesThatFailCostThemselvesOnly) {
  const std::string whole = put(1, 5);
  const std::string text = fixtures::read_whole_file(whole);
  const std::string cut = put_text("cut.json", text.substr(0, text.size() - 20));
  const std::string noise = put_text("noise.json", "\x01\x02 noise");
  const std::string kept = folder.path("kept.tbp");
  ASSERT_TRUE(write_partial(*parse_partial(alone(whole)), kept).ok());
  const std::string missing = folder.path("missing.json");
  const std::string merged = put_text(
      "merged.json", R"({"schemaVersion": 1, "mergedRanks": {"parts": []}, "traceEvents": []})");
  PartialsAhead ahead({missing, noise, cut, kept, merged, whole}, with_threads(3), {});
  EXPECT_THAT(ahead.next().read.message(), HasSubstr("No such file"));
  const MadePartial unreadable = ahead.next();
  EXPECT_EQ(unreadable.read.code(), StatusCode::unreadable_input);
  EXPECT_FALSE(unreadable.partial.has_value());
  const MadePartial damaged = ahead.next();
  ASSERT_TRUE(damaged.read.ok());
  ASSERT_FALSE(damaged.issues.empty());
  EXPECT_EQ(damaged.issues.front().id, "input_truncated");
  EXPECT_EQ(damaged.partial->status().code(), StatusCode::ok);
  EXPECT_FALSE(ahead.next().is_trace);   // whoever takes it reads it
  EXPECT_FALSE(ahead.next().read.ok());  // a merged trace is of no rank
  EXPECT_EQ(ahead.next().events, 5u);
}

TEST_F(PartialsAheadTest, OptionsAreThoseOfEachPartial) {
  const std::string path = put(1, 5);
  PartialsAhead ahead({path, path}, with_threads(2), {.group_by_stack_n = 3});
  EXPECT_EQ((*ahead.next().partial)->options().group_by_stack_n, 3);
  PartialsAhead strict({put_text("cut.json", "{\"traceEvents\": [")},
                       {.threads = 1, .strict = true, .arguments = partial_arguments()}, {});
  EXPECT_FALSE(strict.next().read.ok());
}

TEST_F(PartialsAheadTest, NotFarAheadOfWhatIsTaken) {
  std::vector<std::string> paths = {put(0, 1), put(1, 1)};
  for (int number = 2; number < 8; ++number) {
    paths.push_back(folder.path("trace_" + std::to_string(number) + ".json"));
  }
  PartialsAhead ahead(paths, with_threads(1), {});
  // A thread makes two ahead. It would find the others missing if it were faster than that.
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  for (std::size_t number = 2; number < paths.size(); ++number) put(number, number);
  for (std::size_t number = 0; number < paths.size(); ++number) {
    ASSERT_TRUE(ahead.next().read.ok()) << number;
  }
}

TEST_F(PartialsAheadTest, EndsWithoutMakingWhatNobodyTakes) {
  std::vector<std::string> paths;
  for (std::size_t number = 0; number < 12; ++number) paths.push_back(put(number, 2000));
  for (const int threads : {1, 4}) {
    PartialsAhead none_taken(paths, with_threads(threads), {});
    PartialsAhead one_taken(paths, with_threads(threads), {});
    EXPECT_TRUE(one_taken.next().read.ok());
  }
  const PartialsAhead of_nothing({}, with_threads(2), {});
}

}  // namespace
}  // namespace tbtrace::tools
