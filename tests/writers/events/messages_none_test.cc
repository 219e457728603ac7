// Of builds without protobuf.
#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/summary_writer.h>

#include "fixtures/scratch_folder.h"
#include "writers/events/messages.h"

namespace tbtrace::writers {
namespace {

TEST(EventsWithoutProtobuf, SayWhatToInstall) {
  const Status can = can_write_events();
  EXPECT_EQ(can.code(), StatusCode::invalid_argument);
  EXPECT_THAT(can.message(), testing::HasSubstr("install libprotobuf-dev and protobuf-compiler"));
}

TEST(EventsWithoutProtobuf, ASummaryWriterMakesNoFolderCountsValuesAndSaysWhy) {
  const fixtures::ScratchFolder folder;
  const std::string log_dir = folder.path("run");
  SummaryWriter writer({.log_dir = log_dir});
  writer.add_scalar("loss", 1.5);
  writer.add_text("note", "text");
  writer.add_hparams({{"lr", 0.1}}, {{"accuracy", 0.9}}, "trial");
  EXPECT_EQ(writer.flush().message(), can_write_events().message());
  EXPECT_EQ(writer.status().message(), can_write_events().message());
  EXPECT_EQ(writer.dropped(), 5U);
  EXPECT_FALSE(std::filesystem::exists(log_dir));
}

}  // namespace
}  // namespace tbtrace::writers
