// One trace in many layouts: what it means does not depend on how it is written.
#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "fixtures/chrome_text.h"
#include "fixtures/random_rounds.h"
#include "fixtures/read_text.h"

namespace tbtrace::readers {
namespace {

using fixtures::ChromeEvent;
using fixtures::ChromeText;
using fixtures::describe;
using fixtures::first_difference;
using fixtures::issue_counts;
using fixtures::Layout;
using fixtures::op;
using fixtures::read;

/// Something of everything.
ChromeText rich_trace() {
  ChromeText trace;
  trace.before = {{"schemaVersion", "1"}, {"deviceProperties", "[]"}, {"with_flops", "1"}};
  ChromeEvent label;
  label.with("ph", "\"M\"").with("name", "\"thread_name\"").with("ts", "1.500");
  label.with("pid", "19165").with("tid", "19165").arg("name", "\"thread 19165 (python)\"");
  ChromeEvent instant;
  instant.with("ph", "\"i\"").with("cat", "\"cpu_instant_event\"").with("s", "\"t\"");
  instant.with("name", "\"[memory]\"").with("pid", "1").with("tid", "1").with("ts", "12.001");
  instant.arg("Bytes", "-1024").arg("Device Id", "-1").arg("Device Type", "0").arg("Ev Idx", "3");
  ChromeEvent start;
  start.with("ph", "\"s\"").with("id", "4").with("pid", "1").with("tid", "1").with("ts", "11");
  start.with("cat", "\"ac2g\"").with("name", "\"ac2g\"");
  ChromeEvent end = start;
  end.with("ph", "\"f\"").with("tid", "\"stream 7\"").with("ts", "20").with("bp", "\"e\"");
  trace.events = {
      label,
      op("ProfilerStep#3", "1.500", "100.125")
          .with("cat", "\"user_annotation\"")
          .arg("Ev Idx", "0"),
      op("aten::mm", "10.000", "5.250")
          .arg("External id", "6659")
          .arg("Sequence number", "390")
          .arg("Fwd thread id", "0")
          .arg("Input Dims", "[[32, 28], [], [[1], [2]]]")
          .arg("Input type", "[\"float\", \"Scalar\", \"TensorList\"]")
          .arg("Concrete Inputs", "[\"\", \"[1, 2]\", \"\"]")
          .arg("Ev Idx", "2"),
      instant,
      op("cudaLaunchKernel", "11", "1")
          .with("cat", "\"cuda_runtime\"")
          .arg("correlation", "77")
          .arg("cbid", "211"),
      start,
      op("void gemm<float, 4>(float*)", "20", "9.999")
          .with("cat", "\"kernel\"")
          .with("pid", "0")
          .with("tid", "\"stream 7\"")
          .arg("correlation", "77")
          .arg("grid", "[1, 2, 3]"),
      end,
      op("f.py(3): g", "30", "1").with("cat", "\"python_function\"").arg("Python id", "9"),
      op("open", "31", "1")
          .arg("Call stack", "\"a.py(1): f;b.py(2): g;\"")
          .arg("finished", "false"),
  };
  trace.after = {{"baseTimeNanoseconds", "1790857026000000000"}, {"traceName", "\"t.json\""}};
  return trace;
}

TEST(ChromeLayouts, AllMeanTheSame) {
  const ChromeText trace = rich_trace();
  const std::string expected = describe(read(trace.text(Layout::minified)));
  for (const Layout layout : fixtures::kAllLayouts) {
    const Trace other = read(trace.text(layout));
    EXPECT_EQ(first_difference(describe(other), expected), "") << trace.text(layout);
    EXPECT_EQ(issue_counts(other), "");
  }
}

TEST(ChromeLayouts, OfKinetoAreKnownByTheFirstEvent) {
  // Only there may a name hold quotes and stay whole.
  ChromeText trace;
  trace.events = {op("a"), op(R"(say "hi", "b": "c)")};
  for (const Layout layout : {Layout::kineto_lines, Layout::kineto_inline}) {
    EXPECT_EQ(fixtures::names(read(trace.text(layout)))[1], R"(say "hi", "b": "c)");
  }
}

std::string with_carriage_returns(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\n') result += '\r';
    result += c;
  }
  return result;
}

TEST(ChromeLayouts, MayEndTheirLinesAsWindowsDoes) {
  const ChromeText trace = rich_trace();
  const std::string expected = describe(read(trace.text()));
  for (const Layout layout : fixtures::kAllLayouts) {
    const Trace other = read(with_carriage_returns(trace.text(layout)));
    EXPECT_EQ(first_difference(describe(other), expected), "");
    EXPECT_EQ(issue_counts(other), "");
  }
}

/// The text with blanks around every bracket, comma and colon.
std::string with_blanks(std::string_view text, std::mt19937& random) {
  constexpr std::string_view kBlanks = " \n\r\t";
  const auto blanks = [&] {
    std::string result;
    for (auto count = random() % 4; count > 0; --count) result += kBlanks[random() % 4];
    return result;
  };
  std::string result;
  bool in_string = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const bool structural = !in_string && std::string_view("{}[],:").find(c) != text.npos;
    if (c == '"' && (at == 0 || text[at - 1] != '\\')) in_string = !in_string;
    if (structural) result += blanks();
    result += c;
    if (structural) result += blanks();
  }
  return result;
}

TEST(ChromeLayouts, MayHoldBlanksAnywhere) {
  // Values that are lists or objects keep their text, blanks and all.
  ChromeText plain = rich_trace();
  std::erase_if(plain.before, [](const auto& member) { return member.second == "[]"; });
  for (ChromeEvent& event : plain.events) {
    std::erase_if(event.arguments, [](const auto& member) {
      return member.first.starts_with("Input") || member.first == "Concrete Inputs";
    });
  }
  const std::string expected = describe(read(plain.text()));
  for (unsigned seed = 0; seed < fixtures::random_rounds(200u); ++seed) {
    std::mt19937 random(seed);
    const std::string blank = with_blanks(plain.text(), random);
    const Trace other = read(blank);
    ASSERT_EQ(first_difference(describe(other), expected), "") << blank;
    ASSERT_EQ(issue_counts(other), "") << blank;
  }
}

TEST(ChromeLayouts, MayHaveTheirKeysInAnyOrder) {
  const ChromeText trace = rich_trace();
  const std::string expected = describe(read(trace.text()));
  for (unsigned seed = 0; seed < fixtures::random_rounds(300u); ++seed) {
    std::mt19937 random(seed);
    ChromeText shuffled = trace;
    for (ChromeEvent& event : shuffled.events) {
      std::shuffle(event.arguments.begin(), event.arguments.end(), random);
      if (!event.arguments.empty()) {
        event.with("args", "{" + fixtures::joined(event.arguments, ":", ",") + "}");
        event.arguments.clear();
      }
      std::shuffle(event.members.begin(), event.members.end(), random);
    }
    std::shuffle(shuffled.before.begin(), shuffled.before.end(), random);
    const Layout layouts[] = {Layout::minified, Layout::event_a_line, Layout::spaced,
                              Layout::indented};
    const std::string text = shuffled.text(layouts[seed % 4]);
    const Trace other = read(text);
    ASSERT_EQ(first_difference(describe(other), expected), "") << text;
    ASSERT_EQ(issue_counts(other), "") << text;
  }
}

TEST(ChromeLayouts, MayHoldKeysThatNobodyKnows) {
  const ChromeText trace = rich_trace();
  const std::string expected = describe(read(trace.text()));
  const std::vector<std::string> values = {"1",
                                           "\"text\"",
                                           "null",
                                           "[]",
                                           "{}",
                                           "[[1, {\"a\": \"]}\"}], \"\\\"\"]",
                                           "{\"ph\": \"X\", \"args\": {\"name\": 5}}"};
  for (unsigned seed = 0; seed < fixtures::random_rounds(200u); ++seed) {
    std::mt19937 random(seed);
    ChromeText more = trace;
    for (ChromeEvent& event : more.events) {
      for (int key = 0; key < 3; ++key) {
        const std::string name = "key " + std::to_string(random() % 500);
        const std::string& value = values[random() % values.size()];
        event.with(name, value);
        if (!event.arguments.empty()) event.arg(name, value);
      }
      std::shuffle(event.arguments.begin(), event.arguments.end(), random);
      std::shuffle(event.members.begin(), event.members.end(), random);
    }
    const std::string text = more.text(Layout::spaced);
    ASSERT_EQ(first_difference(describe(read(text)), expected), "") << text;
  }
}

}  // namespace
}  // namespace tbtrace::readers
