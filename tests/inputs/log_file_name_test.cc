#include "inputs/log_file_name.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/utf8.h"
#include "fixtures/hostile_names.h"

namespace tbtrace::inputs {
namespace {

/// `worker|span`, or `-`.
std::string parsed(std::string_view base_name) {
  const std::optional<PluginName> name = parse_plugin_name(base_name);
  return name ? name->worker + "|" + name->span : "-";
}

// What Python's re finds with the plugin's pattern.
TEST(ParsePluginName, SeesWhatThePluginSees) {
  EXPECT_EQ(parsed("host_12.1690000000000000000.pt.trace.json"), "host_12|1690000000000000000");
  EXPECT_EQ(parsed("host_12.1690000000000.pt.trace.json.gz"), "host_12|1690000000000");
  EXPECT_EQ(parsed("worker0.pt.trace.json"), "worker0|");
  EXPECT_EQ(parsed("rank-0.Jul_15_10_52_41.1074.pt.trace.json.gz"), "rank-0.Jul_15_10_52_41|1074");
  EXPECT_EQ(parsed("a.1.2.pt.trace.json"), "a.1|2");
  EXPECT_EQ(parsed("12.pt.trace.json"), "12|");
  EXPECT_EQ(parsed("a12.pt.trace.json"), "a12|");
  EXPECT_EQ(parsed("a..1.pt.trace.json"), "a.|1");
  EXPECT_EQ(parsed("a..pt.trace.json"), "a.|");
  EXPECT_EQ(parsed("a.1x.pt.trace.json"), "a.1x|");
  EXPECT_EQ(parsed("..1.pt.trace.json"), ".|1");
  EXPECT_EQ(parsed("a b|c.1.pt.trace.json"), "a b|c|1");
  EXPECT_EQ(parsed("x.pt.trace.json.pt.trace.json"), "x.pt.trace.json|");
  EXPECT_EQ(parsed("x.pt.trace.json.gz.7.pt.trace.json.gz"), "x.pt.trace.json.gz|7");
  EXPECT_EQ(parsed("a.1.pt.trace.json\n"), "a|1");  // $ stands before a last newline too
}

TEST(ParsePluginName, PassesOverWhatThePluginPassesOver) {
  for (const std::string_view name :
       {"", "a", "a.json", "a.trace.json", "a.1.pt.trace.json.tmp-1-0",
        "a.1.pt.trace.json.gz.partial", "a.pt.trace.jsonx", "a.pt.trace.json.gz.gz",
        "a.PT.trace.json", "apt.trace.json", "a.pt.trace.json\n\n", "a\nb.1.pt.trace.json",
        "a\n.pt.trace.json", "pt.trace.json"}) {
    EXPECT_EQ(parsed(name), "-") << name;
  }
}

TEST(ParsePluginName, AnEmptyWorkerIsNone) {
  for (const std::string_view name :
       {".pt.trace.json", ".pt.trace.json.gz", ".123.pt.trace.json", ".123.pt.trace.json.gz"}) {
    EXPECT_EQ(parsed(name), "-") << name;
  }
}

TEST(TraceStem, StripsWhatTracesEndIn) {
  EXPECT_EQ(trace_stem("resnet50.pt.trace.json.gz"), "resnet50");
  EXPECT_EQ(trace_stem("resnet50.trace.json.gz"), "resnet50");
  EXPECT_EQ(trace_stem("resnet50.trace.json"), "resnet50");
  EXPECT_EQ(trace_stem("resnet50.json"), "resnet50");
  EXPECT_EQ(trace_stem("resnet50.gz"), "resnet50");
  EXPECT_EQ(trace_stem("resnet50.v2.json"), "resnet50.v2");
  EXPECT_EQ(trace_stem("host.17.pt.trace.json"), "host.17");
  EXPECT_EQ(trace_stem("plain"), "plain");
  EXPECT_EQ(trace_stem("a.json.json"), "a.json");
  EXPECT_EQ(trace_stem("a.gz.json"), "a.gz");
}

TEST(TraceStem, IsNeverEmpty) {
  for (const std::string_view name :
       {"", ".json", ".gz", ".json.gz", ".pt.trace.json.gz", ".trace.json", "trace.json"}) {
    EXPECT_EQ(trace_stem(name), "trace") << name;
  }
}

TEST(SafeName, LeavesGoodNamesAlone) {
  for (const std::string_view name :
       {"a", "host_3", "run 1", "a.b", "Zürich", "試験", "😀", "a~", "-x", "\xc2\xa0", "a.."}) {
    EXPECT_EQ(safe_name(name), name);
  }
}

TEST(SafeName, ReplacesWhatCannotStandInAPath) {
  EXPECT_EQ(safe_name("a/b\\c"), "a_b_c");
  EXPECT_EQ(safe_name("../../etc/passwd"), "___.._etc_passwd");
  EXPECT_EQ(safe_name(std::string_view("a\0b", 3)), "a_b");
  EXPECT_EQ(safe_name("a\nb\tc\x1b[31m\x7f"), "a_b_c_[31m_");
  EXPECT_EQ(safe_name("a\xc2\x80\xc2\x9f"
                      "b"),
            "a__b");  // C1
  EXPECT_EQ(safe_name("a\xff\xc3(\xe2\x82"), "a__(__");
  EXPECT_EQ(safe_name(".hidden"), "_hidden");
  EXPECT_EQ(safe_name("...a.b"), "___a.b");
}

TEST(SafeName, IsNeverEmptyNorAFolderOfItsOwn) {
  EXPECT_EQ(safe_name(""), "_");
  EXPECT_EQ(safe_name("."), "_");
  EXPECT_EQ(safe_name(".."), "__");
}

TEST(SafeName, CutsBetweenCharacters) {
  EXPECT_EQ(safe_name(std::string(150, 'x')), std::string(150, 'x'));
  EXPECT_EQ(safe_name(std::string(151, 'x')), std::string(150, 'x'));
  EXPECT_EQ(safe_name(std::string(149, 'x') + "ü" + "y"), std::string(149, 'x'));
  EXPECT_EQ(safe_name(std::string(148, 'x') + "üy"), std::string(148, 'x') + "ü");
  EXPECT_EQ(safe_name(std::string(147, 'x') + "😀"), std::string(147, 'x'));
}

TEST(SafeName, AnyBytesGiveOne) {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const std::string text = {static_cast<char>(first), static_cast<char>(second)};
      const std::string name = safe_name(text);
      ASSERT_TRUE(is_utf8(name)) << first << ' ' << second;
      ASSERT_FALSE(name.empty());
      ASSERT_NE(name.front(), '.');
      ASSERT_EQ(name.find('/'), std::string::npos);
      ASSERT_EQ(safe_name(name), name);
    }
  }
}

TEST(WorkerName, IsSafeAndNotReserved) {
  EXPECT_EQ(worker_name("All"), "All_");
  EXPECT_EQ(worker_name("all"), "all");
  EXPECT_EQ(worker_name("Allen"), "Allen");
  EXPECT_EQ(worker_name("host/1"), "host_1");
  EXPECT_EQ(worker_name(""), "_");
}

TEST(NumberedWorker, KeepsNodeAndProcess) {
  EXPECT_EQ(numbered_worker("host_3", 2), "host-2_3");
  EXPECT_EQ(numbered_worker("a_1_2", 3), "a_1-3_2");
  EXPECT_EQ(numbered_worker("a_1_b", 2), "a-2_1_b");  // the plugin looks at the start only
  EXPECT_EQ(numbered_worker("a_12.x", 2), "a-2_12.x");
  EXPECT_EQ(numbered_worker("_3", 2), "-2_3");
}

TEST(NumberedWorker, OthersGetTheNumberAtTheirEnd) {
  EXPECT_EQ(numbered_worker("trace", 2), "trace-2");
  EXPECT_EQ(numbered_worker("trace", 12), "trace-12");
  EXPECT_EQ(numbered_worker("my_trace", 2), "my_trace-2");
  EXPECT_EQ(numbered_worker("a_", 2), "a_-2");
  EXPECT_EQ(numbered_worker("5", 2), "5-2");
  EXPECT_EQ(numbered_worker("_", 2), "_-2");
}

TEST(LogFileName, HasAStartOfNineteenDigits) {
  EXPECT_EQ(log_file_name("host_3", 1700000000123456789, true),
            "host_3.1700000000123456789.pt.trace.json.gz");
  EXPECT_EQ(log_file_name("host_3", 5, false), "host_3.0000000000000000005.pt.trace.json");
  EXPECT_EQ(log_file_name("w", 0, false), "w.0000000000000000000.pt.trace.json");
  EXPECT_EQ(log_file_name("w", -1, false), "w.0000000000000000000.pt.trace.json");
  EXPECT_EQ(log_file_name("w", std::numeric_limits<std::int64_t>::min(), false),
            "w.0000000000000000000.pt.trace.json");
  EXPECT_EQ(log_file_name("w", std::numeric_limits<std::int64_t>::max(), false),
            "w.9223372036854775807.pt.trace.json");
}

TEST(LogFileName, ThePluginFindsTheWorkerInIt) {
  std::vector<std::string_view> wanted_names = {"host_3",          "a.b",     "a.5", "5", "All", "",
                                                "x.pt.trace.json", ".hidden", "a.gz"};
  wanted_names.insert(wanted_names.end(), fixtures::kHostileNames.begin(),
                      fixtures::kHostileNames.end());
  for (const std::string_view wanted : wanted_names) {
    const std::string worker = worker_name(wanted);
    for (const std::string& name : {worker, numbered_worker(worker, 2)}) {
      for (const bool use_gzip : {false, true}) {
        EXPECT_EQ(parsed(log_file_name(name, 17, use_gzip)), name + "|0000000000000000017");
      }
    }
  }
}

}  // namespace
}  // namespace tbtrace::inputs
