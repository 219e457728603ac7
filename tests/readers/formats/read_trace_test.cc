// The public entry: paths and streams, plain and gzip, and what is said of those that are no trace.
#include <fstream>
#include <sstream>
#include <streambuf>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/trace.h>

#include "fixtures/archive_bytes.h"
#include "fixtures/chrome_text.h"
#include "fixtures/gzip_member.h"
#include "fixtures/read_text.h"
#include "fixtures/scratch_folder.h"

namespace tbtrace {
namespace {

using fixtures::describe;
using fixtures::gzip_member;
using fixtures::issue_counts;
using fixtures::op;
using testing::AllOf;
using testing::HasSubstr;

std::string small_text() { return fixtures::trace_text({op("a"), op("b")}); }

Result<Trace> read_stream(const std::string& text, const ReadOptions& options = {}) {
  std::istringstream stream(text);
  return read_trace(stream, options);
}

TEST(ReadTrace, ReadsFilesAndStreamsPlainAndGzip) {
  const fixtures::ScratchFolder folder;
  const std::string expected = describe(fixtures::read(small_text()));
  // The name says nothing, the content does.
  for (const std::string_view name : {"trace.json", "trace.json.gz", "a, b.txt"}) {
    for (const std::string& content : {small_text(), gzip_member(small_text())}) {
      const std::string path = folder.path(name);
      std::ofstream(path, std::ios::binary) << content;
      const Result<Trace> trace = read_trace(path);
      ASSERT_TRUE(trace.ok()) << trace.status().message();
      EXPECT_EQ(describe(*trace), expected);
      EXPECT_EQ(issue_counts(*trace), "");
      const Result<Trace> streamed = read_stream(content);
      ASSERT_TRUE(streamed.ok());
      EXPECT_EQ(describe(*streamed), expected);
    }
  }
}

void expect_unreadable(const Result<Trace>& trace, std::string_view cause,
                       std::string_view remedy) {
  ASSERT_FALSE(trace.ok());
  EXPECT_EQ(trace.status().code(), StatusCode::unreadable_input);
  EXPECT_THAT(trace.status().message(), AllOf(HasSubstr(cause), HasSubstr(remedy)));
}

TEST(ReadTrace, SaysWhyAnInputIsNoTraceAndWhatToDo) {
  expect_unreadable(read_stream(""), "empty", "the recording may have been stopped");
  expect_unreadable(read_stream(" \n"), "empty", "the recording may have been stopped");
  expect_unreadable(read_stream("<html><body>404</body></html>"), "a web page (HTML)",
                    "download it again");
  expect_unreadable(read_stream("{\"a\": 1}"), "traceEvents", "export_chrome_trace");
  expect_unreadable(read_stream("{\"rocprofiler-sdk-tool\": []}"), "rocprofv3", "record with");
  expect_unreadable(read_stream("\x28\xb5\x2f\xfd...."), "zstd", "");
}

TEST(ReadTrace, SaysTheSameOfWhatIsInsideGzip) {
  expect_unreadable(read_stream(gzip_member("")), "empty", "the recording may have been stopped");
  expect_unreadable(read_stream(gzip_member("<html>")), "web page", "download it again");
  expect_unreadable(read_stream(gzip_member("{}")), "traceEvents", "export_chrome_trace");
}

TEST(ReadTrace, FailsOnGzipThatIsNone) {
  expect_unreadable(read_stream("\x1f\x8b garbage that no inflater understands"), "gzip", "");
  expect_unreadable(read_stream("\x1f\x8b"), "gzip", "");
}

TEST(ReadTrace, FailsOnFilesThatCannotBeOpened) {
  const fixtures::ScratchFolder folder;
  expect_unreadable(read_trace(folder.path("absent.json")), "cannot open", "No such file");
  expect_unreadable(read_trace(folder.root().string()), "is a directory", "name the traces");
}

TEST(ReadTrace, ReadsTheOnlyTraceOfAnArchive) {
  const std::string expected = describe(fixtures::read(small_text()));
  const std::string tar = fixtures::tar_archive({{"README", "text"}, {"t.json", small_text()}});
  const std::string zip = fixtures::zip_archive({{"a/t.json.gz", gzip_member(small_text())}});
  const fixtures::ScratchFolder folder;
  for (const std::string& archive :
       {tar, gzip_member(tar), zip, fixtures::zip_archive({{"x", tar}})}) {
    const Result<Trace> streamed = read_stream(archive);
    ASSERT_TRUE(streamed.ok()) << streamed.status().message();
    EXPECT_EQ(describe(*streamed), expected);
    std::ofstream(folder.path("t.bin"), std::ios::binary) << archive;
    const Result<Trace> trace = read_trace(folder.path("t.bin"));
    ASSERT_TRUE(trace.ok()) << trace.status().message();
    EXPECT_EQ(describe(*trace), expected);
  }
  std::ofstream(folder.path("t.tar"), std::ios::binary) << tar;
  const Result<Trace> member = read_trace(folder.path("t.tar") + "/t.json");
  ASSERT_TRUE(member.ok()) << member.status().message();
  EXPECT_EQ(describe(*member), expected);
  expect_unreadable(read_stream(fixtures::tar_archive({{"README", "text"}})),
                    "is a tar archive without a trace", "name the file");
  expect_unreadable(
      read_stream(fixtures::zip_archive({{"a.json", small_text()}, {"b.json", small_text()}})),
      "is a zip archive of 2 files that may be traces",
      "name one, after the archive's path: .../a");
}

TEST(ReadTrace, KeepsWhatComesBeforeDamageInsideGzip) {
  std::vector<fixtures::ChromeEvent> events;
  for (int row = 0; row < 30'000; ++row) events.push_back(op("op " + std::to_string(row * 7919)));
  std::string packed = gzip_member(fixtures::trace_text(std::move(events)));
  const Result<Trace> cut = read_stream(packed.substr(0, packed.size() / 2));
  ASSERT_TRUE(cut.ok()) << cut.status().message();
  EXPECT_GT(cut->events().size(), 5000u);
  EXPECT_LT(cut->events().size(), 30'000u);
  EXPECT_EQ(issue_counts(*cut), "input_truncated 1, input_damaged 1");
  packed[packed.size() - 5] ^= 1;  // of the checksum and the size behind the data
  const Result<Trace> wrong = read_stream(packed);
  ASSERT_TRUE(wrong.ok());
  EXPECT_EQ(wrong->events().size(), 30'000u);
  EXPECT_EQ(issue_counts(*wrong), "input_damaged 1");
}

TEST(ReadTrace, FailsOnAnyIssueIfItIsStrict) {
  const std::string info = fixtures::trace_text({op("a", "5", "-1")});
  const std::string loss = small_text().substr(0, small_text().size() - 1);
  EXPECT_TRUE(read_stream(small_text(), {.strict = true}).ok());
  EXPECT_TRUE(read_stream(info).ok());
  EXPECT_TRUE(read_stream(loss).ok());
  for (const auto& [text, id] : {std::pair(info, "negative_duration"), {loss, "input_truncated"}}) {
    const Result<Trace> trace = read_stream(text, {.strict = true});
    ASSERT_FALSE(trace.ok()) << id;
    EXPECT_EQ(trace.status().code(), StatusCode::check_failed);
    EXPECT_THAT(trace.status().message(),
                AllOf(HasSubstr("strict"), HasSubstr("1 x"), HasSubstr(id)));
  }
}

TEST(ReadTrace, FailsOnAStreamThatFails) {
  class Broken : public std::streambuf {
    int_type underflow() override { throw std::runtime_error("the cable was pulled"); }
  };
  Broken buffer;
  std::istream stream(&buffer);
  const Result<Trace> trace = read_trace(stream);
  ASSERT_FALSE(trace.ok());
  EXPECT_THAT(trace.status().message(), HasSubstr("cannot read the stream"));
}

TEST(ReadTrace, ReadsAStreamToItsEnd) {
  std::istringstream stream(small_text() + "\n\n");
  ASSERT_TRUE(read_trace(stream).ok());
  EXPECT_EQ(stream.get(), std::istringstream::traits_type::eof());
}

}  // namespace
}  // namespace tbtrace
