#include "recorder/process/messages.h"

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace tbtrace::recorder {
namespace {

TEST(Messages, AreWrittenOnceWithACountAtTheEnd) {
  const auto program = [] {
    for (int number = 0; number < 3; ++number) warn("the profiler does not record");
    warn("another sentence");
    std::exit(0);
  };
  EXPECT_EXIT(program(), testing::ExitedWithCode(0),
              "^tbtrace: the profiler does not record\n"
              "tbtrace: another sentence\n"
              "tbtrace: 2 more times: the profiler does not record\n$");
}

TEST(Messages, GoToTheHandlerEachTime) {
  std::vector<std::string> said;
  const auto before =
      set_warning_handler([&](std::string_view sentence) { said.emplace_back(sentence); });
  warn("a");
  warn("a");
  set_warning_handler(before);
  EXPECT_EQ(said, (std::vector<std::string>{"a", "a"}));
}

}  // namespace
}  // namespace tbtrace::recorder
