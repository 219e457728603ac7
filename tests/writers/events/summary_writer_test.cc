#include <chrono>
#include <cmath>
#include <limits>
#include <regex>
#include <stdexcept>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tbtrace/summary_writer.h>

#include "fixtures/event_reading.h"
#include "fixtures/file_size_limit.h"
#include "fixtures/scratch_folder.h"

namespace tbtrace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

class SummaryWriterTest : public testing::Test {
 protected:
  SummaryWriterOptions options() const { return {.log_dir = folder_.root()}; }

  /// Events with a value in the run, or in one below it.
  std::vector<proto::Event> values(const std::string& run = "") const {
    std::vector<proto::Event> with_value;
    for (proto::Event& event : fixtures::events_in(folder_.path(run))) {
      if (event.has_summary()) with_value.push_back(std::move(event));
    }
    return with_value;
  }

  fixtures::ScratchFolder folder_;
};

TEST_F(SummaryWriterTest, WritesScalarsAsFloatsOfTheirStep) {
  SummaryWriter writer(options());
  const double before = static_cast<double>(::time(nullptr));
  writer.add_scalar("loss/train", 0.1, 10);
  writer.add_scalar("loss/train", 1e300, 11, 5.25);
  writer.add_scalar("loss/train", std::nan(""), 12, std::numeric_limits<double>::infinity());
  ASSERT_TRUE(writer.close().ok());
  const auto events = values();
  ASSERT_THAT(events, SizeIs(3));
  EXPECT_EQ(events[0].step(), 10);
  EXPECT_GE(events[0].wall_time(), before);
  EXPECT_LE(events[0].wall_time(), before + 1000);
  EXPECT_EQ(events[0].summary().value(0).tensor().float_val(0), 0.1F);
  EXPECT_EQ(events[1].wall_time(), 5.25);
  EXPECT_EQ(events[1].summary().value(0).tensor().float_val(0),
            std::numeric_limits<float>::infinity());
  EXPECT_GE(events[2].wall_time(), before);
  EXPECT_TRUE(std::isfinite(events[2].wall_time()));
}

TEST_F(SummaryWriterTest, MakesARunForEachOfSeveralScalars) {
  SummaryWriter writer(options());
  writer.add_scalars("a/loss", {{"train", 0.25}, {"../x/y", 0.5}}, 3);
  ASSERT_TRUE(writer.close().ok());
  const auto train = values("a_loss_train");
  ASSERT_THAT(train, SizeIs(1));
  EXPECT_EQ(train[0].summary().value(0).tag(), "a/loss");
  EXPECT_EQ(train[0].step(), 3);
  EXPECT_THAT(values("a_loss_.._x_y"), SizeIs(1));
  EXPECT_THAT(folder_.names(), SizeIs(3)) << "nothing is elsewhere";
}

TEST_F(SummaryWriterTest, MakesTextsValid) {
  SummaryWriter writer(options());
  writer.add_text("bad\xff tag", "bad \xc0\xaf text", 1);
  writer.add_scalar("bad\xff tag", 1, 1);
  writer.add_scalar(std::string_view("nul\0and\n", 8), 1, 1);
  writer.add_scalar(std::string(1 << 20, 'x'), 1, 1);
  writer.add_scalar("", 1, 1);
  ASSERT_TRUE(writer.close().ok());
  const auto events = values();
  ASSERT_THAT(events, SizeIs(5));
  EXPECT_EQ(events[0].summary().value(0).tag(), "bad\xef\xbf\xbd tag/text_summary");
  EXPECT_EQ(events[0].summary().value(0).tensor().string_val(0),
            "bad \xef\xbf\xbd\xef\xbf\xbd text");
  EXPECT_EQ(events[1].summary().value(0).tag(), "bad\xef\xbf\xbd tag");
  EXPECT_EQ(events[2].summary().value(0).tag(), std::string("nul\0and\n", 8));
  EXPECT_THAT(events[3].summary().value(0).tag(), SizeIs(1 << 20));
}

TEST_F(SummaryWriterTest, TakesValuesOfBothPrecisionsForHistograms) {
  SummaryWriter writer(options());
  const std::vector<float> floats = {0.25F, 0.5F, 2};
  const std::vector<double> doubles = {0.25, 0.5, 2};
  const std::vector<double> edges = {0, 1, 2};
  const std::vector<double> limits = {1, 2};
  const std::vector<double> counts = {2, 1};
  writer.add_histogram("floats", floats, 1, {.edges = edges});
  writer.add_histogram("doubles", doubles, 1, {.edges = edges});
  writer.add_histogram_raw("raw", 0.25, 2, limits, counts, 1);
  writer.add_histogram("default", doubles, 1);
  ASSERT_TRUE(writer.close().ok());
  const auto events = values();
  ASSERT_THAT(events, SizeIs(4));
  for (std::size_t number = 0; number < 3; ++number) {
    EXPECT_THAT(events[number].summary().value(0).tensor().double_val(),
                ElementsAre(0.25, 1, 2, 1, 2, 1));
  }
  EXPECT_GT(events[3].summary().value(0).tensor().double_val_size(), 6);
}

TEST_F(SummaryWriterTest, TakesPicturesAsFilesAndAsPixels) {
  SummaryWriter writer(options());
  const std::vector<std::uint8_t> samples(4 * 3 * 3, 200);
  writer.add_image("pixels", {.width = 4, .height = 3, .channels = 3, .samples = samples}, 1);
  ASSERT_TRUE(writer.flush().ok());
  const auto tensor = values().at(0).summary().value(0).tensor();
  EXPECT_EQ(tensor.string_val(0), "4");
  EXPECT_EQ(tensor.string_val(1), "3");
  writer.add_image("file", tensor.string_val(2), 2);
  ASSERT_TRUE(writer.close().ok());
  EXPECT_EQ(values().at(1).summary().value(0).tensor().string_val(2), tensor.string_val(2));
}

TEST_F(SummaryWriterTest, MakesARunForHyperparameters) {
  SummaryWriter writer(options());
  writer.add_hparams({{"lr", 0.1}, {"batch_size", 64}, {"opt", "sgd"}}, {{"accuracy", 0.93}},
                     "one");
  writer.add_hparams({{"lr", 0.2}}, {});
  ASSERT_TRUE(writer.flush().ok());
  const auto events = values("one");
  ASSERT_THAT(events, SizeIs(3));
  EXPECT_EQ(events[0].summary().value(0).tag(), "_hparams_/session_start_info");
  EXPECT_EQ(events[2].summary().value(0).tag(), "accuracy");
  EXPECT_THAT(values(), SizeIs(0));
  writer.add_hparams({{"lr", 0.1}}, {{"accuracy", 0.9}}, ".", 4);
  ASSERT_TRUE(writer.flush().ok());
  EXPECT_THAT(values(), SizeIs(3));
  EXPECT_THAT(folder_.names(), SizeIs(4)) << "file, lock, and two runs";
}

TEST_F(SummaryWriterTest, RefusesWhatTheCallerGotWrong) {
  SummaryWriter writer(options());
  const std::vector<double> none;
  const std::vector<double> one = {1};
  const std::vector<double> falling = {2, 1};
  const std::vector<std::uint8_t> labels = {1};
  const std::vector<float> predictions = {0.5F, 0.5F};
  EXPECT_THROW(writer.add_histogram("h", none), std::invalid_argument);
  EXPECT_THROW(writer.add_histogram("h", one, 0, {.edges = one}), std::invalid_argument);
  EXPECT_THROW(writer.add_histogram("h", one, 0, {.edges = falling}), std::invalid_argument);
  EXPECT_THROW(writer.add_histogram_raw("h", 0, 1, one, none), std::invalid_argument);
  EXPECT_THROW(writer.add_image("i", "no picture"), std::invalid_argument);
  EXPECT_THROW(
      writer.add_image("i", Pixels{.width = 2, .height = 2, .channels = 3, .samples = labels}),
      std::invalid_argument);
  EXPECT_THROW(writer.add_pr_curve("p", labels, predictions), std::invalid_argument);
  EXPECT_THROW(writer.add_custom_scalars({{"c", {{"t", CustomChart::Kind::margin, {"a"}}}}}),
               std::invalid_argument);
  EXPECT_THROW(writer.add_text("t", std::string((std::size_t{256} << 20) + 1, 'x')),
               std::invalid_argument);
  EXPECT_THROW(SummaryWriter({.log_dir = folder_.path("x"), .filename_suffix = "/y"}),
               std::invalid_argument);
  EXPECT_THROW(SummaryWriter({.log_dir = folder_.path("x"), .flush_secs = std::nan("")}),
               std::invalid_argument);
  ASSERT_TRUE(writer.close().ok());
  EXPECT_THAT(values(), SizeIs(0));
}

TEST_F(SummaryWriterTest, NamesADirectoryAsPythonDoes) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.root());
  {
    const SummaryWriter writer({.comment = "-test"});
    EXPECT_TRUE(std::regex_match(
        writer.log_dir(), std::regex("runs/[A-Z][a-z]{2}\\d\\d_\\d\\d-\\d\\d-\\d\\d_.+-test")))
        << writer.log_dir();
    EXPECT_TRUE(std::filesystem::is_directory(writer.log_dir()));
  }
  std::filesystem::current_path(before);
}

TEST_F(SummaryWriterTest, OutlivesADirectoryThatCannotBe) {
  fixtures::write_whole_file(folder_.path("file"), "");
  SummaryWriter writer({.log_dir = folder_.path("file/run")});
  EXPECT_THAT(writer.status().message(), HasSubstr("cannot create"));
  writer.add_scalar("a", 1);
  writer.add_text("a", "b");
  writer.add_scalars("a", {{"b", 1}});
  EXPECT_EQ(writer.dropped(), 3);
  EXPECT_FALSE(writer.flush().ok());
  EXPECT_FALSE(writer.close().ok());
}

TEST_F(SummaryWriterTest, LosesNothingOfWhatAFullDiskHas) {
  SummaryWriter writer(options());
  for (int step = 0; step < 100; ++step) writer.add_scalar("a", step, step);
  ASSERT_TRUE(writer.flush().ok());
  const std::string file = fixtures::event_files(folder_.root()).at(0);
  const std::string before = fixtures::read_whole_file(file);
  {
    const fixtures::FileSizeLimit limit(before.size() + 100);
    for (int step = 100; step < 110; ++step) writer.add_scalar("a", step, step);
    const Status flushed = writer.flush();
    EXPECT_FALSE(flushed.ok());
    EXPECT_THAT(flushed.message(), HasSubstr("cannot write"));
    EXPECT_TRUE(fixtures::read_whole_file(file).starts_with(before));
    EXPECT_GE(values().size(), 100);
  }
  EXPECT_TRUE(writer.close().ok());
  EXPECT_THAT(values(), SizeIs(110));
}

TEST_F(SummaryWriterTest, IsLeftAloneByAForkedProcess) {
  {
    SummaryWriter writer(options());
    writer.add_scalar("a", 1, 1);
    const pid_t child = ::fork();
    if (child == 0) {
      writer.add_scalar("a", 2, 2);
      writer.~SummaryWriter();
      ::_exit(0);
    }
    int status = 1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    writer.add_scalar("a", 3, 3);
  }
  const auto events = values();
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_EQ(events[1].step(), 3);
}

TEST_F(SummaryWriterTest, ResumesBehindACutRecord) {
  {
    SummaryWriter writer(options());
    for (int step = 0; step < 10; ++step) writer.add_scalar("a", step, step);
  }
  const std::string first = fixtures::event_files(folder_.root()).at(0);
  const std::string text = fixtures::read_whole_file(first);
  fixtures::write_whole_file(first, text.substr(0, text.size() - 5));
  {
    SummaryWriter writer({.log_dir = folder_.root(), .purge_step = 9});
    writer.add_scalar("a", 9, 9);
  }
  std::vector<std::int64_t> steps;
  for (const auto& event : values()) steps.push_back(event.step());
  EXPECT_THAT(steps, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
  EXPECT_THAT(fixtures::event_files(folder_.root()), SizeIs(2));
}

}  // namespace
}  // namespace tbtrace
