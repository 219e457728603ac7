#include "recorder/window/collective_arguments.h"

#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recorder/window/hand_written.h"
#include "recorder/window/read_window.h"
#include "wire/json_strict.h"

namespace tbtrace::recorder {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

Collective all_reduce() {
  return {.name = "allreduce",
          .element_type = "Float",
          .in_elements = 2049000,
          .out_elements = 2049001,
          .in_splits = "[]",
          .out_splits = "[3, 4]",
          .rank = 1,
          .first_rank = 4,
          .rank_stride = 2,
          .group_size = 2,
          .group = "7",
          .group_description = "default_pg",
          .group_ranks = "[4, 6]",
          .sequence = 12,
          .id = std::numeric_limits<std::uint64_t>::max(),
          .is_async = true};
}

/// The arguments of a row with what `add` adds.
std::string arguments_of(void (*add)(RowBatch&, const Collective&), const Collective& collective) {
  struct Members final : EventSink {
    std::string text;
    void add(const EventBatch& rows) override {
      for (const RowMember& member : rows.arguments) {
        text += fmt::format(", \"{}\": {}", member.key, member.json);
      }
    }
    void restart() override {}
  } members;
  RowBatch batch(members, 0, 0, {.members = true});
  add(batch, collective);
  batch.pass_on();
  return members.text;
}

std::string of_range(const Collective& collective) {
  return arguments_of(add_collective, collective);
}

std::string of_kernel(const Collective& collective) {
  return arguments_of(add_collective_of_kernel, collective);
}

TEST(Collective, ARangeHasAllThatIsKnown) {
  EXPECT_EQ(of_range(all_reduce()),
            R"(, "Collective name": "allreduce", "dtype": "Float", "In msg nelems": 2049000)"
            R"(, "Out msg nelems": 2049001, "In split size": "[]", "Out split size": "[3, 4]")"
            R"(, "Global rank start": 4, "Global rank stride": 2, "Group size": 2)"
            R"(, "Process Group Name": "7", "Process Group Description": "default_pg")"
            R"(, "Process Group Ranks": "[4, 6]", "Rank": 1, "Seq": 12)"
            R"(, "Comms Id": 18446744073709551615, "Is asynchronized op": 1)");
}

TEST(Collective, TruthIsAWordWhereTorchWritesOne) {
  Collective collective = all_reduce();
  collective.has_words = true;
  EXPECT_THAT(of_range(collective), EndsWith(R"(, "Is asynchronized op": true)"));
  collective.is_async = false;
  EXPECT_THAT(of_range(collective), EndsWith(R"(, "Is asynchronized op": false)"));
}

TEST(Collective, AKernelHasItInKinetosOrder) {
  EXPECT_EQ(of_kernel(all_reduce()),
            R"(, "Collective name": "allreduce", "In msg nelems": 2049000)"
            R"(, "Out msg nelems": 2049001, "Group size": 2, "dtype": "Float")"
            R"(, "In split size": "[]", "Out split size": "[3, 4]")"
            R"(, "Process Group Name": "7", "Process Group Description": "default_pg")"
            R"(, "Process Group Ranks": "[4, 6]", "Seq": 12, "Comms Id": 18446744073709551615)");
}

TEST(Collective, WhatIsNotKnownIsLeftOut) {
  const Collective of_old_torch = {
      .name = "wait", .element_type = "Byte", .in_splits = "[]", .out_splits = "[]"};
  EXPECT_EQ(of_range(of_old_torch),
            R"(, "Collective name": "wait", "dtype": "Byte", "In msg nelems": 0)"
            R"(, "Out msg nelems": 0, "In split size": "[]", "Out split size": "[]", "Rank": 0)");
  EXPECT_EQ(of_kernel(of_old_torch),
            R"(, "Collective name": "wait", "In msg nelems": 0, "Out msg nelems": 0)"
            R"(, "dtype": "Byte", "In split size": "[]", "Out split size": "[]")");
}

TEST(Collective, MessagesHaveTheirEnds) {
  Collective send = all_reduce();
  send.receiver = 6;
  EXPECT_THAT(of_range(send), HasSubstr(R"("Rank": 1, "Dst Rank": 6, "Seq")"));
  EXPECT_THAT(of_kernel(send), HasSubstr(R"("[4, 6]", "Dst Rank": 6, "Seq")"));
  Collective receive = all_reduce();
  receive.sender = 4;
  EXPECT_THAT(of_range(receive), HasSubstr(R"("Rank": 1, "Src Rank": 4, "Seq")"));
  EXPECT_THAT(of_kernel(receive), HasSubstr(R"("[4, 6]", "Src Rank": 4, "Seq")"));
}

TEST(Collective, LongListsAreCutAsTorchCutsThem) {
  const auto list = [](std::size_t length) {
    std::vector<std::int64_t> numbers(length);
    std::iota(numbers.begin(), numbers.end(), -1);
    return shown_list(numbers);
  };
  EXPECT_EQ(list(0), "[]");
  EXPECT_EQ(list(1), "[-1]");
  const std::string first_29 =
      "[-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, "
      "24, 25, 26, 27, ";
  EXPECT_EQ(list(30), first_29 + "28]");
  EXPECT_EQ(list(31), first_29 + "..., 29]");
  EXPECT_EQ(list(100'000), first_29 + "..., 99998]");
}

TEST(Collective, HostileTextsStayStrictJson) {
  HandWritten written;
  auto thread = written.thread();
  const std::string hostile("\"}],\n\\\0\xff</script>", 17);
  Collective collective = all_reduce();
  for (std::string* text : {&collective.name, &collective.element_type, &collective.in_splits,
                            &collective.group, &collective.group_description}) {
    *text = hostile;
  }
  collective.group_ranks = hostile;
  thread.collective(10, 20, collective);
  std::string json;
  const WindowPointer window = written.window();
  ASSERT_TRUE(wire::append_strict_json(json, text_of(window), false));
  EXPECT_THAT(json, HasSubstr(R"("Process Group Ranks":"\"}],\n\\\u0000)"));
  const Trace trace = read(window);
  EXPECT_EQ(trace.events().size(), 2U);  // the profiler's own besides
}

/// Names are kept once, and what is said of a collective belongs to one of them only.
TEST(Collective, EachRangeHasItsOwn) {
  HandWritten written;
  auto thread = written.thread();
  for (std::int64_t number = 0; number < 3; ++number) {
    Collective collective = all_reduce();
    collective.sequence = number;
    thread.collective(10 * static_cast<std::uint64_t>(number),
                      10 * static_cast<std::uint64_t>(number) + 5, collective);
  }
  thread.range(40, 45, kCollectiveRange);  // that nobody described
  const std::string text = text_of(written.window());
  const std::size_t first = text.find(R"("Seq":0)");
  const std::size_t second = text.find(R"("Seq":1)", first);
  const std::size_t third = text.find(R"("Seq":2)", second);
  ASSERT_NE(third, std::string::npos);
  EXPECT_EQ(text.find(R"("Collective name")", third), std::string::npos);
  EXPECT_NE(text.find(R"("name":"record_param_comms")", third), std::string::npos);
}

}  // namespace
}  // namespace tbtrace::recorder
