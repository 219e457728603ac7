// What the fields of a range mean. Memory records, arrows and names: records_test.cc.
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/chrome_text.h"
#include "fixtures/read_text.h"

namespace tbtrace::readers {
namespace {

using fixtures::ChromeEvent;
using fixtures::issue_counts;
using fixtures::names;
using fixtures::op;
using fixtures::read;
using fixtures::trace_text;
using testing::ElementsAre;

constexpr EventId kFirst = static_cast<EventId>(0);
constexpr EventId kSecond = static_cast<EventId>(1);

Trace read_event(const ChromeEvent& event) { return read(trace_text({event})); }

TEST(ChromeEvents, ReadTimesFromTheirDecimalText) {
  const std::vector<std::pair<std::string_view, std::int64_t>> times = {
      {"12", 12'000},
      {"12.345", 12'345},
      {"0.25", 250},
      {"1712195495507783.055", 1'712'195'495'507'783'055},
      {"1623143089861000", 1'623'143'089'861'000'000},
      {"-5.5", -5'500},
      {"1.2e3", 1'200'000},
      {"1E3", 1'000'000},
      {"5e-3", 5},
      {"12.3456", 12'346},
      {"\"12.345\"", 12'345},
      {"\"1712195495507783.055\"", 1'712'195'495'507'783'055},
      {"0", 0},
      {"-0", 0},
  };
  for (const auto& [text, ns] : times) {
    const Trace trace = read_event(op("a", text, "1"));
    ASSERT_EQ(trace.events().size(), 1u) << text;
    EXPECT_EQ(trace.events().start_ns(kFirst), ns) << text;
    EXPECT_EQ(issue_counts(trace), "") << text;
    if (ns < 0) continue;
    const Trace length = read_event(op("a", "1", text));
    ASSERT_EQ(length.events().size(), 1u) << text;
    EXPECT_EQ(length.events().duration_ns(kFirst), ns) << text;
  }
}

TEST(ChromeEvents, LeaveOutEventsWhoseTimeIsNoNumber) {
  for (const std::string_view text :
       {"nan", "Infinity", "1e400", "0x10", "12ab", "true", "\"\"", "\"soon\"", "{}", "[1]", "--1",
        "1.2.3", "01", "+1", "-01", ".5", "5.", "99999999999999999999999"}) {
    const Trace start = read(trace_text({op("a", text, "1"), op("b")}));
    EXPECT_THAT(names(start), ElementsAre("b")) << text;
    EXPECT_EQ(issue_counts(start), "time_unreadable 1") << text;
    const Trace length = read(trace_text({op("a", "1", text), op("b")}));
    EXPECT_THAT(names(length), ElementsAre("b")) << text;
    EXPECT_EQ(issue_counts(length), "time_unreadable 1") << text;
  }
}

TEST(ChromeEvents, KeepTimesSoCloseThatDifferencesFit) {
  // 2^62 ns are 146 years.
  const auto kept = [](std::string_view start, std::string_view duration) {
    const Trace trace = read_event(op("a", start, duration));
    return trace.events().size() == 1;
  };
  EXPECT_TRUE(kept("4611686018427387.903", "0"));
  EXPECT_FALSE(kept("4611686018427387.904", "0"));
  EXPECT_TRUE(kept("-4611686018427387.903", "4611686018427387.903"));
  EXPECT_FALSE(kept("-4611686018427387.904", "0"));
  EXPECT_TRUE(kept("4611686018427387.900", "0.003"));
  EXPECT_TRUE(kept("-4611686018427387.903", "9223372036854775.806"));
  EXPECT_FALSE(kept("-4611686018427387.903", "9223372036854775.807"));
  EXPECT_FALSE(kept("4611686018427387.900", "0.004")) << "the end is as far as a start may be";
  EXPECT_FALSE(kept("9223372036854775.807", "0"));
}

TEST(ChromeEvents, TakeNegativeDurationsAsZero) {
  const Trace trace = read(trace_text({op("a", "5", "-0.001"), op("b", "5", "1")}));
  ASSERT_THAT(names(trace), ElementsAre("a", "b"));
  EXPECT_EQ(trace.events().start_ns(kFirst), 5'000);
  EXPECT_EQ(trace.events().duration_ns(kFirst), 0);
  EXPECT_EQ(issue_counts(trace), "negative_duration 1");
  EXPECT_EQ(trace.issues()[0].severity, Severity::info);
}

TEST(ChromeEvents, TakeAMissingDurationAsZero) {
  for (const ChromeEvent& event : {op("a").without("dur"), op("a").with("dur", "null")}) {
    const Trace trace = read_event(event);
    ASSERT_THAT(names(trace), ElementsAre("a"));
    EXPECT_EQ(trace.events().duration_ns(kFirst), 0);
    EXPECT_EQ(issue_counts(trace), "");
  }
}

TEST(ChromeEvents, AreIncompleteWithoutPhaseNameOrTime) {
  for (const std::string_view key : {"ph", "name", "ts"}) {
    const Trace trace = read(trace_text({op("a").without(key), op("b")}));
    EXPECT_THAT(names(trace), ElementsAre("b")) << key;
    EXPECT_EQ(issue_counts(trace), "event_incomplete 1") << key;
  }
  const Trace empty = read(trace_text({op("a").with("ph", "\"\""), op("b")}));
  EXPECT_EQ(issue_counts(empty), "event_incomplete 1");
}

TEST(ChromeEvents, CountPhasesThatAreNotRead) {
  for (const std::string_view phase : {"b", "e", "x", "XX", "X "}) {
    const Trace trace = read(trace_text({op("a").with("ph", fixtures::in_quotes(phase)), op("b")}));
    EXPECT_THAT(names(trace), ElementsAre("b")) << phase;
    EXPECT_EQ(issue_counts(trace), "phase_unsupported 1") << phase;
  }
}

TEST(ChromeEvents, PassOverInstantsAndStopsOfArrowsInSilence) {
  for (const std::string_view phase : {"i", "I", "t", "M"}) {
    const Trace trace = read(trace_text({op("a").with("ph", fixtures::in_quotes(phase)), op("b")}));
    EXPECT_THAT(names(trace), ElementsAre("b")) << phase;
    EXPECT_EQ(issue_counts(trace), "") << phase;
  }
}

TEST(ChromeEvents, CountCountersWithoutAValue) {
  const Trace trace = read(trace_text({op("a").with("ph", "\"C\""), op("b")}));
  EXPECT_THAT(names(trace), ElementsAre("b"));
  EXPECT_EQ(issue_counts(trace), "counter_unreadable 1");
}

std::string thread_of(std::string_view json) {
  const Trace trace = read_event(op("a").with("tid", json));
  return fixtures::describe(trace, trace.track(trace.events().track(kFirst)).thread);
}

TEST(ChromeEvents, HaveThreadsThatAreNumbersOrText) {
  EXPECT_EQ(thread_of("25738"), "25738");
  EXPECT_EQ(thread_of("\"25738\""), "25738") << "as torch wrote it in 2021";
  EXPECT_EQ(thread_of("-1220540864"), "-1220540864");
  EXPECT_EQ(thread_of("\"stream 7\""), "'stream 7'");
  EXPECT_EQ(thread_of("\"\""), "0");
  EXPECT_EQ(thread_of("null"), "1") << "as if it were missing: the process";
  EXPECT_EQ(thread_of("9223372036854775807"), "9223372036854775807");
  EXPECT_EQ(thread_of("9223372036854775808"), "9223372036854775808");
  EXPECT_EQ(thread_of("18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(thread_of("\"18446744073709551615\""), "18446744073709551615");
  EXPECT_EQ(thread_of("1.8e19"), "18000000000000000000");
  EXPECT_EQ(thread_of("18446744073709551616"), "'18446744073709551616'") << "too large: a text";
}

TEST(ChromeEvents, ShareATrackExactlyIfProcessAndThreadAreEqual) {
  const Trace trace =
      read(trace_text({op("a"), op("b").with("tid", "\"1\""), op("c").with("tid", "2"),
                       op("d").with("pid", "2"), op("e").with("tid", "\"one\"")}));
  const Events& events = trace.events();
  EXPECT_EQ(events.track(kFirst), events.track(kSecond));
  EXPECT_EQ(trace.tracks().size(), 4u);
  const Trace same_bits =
      read(trace_text({op("a").with("tid", "-1"), op("b").with("tid", "18446744073709551615"),
                       op("c").with("tid", "-1.0")}));
  EXPECT_EQ(same_bits.tracks().size(), 2u);
}

TEST(ChromeEvents, RunOnTheThreadOfTheProcessWithoutAThread) {
  const Trace trace = read_event(op("a").with("pid", "\"Traces\"").without("tid"));
  EXPECT_EQ(fixtures::describe(trace, trace.tracks()[0].thread), "'Traces'");
  const Trace null = read_event(op("a").with("pid", "5").with("tid", "null"));
  EXPECT_EQ(fixtures::describe(null, null.tracks()[0].thread), "5");
  const Trace bare = read_event(op("a").without("pid").without("tid"));
  EXPECT_EQ(fixtures::describe(bare, bare.tracks()[0].process), "0");
}

TEST(ChromeEvents, HaveTheCategoriesOfAllGenerations) {
  const auto kind_of = [](std::string_view category) {
    return read_event(op("a").with("cat", fixtures::in_quotes(category))).kind(kFirst);
  };
  EXPECT_EQ(kind_of("cpu_op"), EventKind::cpu_op);
  EXPECT_EQ(kind_of("Operator"), EventKind::cpu_op);
  EXPECT_EQ(kind_of("Kernel"), EventKind::kernel);
  EXPECT_EQ(kind_of("kernel"), EventKind::kernel);
  EXPECT_EQ(kind_of("Runtime"), EventKind::runtime);
  EXPECT_EQ(kind_of("cuda_driver"), EventKind::runtime);
  EXPECT_EQ(kind_of("invented"), EventKind::other);
  EXPECT_EQ(read_event(op("a").without("cat")).kind(kFirst), EventKind::cpu_op);
}

TEST(ChromeEvents, KeepTheWritersCategory) {
  const Trace trace = read_event(op("a").with("cat", "\"Operator\""));
  EXPECT_EQ(trace.string(trace.category(kFirst).name), "Operator");
}

TEST(ChromeEvents, ReadArgumentsInBothSpellings) {
  const Trace today = read_event(op("a")
                                     .arg("External id", "7")
                                     .arg("Ev Idx", "3")
                                     .arg("Input Dims", "[[2, 3]]")
                                     .arg("Input type", "[\"float\"]")
                                     .arg("Concrete Inputs", "[\"\"]"));
  const Trace then = read_event(op("a")
                                    .arg("external id", "7")
                                    .arg("Profiler Event Index", "3")
                                    .arg("Input dims", "[[2, 3]]")
                                    .arg("Input type", "[\"float\"]")
                                    .arg("Concrete Inputs", "[\"\"]"));
  EXPECT_EQ(fixtures::describe(today), fixtures::describe(then));
  EXPECT_EQ(today.external_id(kFirst), 7);
  EXPECT_EQ(today.argument_text(kFirst, Argument::input_dims), "[[2, 3]]");
  EXPECT_EQ(today.argument_text(kFirst, Argument::input_types), "[\"float\"]");
  EXPECT_EQ(today.argument_text(kFirst, Argument::concrete_inputs), "[\"\"]");
}

TEST(ChromeEvents, OrderEqualTimesByTheIndexOfTheProfiler) {
  for (const std::string_view key : {"Ev Idx", "Profiler Event Index"}) {
    const Trace trace =
        read(trace_text({op("last").arg("other", "1"), op("second").arg(key, "9"),
                         op("first").arg(key, "0"), op("negative").arg(key, "-1")}));
    std::vector<std::string_view> order;
    for (const EventId event : trace.by_start()) order.push_back(trace.name(event));
    EXPECT_THAT(order, ElementsAre("first", "second", "last", "negative")) << key;
  }
}

TEST(ChromeEvents, TellNoExternalIdFromZero) {
  const auto flagged = [](const ChromeEvent& event) {
    const Trace trace = read_event(event);
    EXPECT_EQ(trace.external_id(kFirst), 0);
    return trace.events().has_zero_external_id(kFirst);
  };
  EXPECT_FALSE(flagged(op("a")));
  EXPECT_TRUE(flagged(op("a").arg("External id", "0")));
  EXPECT_FALSE(flagged(op("a").arg("External id", "null")));
  EXPECT_FALSE(flagged(op("a").arg("External id", "\"x\""))) << "an unreadable id is not 0";
}

TEST(ChromeEvents, ReadIdsOfAnySize) {
  const auto ids = [](std::string_view json) {
    const Trace trace = read_event(op("a").arg("External id", json).arg("correlation", json));
    EXPECT_EQ(trace.external_id(kFirst), trace.correlation(kFirst));
    return trace.external_id(kFirst);
  };
  EXPECT_EQ(ids("7"), 7);
  EXPECT_EQ(ids("\"7\""), 7);
  EXPECT_EQ(ids("-3"), -3);
  EXPECT_EQ(ids("4294967296"), 4'294'967'296);
  EXPECT_EQ(ids("18446744073709551614"), -2);
}

TEST(ChromeEvents, ReadIdsThatAreWholeNumbersInAnotherForm) {
  // As pandas and JavaScript write them.
  for (const std::string_view json :
       {"5.0", "5e0", "\"5.0\"", "5.000", "0.5e1", "500e-2", "\"5e+0\"", "5E0"}) {
    const Trace trace = read_event(op("a")
                                       .with("pid", json)
                                       .with("tid", json)
                                       .arg("External id", json)
                                       .arg("correlation", json));
    EXPECT_EQ(trace.external_id(kFirst), 5) << json;
    EXPECT_EQ(trace.correlation(kFirst), 5) << json;
    EXPECT_EQ(fixtures::describe(trace, trace.tracks()[0].process), "5") << json;
    EXPECT_EQ(fixtures::describe(trace, trace.tracks()[0].thread), "5") << json;
    EXPECT_EQ(issue_counts(trace), "") << json;
  }
}

TEST(ChromeEvents, CountIdsThatAreNotWholeNumbersAndTakeThemAsAbsent) {
  for (const std::string_view json : {"\"x\"", "1.5", "[1]", "{}", "true", "\"\"", "1e-1", "NaN",
                                      "99999999999999999999999", "-9223372036854775809"}) {
    for (const std::string_view key : {"External id", "correlation"}) {
      const Trace trace = read_event(op("a").arg(key, json));
      ASSERT_THAT(names(trace), ElementsAre("a")) << json;
      EXPECT_EQ(trace.external_id(kFirst), 0) << json;
      EXPECT_EQ(trace.correlation(kFirst), 0) << json;
      EXPECT_EQ(issue_counts(trace), "id_unreadable 1") << json;
      EXPECT_EQ(trace.issues()[0].severity, Severity::data_loss);
    }
  }
}

TEST(ChromeEvents, TakeIdsThatAreNullAsAbsent) {
  const Trace trace = read_event(op("a").arg("External id", "null").arg("correlation", "null"));
  EXPECT_EQ(trace.external_id(kFirst), 0);
  EXPECT_EQ(issue_counts(trace), "");
}

TEST(ChromeEvents, MarkRangesThatWereOpenAtTheEnd) {
  const Trace trace =
      read(trace_text({op("a", "1", "9").arg("finished", "false"),
                       op("b", "1", "9").arg("finished", "true"), op("c", "1", "9")}));
  EXPECT_TRUE(trace.events().unfinished(kFirst));
  EXPECT_EQ(trace.events().duration_ns(kFirst), 9'000) << "as the writer has it";
  EXPECT_FALSE(trace.events().unfinished(kSecond));
  EXPECT_FALSE(trace.events().unfinished(static_cast<EventId>(2)));
}

TEST(ChromeEvents, TakeTheMarkOfAPythonFrameAsNoLength) {
  const Trace trace =
      read_event(op("f.py(1): f", "1", "9").arg("Python id", "5").arg("finished", "false"));
  EXPECT_FALSE(trace.events().unfinished(kFirst));
  EXPECT_EQ(trace.events().duration_ns(kFirst), 0);
}

TEST(ChromeEvents, KnowFramesAndModulesByTheirIds) {
  const Trace trace = read(
      trace_text({op("frame").arg("Python id", "0"), op("gc").with("cat", "\"python_function\""),
                  op("module").arg("Python id", "2").arg("Python module id", "0"),
                  op("null").arg("Python id", "null").arg("Python module id", "null")}));
  const auto flags = [&](int row) {
    const auto event = static_cast<EventId>(row);
    return std::pair(trace.events().is_python_frame(event), trace.events().is_module(event));
  };
  EXPECT_EQ(flags(0), std::pair(true, false));
  EXPECT_EQ(flags(1), std::pair(false, false)) << "the category is not enough";
  EXPECT_EQ(flags(2), std::pair(true, true));
  EXPECT_EQ(flags(3), std::pair(false, false));
}

TEST(ChromeEvents, KeepAutogradsNumbersOfTheirRow) {
  const Trace trace =
      read(trace_text({op("a"), op("b").arg("Sequence number", "390").arg("Fwd thread id", "2"),
                       op("c").arg("Sequence number", "391"), op("d").arg("Fwd thread id", "1")}));
  const ArgumentColumn& sequence = trace.argument(Argument::sequence_number);
  const ArgumentColumn& thread = trace.argument(Argument::forward_thread);
  EXPECT_EQ(sequence.size(), 2u);
  EXPECT_FALSE(sequence.has(kFirst));
  EXPECT_EQ(sequence.integer(kSecond), 390);
  EXPECT_EQ(thread.integer(kSecond), 2);
  EXPECT_FALSE(thread.has(static_cast<EventId>(2)));
  EXPECT_FALSE(sequence.has(static_cast<EventId>(3)));
}

TEST(ChromeEvents, KeepCallStacksThatAreNotEmpty) {
  const Trace trace =
      read(trace_text({op("a").arg("Call stack", "\"\""), op("b").arg("Call stack", "\"f;g;\"")}));
  EXPECT_EQ(trace.argument(Argument::call_stack).size(), 1u);
  EXPECT_EQ(trace.argument_text(kSecond, Argument::call_stack), "f;g;");
}

TEST(ChromeEvents, DoNotLookIntoNestedValues) {
  const std::string_view inner =
      R"({"ph":"Q","ts":77,"name":"}{","External id":9,"args":{"correlation":8},"deep":[[{"dur":1}]]})";
  const Trace plain = read_event(op("a").arg("x", "1"));
  const Trace nested = read_event(op("a").with("more", inner).arg("x", inner));
  EXPECT_EQ(fixtures::describe(nested), fixtures::describe(plain));
  EXPECT_EQ(issue_counts(nested), "");
}

TEST(ChromeEvents, ReadEventKeysOfTheEventAndArgumentKeysOfArgsOnly) {
  const Trace trace = read_event(op("a", "1", "2")
                                     .with("correlation", "5")
                                     .with("External id", "6")
                                     .arg("ts", "100")
                                     .arg("dur", "200")
                                     .arg("ph", "\"B\""));
  ASSERT_EQ(trace.events().size(), 1u);
  EXPECT_EQ(trace.events().start_ns(kFirst), 1'000);
  EXPECT_EQ(trace.events().duration_ns(kFirst), 2'000);
  EXPECT_EQ(trace.correlation(kFirst), 0);
  EXPECT_EQ(trace.external_id(kFirst), 0);
}

TEST(ChromeEvents, TakeArgsThatAreNoObjectAsNone) {
  for (const std::string_view args :
       {"null", "[]", "[{\"External id\":5}]", "\"External id\"", "7", "{}"}) {
    const Trace trace = read_event(op("a").with("args", args));
    EXPECT_THAT(names(trace), ElementsAre("a")) << args;
    EXPECT_EQ(trace.external_id(kFirst), 0) << args;
    EXPECT_EQ(issue_counts(trace), "") << args;
  }
}

TEST(ChromeEvents, TakeTheLastOfARepeatedKeyAndCountIt) {
  const Trace trace = read(
      R"({"traceEvents":[{"ph":"X","name":"a","name":"b","ts":1,"ts":2,"dur":1,"pid":1,"tid":1,)"
      R"("args":{"External id":5,"External id":6}},)"
      R"({"ph":"X","name":"c","ts":1,"x":1,"x":2,"args":{"y":1,"y":2}}]})");
  EXPECT_THAT(names(trace), ElementsAre("b", "c"));
  EXPECT_EQ(trace.events().start_ns(kFirst), 2'000);
  EXPECT_EQ(trace.external_id(kFirst), 6);
  EXPECT_EQ(issue_counts(trace), "repeated_key 1") << "an event each; unknown keys mean nothing";
  EXPECT_EQ(trace.issues()[0].severity, Severity::info);
}

TEST(ChromeEvents, TakeOnlyTheLastOfRepeatedArguments) {
  const Trace trace = read(
      R"([{"ph":"X","name":"a","ts":1,"args":{"External id":5,"correlation":6},"args":{"correlation":7}},)"
      R"({"ph":"X","name":"b","ts":1,"args":{"External id":5},"args":null}])");
  EXPECT_EQ(trace.correlation(kFirst), 7);
  EXPECT_EQ(trace.external_id(kFirst), 0) << "the earlier object does not count";
  EXPECT_EQ(trace.external_id(kSecond), 0);
  EXPECT_EQ(issue_counts(trace), "repeated_key 2");
}

TEST(ChromeEvents, AreReadByTheMeaningOfTheirKeys) {
  const Trace trace = read(
      R"([{"\u0070\u0068":"\u0058","n\u0061me":"a","t\u0073":1,"dur":2,"args":{"External\u0020id":5}}])");
  ASSERT_THAT(names(trace), ElementsAre("a"));
  EXPECT_EQ(trace.external_id(kFirst), 5);
  EXPECT_EQ(issue_counts(trace), "");
}

TEST(ChromeEvents, AreIncompleteIfTheyAreNotObjects) {
  for (const std::string_view element : {"5", "\"x\"", "[{\"ph\":\"X\"}]", "null", "[]"}) {
    const Trace trace =
        read("[" + std::string(element) + ",{\"ph\":\"X\",\"name\":\"a\",\"ts\":1}," +
             std::string(element) + ",{\"ph\":\"X\",\"name\":\"b\",\"ts\":1}," +
             std::string(element) + "]");
    EXPECT_THAT(names(trace), ElementsAre("a", "b")) << element;
    EXPECT_EQ(issue_counts(trace), "event_incomplete 3") << element;
  }
}

}  // namespace
}  // namespace tbtrace::readers
