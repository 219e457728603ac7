#include "inputs/trace_names.h"

#include <string_view>

#include <gtest/gtest.h>

namespace tbtrace::inputs {
namespace {

TEST(TraceNames, OfTracesWhateverTheirCompressionAndCase) {
  for (const std::string_view name :
       {"a.json", "a.pt.trace.json", "TRACE.JSON", "a.json.gz", "a.Json.ZST", "a.json.zstd",
        "a.json.xz", "a.json.bz2", "a.json.lz4", "a.json.br", "a.json.7z", "a.json.gz.gz",
        "a.json.zst.gz", "a.json.zip", "a.json.tar.gz", ".json"}) {
    EXPECT_TRUE(what_name_says(name).trace) << name;
    EXPECT_FALSE(what_name_says(name).unfinished) << name;
  }
  for (const std::string_view name : {"", "json", "a.jsonl", "a.json.bak", "a.json.txt", "a.gz",
                                      "a.tar.gz", "a.zip", "a.json~", "trace.pickle"}) {
    EXPECT_FALSE(what_name_says(name).trace) << name;
  }
}

TEST(TraceNames, OfArchives) {
  for (const std::string_view name : {"a.zip", "A.ZIP", "a.tar", "a.tgz", "a.tar.gz", "a.tar.zst",
                                      "a.tar.xz", "a.tbz2", "a.json.zip"}) {
    EXPECT_TRUE(what_name_says(name).archive) << name;
  }
  for (const std::string_view name : {"a.json", "a.json.gz", "a.gz", "tar", "a.target"}) {
    EXPECT_FALSE(what_name_says(name).archive) << name;
  }
}

TEST(TraceNames, OfTracesThatAreNotFinished) {
  for (const std::string_view name :
       {"a.json.tmp", "a.json.gz.part", "a.JSON.TMP", "a.json.tmp4711", "a.json.tmp-4711-0",
        "a.json.tmp.4711", "a.json.gz.tmp_x", "a.json.crdownload", "a.json.partial",
        "a.json.zst.filepart", "a.json.temp", "a.json.incomplete"}) {
    EXPECT_TRUE(what_name_says(name).unfinished) << name;
    EXPECT_FALSE(what_name_says(name).trace) << name;
  }
  for (const std::string_view name : {"a.tmp", "tmp", ".tmp", "a.json.tmpl", "a.json.template",
                                      "a.txt.part", "a.json.1", "a.json", "part"}) {
    EXPECT_FALSE(what_name_says(name).unfinished) << name;
  }
}

TEST(TraceNames, OfTheProfilersHandlers) {
  EXPECT_TRUE(is_name_of_handler("w.1.pt.trace.json"));
  EXPECT_TRUE(is_name_of_handler("w.1.pt.trace.json.zst"));
  EXPECT_FALSE(is_name_of_handler("w.json"));
  EXPECT_FALSE(is_name_of_handler("w.pt.trace"));
}

TEST(TraceNames, LoseTheirPacking) {
  EXPECT_EQ(without_packing("ranks.tar.gz"), "ranks");
  EXPECT_EQ(without_packing("r.json.gz"), "r.json");
  EXPECT_EQ(without_packing("r.json"), "r.json");
}

}  // namespace
}  // namespace tbtrace::inputs
