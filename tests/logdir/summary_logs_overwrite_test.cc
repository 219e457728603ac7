// Event files of traces that were converted before: they are overwritten on request only, in their
// places.

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/convert.h>

#include "logdir/summary_log_folder.h"

namespace tbtrace {
namespace {

using State = ConvertedInput::State;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

TEST_F(SummaryLogs, AreNotOverwrittenUnasked) {
  const std::string path = input("w.json", {});
  convert({path});
  const auto before = contents();
  Conversion again = convert({path});
  EXPECT_EQ(again.inputs[0].state, State::failed);
  EXPECT_THAT(again.inputs[0].status.message(), HasSubstr("exists already"));
  EXPECT_EQ(contents(), before);
  options.log.overwrite = true;
  again = convert({path});
  EXPECT_EQ(again.inputs[0].state, State::written);
  EXPECT_EQ(contents(), before) << "the same bytes";
}

TEST_F(SummaryLogs, OverwrittenOnesStayInTheirPlaceIfTheyFit) {
  options.log.worker = "w";
  options.log.run = "job";
  std::vector<std::string> inputs;
  for (const int first : {7, 7, 17}) {
    inputs.push_back(
        input("w" + std::to_string(inputs.size()) + ".json",
              {.base = kBase + 10 * static_cast<int>(inputs.size()), .steps = {first, first + 1}}));
  }
  convert(inputs);
  const auto before = contents();
  EXPECT_THAT(steps("job/w"), ElementsAre(7, 8, 9, 10, 17, 18));
  options.log.overwrite = true;
  convert(inputs);
  EXPECT_EQ(contents(), before);
  convert({inputs[1]});
  EXPECT_EQ(contents(), before);
  // In another order, which is another order of the loaders.
  convert({inputs[2], inputs[0], inputs[1]});
  EXPECT_THAT(contents(), SizeIs(3));
  const auto after = steps("job/w");
  EXPECT_TRUE(std::is_sorted(after.begin(), after.end()));
  EXPECT_EQ(std::set<std::int64_t>(after.begin(), after.end()).size(), 6);
  convert({input("w0.json", {.steps = {100, 101, 102}})});
  EXPECT_THAT(contents(), SizeIs(3));
  const auto grown = steps("job/w");
  EXPECT_TRUE(std::is_sorted(grown.begin(), grown.end()));
  EXPECT_EQ(grown.back(), 102);
  EXPECT_THAT(grown, SizeIs(7));
}

TEST_F(SummaryLogs, OverwrittenOnesLeaveARunItsLayoutAndHyperparametersOnce) {
  options.log.worker = "w";
  options.log.run = "job";
  options.log.overwrite = true;
  const auto window = [&](int number, int step) {
    return input("w" + std::to_string(number) + ".json",
                 {.base = kBase + 10 * number, .steps = {step}, .member = R"({"rank": 1})"});
  };
  convert({window(0, 1), window(1, 2)});
  // Each fits no longer where it stood, so it goes behind the other: first that with the layout,
  // then the one without, then both in one call.
  const std::vector<std::vector<std::string>> calls = {
      {window(0, 3)}, {window(0, 4)}, {window(1, 5)}, {window(0, 6), window(1, 7)}};
  for (const std::vector<std::string>& inputs : calls) {
    convert(inputs);
    EXPECT_THAT(contents(), SizeIs(2));
    EXPECT_THAT(steps("job/w", "custom_scalars__config__"), ElementsAre(0));
    EXPECT_THAT(steps("job/w", "_hparams_/session_start_info"), ElementsAre(0));
  }
}

TEST_F(SummaryLogs, OverwrittenOnesHaveTheDetailsOfTheLastWindowOnce) {
  options.log.worker = "w";
  options.log.run = "job";
  std::vector<std::string> inputs;
  for (int window = 0; window < 7; ++window) {
    inputs.push_back(input("w" + std::to_string(window) + ".json",
                           {.base = kBase + 10 * window, .steps = {10 * window}}));
  }
  convert(inputs);
  const auto before = contents();
  EXPECT_THAT(before, SizeIs(8)) << "and the last one's details";
  EXPECT_THAT(steps("job/w", kTable), ElementsAre(0, 10, 20, 30, 40, 60));
  options.log.overwrite = true;
  convert(inputs);
  EXPECT_EQ(contents(), before);
  // Its steps do not fit between its neighbours' any more.
  convert({input("w6.json", {.base = kBase + 60, .steps = {5}}),
           input("w5.json", {.base = kBase + 50, .steps = {50, 60, 70, 80}})});
  EXPECT_THAT(contents(), SizeIs(8));
  EXPECT_THAT(steps("job/w"), ElementsAre(0, 10, 20, 30, 40, 51, 52, 62, 72, 82));
  EXPECT_THAT(steps("job/w", kTable), ElementsAre(0, 10, 20, 30, 40, 82));
  const Result<Trace> trace = read_trace(inputs[5]);
  ASSERT_TRUE(trace.ok());
  ASSERT_TRUE(write_log_directory(*trace, log, options.log).ok());
  EXPECT_THAT(contents(), SizeIs(7)) << "the details are in its own file";
  EXPECT_THAT(steps("job/w", kTable), ElementsAre(0, 10, 20, 30, 40, 82));
}

}  // namespace
}  // namespace tbtrace
