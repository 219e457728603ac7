#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <zlib.h>

#include "fixtures/drained.h"
#include "fixtures/failing_sink.h"
#include "io/sink.h"
#include "io/source.h"

namespace tbtrace::io {
namespace {

using fixtures::drain;
using fixtures::Drained;
using fixtures::FailingSink;
using fixtures::SinkLog;

std::string packed(std::string_view text, std::size_t piece) {
  std::string bytes;
  const std::unique_ptr<ByteSink> sink = gzip_sink(memory_sink(bytes));
  while (!text.empty()) {
    const std::string_view part = text.substr(0, piece);
    EXPECT_TRUE(sink->write(part).ok());
    text.remove_prefix(part.size());
  }
  EXPECT_TRUE(sink->close().ok());
  return bytes;
}

std::string unpacked(std::string_view bytes) {
  Result<std::unique_ptr<ByteSource>> source = decompressed(memory_source(bytes));
  if (!source.ok()) return "failed: " + source.status().message();
  Drained drained = drain(**source, std::size_t{64} << 10);
  if (!drained.end.ok()) return "failed: " + drained.end.message();
  return std::move(drained.text);
}

/// Compresses somewhat, as traces do.
std::string events(std::size_t size) {
  std::mt19937 random(7);
  std::string text;
  while (text.size() < size) {
    text += R"({"ph": "X", "name": "aten::op)" + std::to_string(random() % 50) + R"(", "ts": )" +
            std::to_string(random()) + "},\n";
  }
  text.resize(size);
  return text;
}

std::string noise(std::size_t size) {
  std::mt19937 random(11);
  std::string text(size, '\0');
  std::generate(text.begin(), text.end(), [&] { return static_cast<char>(random()); });
  return text;
}

TEST(GzipSink, GivesBackNothingAndSingleBytes) {
  EXPECT_EQ(unpacked(packed("", 1)), "");
  for (int byte = 0; byte < 256; ++byte) {
    const std::string text(1, static_cast<char>(byte));
    EXPECT_EQ(unpacked(packed(text, 1)), text) << byte;
  }
}

TEST(GzipSink, GivesBackTextsOfAllSizes) {
  for (const std::size_t size :
       {2, 3, 100, 32767, 32768, 65535, 65536, 262143, 262144, 262145, 524288, 600000}) {
    for (const std::string& text : {events(size), noise(size), std::string(size, 'a')}) {
      EXPECT_TRUE(unpacked(packed(text, text.size())) == text) << size;
    }
  }
}

TEST(GzipSink, TheCutIntoWritesDoesNotShow) {
  const std::string text = events(700001);
  const std::string whole = packed(text, text.size());
  EXPECT_TRUE(unpacked(whole) == text);
  EXPECT_LT(whole.size(), text.size() / 2);
  for (const std::size_t piece : {1, 7, 4099, 262143, 262144, 262145}) {
    EXPECT_TRUE(packed(text, piece) == whole) << piece;
  }
}

TEST(GzipSink, EmptyWritesAreNothing) {
  std::string bytes;
  const std::unique_ptr<ByteSink> sink = gzip_sink(memory_sink(bytes));
  EXPECT_TRUE(sink->write("").ok());
  EXPECT_TRUE(sink->write("text").ok());
  EXPECT_TRUE(sink->write("").ok());
  EXPECT_TRUE(sink->close().ok());
  EXPECT_TRUE(bytes == packed("text", 4));
}

TEST(GzipSink, GivesBackTwentyMegabytes) {
  for (const std::string& text : {events(20000000), noise(20000000)}) {
    const std::string bytes = packed(text, 1000003);
    EXPECT_LT(bytes.size(), text.size() + text.size() / 100);
    EXPECT_TRUE(unpacked(bytes) == text);
  }
}

// Read by another library than the one that wrote, where that is ISA-L.
TEST(GzipSink, HasNeitherTimeNorName) {
  std::string bytes = packed("text", 4);
  z_stream stream = {};
  ASSERT_EQ(inflateInit2(&stream, 16 + MAX_WBITS), Z_OK);
  std::string name(100, 'x');
  gz_header header = {};
  header.name = reinterpret_cast<Bytef*>(name.data());
  header.name_max = static_cast<uInt>(name.size());
  ASSERT_EQ(inflateGetHeader(&stream, &header), Z_OK);
  std::string text(100, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  EXPECT_EQ(stream.avail_in, 0U);
  text.resize(stream.total_out);
  EXPECT_EQ(text, "text");
  EXPECT_EQ(header.done, 1);
  EXPECT_EQ(header.time, 0U);
  EXPECT_EQ(header.name, nullptr);  // zlib: there was none
  inflateEnd(&stream);
}

TEST(GzipSink, ReachesTheSinkOnlyAsFarAsBlocksWent) {
  SinkLog log;
  {
    const std::unique_ptr<ByteSink> sink =
        gzip_sink(std::make_unique<FailingSink>(log, FailingSink::kEndless));
    EXPECT_TRUE(sink->write(noise(1000000)).ok());
  }
  EXPECT_GT(log.text.size(), 500000U);  // it streams
  EXPECT_EQ(log.closes, 0);             // not closed: nothing may appear
}

TEST(GzipSink, ClosesItsSinkOnce) {
  SinkLog log;
  const std::unique_ptr<ByteSink> sink =
      gzip_sink(std::make_unique<FailingSink>(log, FailingSink::kEndless));
  EXPECT_TRUE(sink->write("text").ok());
  EXPECT_TRUE(sink->close().ok());
  EXPECT_EQ(log.closes, 1);
  EXPECT_EQ(unpacked(log.text), "text");
}

TEST(GzipSink, AFailedWriteIsToldAndStays) {
  const std::string text = noise(300000);
  for (const std::size_t room : {0, 5, 70000, 200000}) {
    SinkLog log;
    const std::unique_ptr<ByteSink> sink = gzip_sink(std::make_unique<FailingSink>(log, room));
    EXPECT_EQ(sink->write(text).message(), "the disk is full") << room;
    EXPECT_EQ(sink->write("more").message(), "the disk is full");
    EXPECT_EQ(sink->write("").message(), "the disk is full");
    const Status closed = sink->close();
    EXPECT_EQ(closed.message(), "the disk is full");
    EXPECT_EQ(closed.code(), StatusCode::unwritable_output);
    EXPECT_EQ(log.writes_after_failure, 0);
    EXPECT_EQ(log.closes, 0);
  }
}

TEST(GzipSink, AWriteThatFailsAtTheEndIsToldByClose) {
  SinkLog log;
  const std::unique_ptr<ByteSink> sink = gzip_sink(std::make_unique<FailingSink>(log, 3));
  EXPECT_TRUE(sink->write("short").ok());
  EXPECT_EQ(sink->close().message(), "the disk is full");
  EXPECT_EQ(sink->close().message(), "the disk is full");
  EXPECT_EQ(log.closes, 0);
}

TEST(GzipSink, AFailedCloseIsToldAndStays) {
  SinkLog log;
  const std::unique_ptr<ByteSink> sink =
      gzip_sink(std::make_unique<FailingSink>(log, FailingSink::kEndless, true));
  EXPECT_TRUE(sink->write("text").ok());
  EXPECT_EQ(sink->close().message(), "the disk is gone");
  EXPECT_EQ(sink->write("more").message(), "the disk is gone");
  EXPECT_EQ(sink->close().message(), "the disk is gone");
  EXPECT_EQ(log.closes, 1);
}

}  // namespace
}  // namespace tbtrace::io
