#include "io/text_sink.h"

#include <cstddef>
#include <string>

#include <gtest/gtest.h>

#include "fixtures/failing_sink.h"

namespace tbtrace::io {
namespace {

using fixtures::FailingSink;
using fixtures::SinkLog;

constexpr std::size_t kEnough = std::size_t{64} << 10;

TEST(TextSink, HandsOnNothingUntilThereIsEnough) {
  SinkLog log;
  FailingSink sink(log, FailingSink::kEndless);
  TextSink out(sink);
  out.text() += "a";
  EXPECT_TRUE(out.flow());
  EXPECT_EQ(log.text, "");
  out.text().append(kEnough, 'b');
  EXPECT_TRUE(out.flow());
  EXPECT_EQ(log.text.size(), kEnough + 1);
  EXPECT_EQ(out.text(), "");
}

TEST(TextSink, HandsOnTheRestAtTheEndAndLeavesTheSinkOpen) {
  SinkLog log;
  FailingSink sink(log, FailingSink::kEndless);
  TextSink out(sink);
  out.text() += "ab";
  EXPECT_TRUE(out.finish().ok());
  EXPECT_EQ(log.text, "ab");
  EXPECT_EQ(log.closes, 0);
}

TEST(TextSink, StopsAtTheFirstFailureAndTellsIt) {
  SinkLog log;
  FailingSink sink(log, kEnough);
  TextSink out(sink);
  out.text().append(kEnough, 'a');
  EXPECT_TRUE(out.flow());
  out.text().append(kEnough, 'b');
  EXPECT_FALSE(out.flow());
  out.text() += "c";
  EXPECT_FALSE(out.flow());
  EXPECT_EQ(out.finish().message(), "the disk is full");
  EXPECT_EQ(log.writes_after_failure, 0);
  EXPECT_EQ(log.text, std::string(kEnough, 'a'));
}

TEST(TextSink, MakesAWholeTextInMemory) {
  const std::string text = text_of([](TextSink& out) {
    for (std::size_t piece = 0; piece < 3; ++piece) {
      out.text().append(kEnough, 'a');
      EXPECT_TRUE(out.flow());
    }
    out.text() += "b";
  });
  EXPECT_EQ(text, std::string(3 * kEnough, 'a') + "b");
}

}  // namespace
}  // namespace tbtrace::io
