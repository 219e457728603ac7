#include "readers/formats/other_files.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/archive_bytes.h"
#include "readers/formats/json_members.h"
#include "readers/formats/protobuf_shape.h"

namespace tbtrace::readers {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A field of protobuf with a length of less than 128.
std::string field(int number, std::string_view content) {
  return std::string() + static_cast<char>(number << 3 | 2) + static_cast<char>(content.size()) +
         std::string(content);
}

std::string sqlite(std::string_view schema) {
  return std::string("SQLite format 3\0", 16) + std::string(100, '\0') + std::string(schema);
}

TEST(OtherFiles, AreNamed) {
  const std::string pickle = "\x80\x04\x95\x10";
  const std::string event = std::string("\x18\0\0\0\0\0\0\0crc!", 12) + "\x09" +
                            std::string(8, 'd') +
                            "\x1a\x0d"
                            "brain.Event:2";
  const std::string plane = field(1, std::string("\x08\x01", 2) + field(2, "/host:CPU"));
  const std::string packet = field(1, "\x40\x05\x50\x01");  // timestamp, sequence
  const std::vector<std::pair<std::string, std::string>> files = {
      {R"({"schema": "1.1.1-chakra.0.0.4", "pid": 7, "time": "x", "nodes": [{"id": 1)",
       "execution trace"},
      {R"({ "schema" : "1.0.1", "nodes" : [] })", "execution trace"},
      {R"({"schema": "tbtrace.ops/1", "rows": [)", "a result that tbtrace wrote"},
      {R"({"$schema": "https://www.speedscope.app/file-format-schema.json", "profiles": [)",
       "speedscope"},
      {R"({"meta": {}, "libs": [], "threads": [)", "Firefox Profiler"},
      {R"({"cells": [], "nbformat": 4})", "Jupyter"},
      {"[[0, 1, 2], [[3, 4]]]", "memory timeline"},
      {pickle + "\x8c\x08segments\x94]\x8c\x0d"
                "device_traces",
       "`tbtrace memory`"},
      {pickle + "segments total_size allocated_size", "memory snapshot"},
      {pickle + "}", "Python pickle"},
      {fixtures::zip_archive({{"x.npy", "\x93NUMPY"}}), "NumPy archive"},
      {std::string("\x93NUMPY\x01\0", 8), "NumPy array"},
      {fixtures::zip_archive({{"model/data.pkl", pickle}}), "torch.save()"},
      {sqlite("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL"), "Nsight Systems export"},
      {sqlite("CREATE TABLE rocpd_op"), "rpd2tracing.py"},
      {sqlite("CREATE TABLE users"), "SQLite database"},
      {std::string("NVR\0....", 8), "Nsight Compute"},
      {std::string("\0\0QuadDCommon", 13), "Nsight Systems report"},
      {event, "tensorboard --logdir"},
      {plane + plane, "xplane.pb"},
      {field(1, field(2, "Task Environment")), "xplane.pb"},
      {packet + packet, "ui.perfetto.dev"},
      {"\n <!DOCTYPE HTML><html>", "web page"},
      {"<HTML lang=en>", "web page"},
      {std::string("\xff\xfe{\0", 4), "UTF-16"},
      {"\x04\x22\x4d\x18....", "lz4 -d"},
      {"7z\xbc\xaf\x27\x1c", "7z x"},
      {"Rar!\x1a\x07\x01", "unrar x"},
      {"PAR1....", "Parquet"},
      {"\x7f"
       "ELF",
       "a program or library"},
  };
  for (const auto& [start, sentence] : files) {
    EXPECT_THAT(std::string(other_file(start)), HasSubstr(sentence)) << start;
  }
}

TEST(OtherFiles, TracesAndTextAreNotAmongThem) {
  for (const std::string_view start :
       {"", "{", "[", "{}", "[{\"ph\": \"X\"}]", "name,self", "%PDF", "\n\n text \n more",
        R"({"schemaVersion": 1, "deviceProperties": [], "traceEvents": [)",
        R"({"schema": 1, "nodes": [], "traceEvents": []})",
        R"({"traceEvents": [{"args": {"schema": 1, "nodes": []}}]})",
        R"({"displayTimeUnit": "ns", "meta": {"libs": 1, "threads": 2}, "traceEvents": [)"}) {
    EXPECT_EQ(other_file(start), "") << start;
  }
}

TEST(OtherFiles, MayBeCutAnywhere) {
  for (const std::string& whole :
       {fixtures::zip_archive({{"x.npy", "x"}}), sqlite("rocpd_op"), std::string(40, '\0'),
        std::string("\x80\x04}", 3), field(1, field(2, "/host:CPU")), std::string("{\"a\\\": 1}"),
        std::string("{\"schema\": \"tbtrace.ops/1\"}")}) {
    for (std::size_t size = 0; size <= whole.size(); ++size) {
      EXPECT_LT(other_file(std::string_view(whole).substr(0, size)).size(), 300U);
    }
  }
}

TEST(JsonMembers, AreThoseOfTheFirstLevel) {
  EXPECT_THAT(member_names(R"( {"a" : {"b": 1}, "c":["d", {"e": 2}], "f\"g": "h:", "i")"),
              ElementsAre("a", "c", R"(f\"g)"));
  for (const std::string_view text : {"", "[]", "[{\"a\": 1}]", "{\"a\\", "{\"", "\"a\": 1"}) {
    EXPECT_THAT(member_names(text), IsEmpty()) << text;
  }
}

TEST(ProtobufShape, KnowsWhatIsCut) {
  const std::string bytes = field(1, "abc") + field(3, "defgh");
  EXPECT_EQ(protobuf_fields(bytes, true).size(), 2U);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_LE(protobuf_fields(bytes.substr(0, size), false).size(), 2U);
    const bool is_whole = size == 0 || size == 5;
    EXPECT_EQ(protobuf_fields(bytes.substr(0, size), true).empty(), !is_whole || size == 0) << size;
  }
  EXPECT_THAT(protobuf_fields("{\"traceEvents\"", false), IsEmpty());
  EXPECT_THAT(protobuf_fields(std::string(20, '\xff'), false), IsEmpty());
}

}  // namespace
}  // namespace tbtrace::readers
