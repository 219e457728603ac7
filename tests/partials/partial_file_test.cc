#include <cstddef>
#include <cstdint>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <tbtrace/partial.h>

#include "fixtures/random_rounds.h"
#include "fixtures/scratch_folder.h"
#include "partials/content.h"
#include "random_traces.h"

namespace tbtrace::partials {
namespace {

std::string example() {
  Partial sum = random_partial(0);
  EXPECT_TRUE(sum.merge(random_partial(1)).ok());
  EXPECT_TRUE(sum.merge(random_partial(2)).ok());
  return *partial_bytes(sum);
}

TEST(PartialFile, BytesAreTheSameAfterReading) {
  for (unsigned seed = 0; seed < fixtures::random_rounds(200u); ++seed) {
    const std::string bytes = *partial_bytes(random_partial(seed));
    ASSERT_EQ(*partial_bytes(*parse_partial(bytes)), bytes);
  }
}

TEST(PartialFile, SaysHowManyEventsEachTraceHas) {
  std::map<std::string, std::uint64_t> events;  // by name
  std::optional<Partial> sum;
  for (unsigned seed = 0; seed < 30; ++seed) {
    const Trace trace = random_trace(seed);
    const std::string name = "trace " + std::to_string(seed);
    Partial partial = *Partial::of(trace, name);
    ASSERT_EQ(partial.sources().front().events, trace.events().size());
    events[name] = trace.events().size();
    if (!sum) {
      sum = std::move(partial);
    } else if (!sum->merge(partial).ok()) {
      events.erase(name);  // two seeds may make the same trace
    }
  }
  const Partial read = *parse_partial(*partial_bytes(*sum));
  ASSERT_EQ(read.sources().size(), events.size());
  for (const PartialSource& source : read.sources()) {
    EXPECT_EQ(source.events, events.at(source.name)) << source.name;
  }
}

TEST(PartialFile, OfAnOlderVersionSaysNotHowManyEvents) {
  const Partial made = *Partial::of(random_trace(3), "trace",
                                    {.parts = {false, false, false, false, false, false, false}});
  auto content = std::make_unique<Content>(made.options());
  content->sources.push_back(made.sources().front());
  content->sources.front().events.reset();
  content->of_sources.emplace_back();
  const Partial read = *parse_partial(*partial_bytes(Partial(std::move(content))));
  ASSERT_EQ(read.sources().size(), 1u);
  EXPECT_EQ(read.sources().front().events, std::nullopt);
}

TEST(PartialFile, ASourceMayHaveAnotherName) {
  Partial partial = *Partial::of(random_trace(4), "copy.json");
  ASSERT_TRUE(partial.rename("s3://bucket/rank0.json").ok());
  EXPECT_EQ(*partial_bytes(partial),
            *partial_bytes(*Partial::of(random_trace(4), "s3://bucket/rank0.json")));
  ASSERT_TRUE(partial.merge(random_partial(5)).ok());
  EXPECT_EQ(partial.rename("one of two").code(), StatusCode::invalid_argument);
}

TEST(PartialFile, CutAnywhereIsAnError) {
  const std::string bytes = example();
  for (std::size_t size = 0; size < bytes.size(); size += fixtures::place_step()) {
    ASSERT_EQ(parse_partial(bytes.substr(0, size)).status().code(), StatusCode::unreadable_input)
        << size;
  }
}

TEST(PartialFile, EveryChangedByteIsAnError) {
  const std::string bytes = example();
  for (std::size_t place = 0; place < bytes.size(); place += fixtures::place_step()) {
    std::string changed = bytes;
    changed[place] = static_cast<char>(changed[place] ^ 0x10);
    ASSERT_FALSE(parse_partial(changed).ok()) << place;
  }
  EXPECT_FALSE(parse_partial(bytes + '\0').ok());
}

TEST(PartialFile, OfANewerVersionSaysSo) {
  std::string bytes = example();
  bytes[8] = 4;
  const Status failure = parse_partial(bytes).status();
  EXPECT_EQ(failure.code(), StatusCode::unreadable_input);
  EXPECT_NE(failure.message().find("version 4"), std::string::npos) << failure.message();
}

TEST(PartialFile, IsToldFromOtherFiles) {
  fixtures::ScratchFolder folder;
  const std::string path = folder.path("sum.tbp");
  ASSERT_TRUE(write_partial(random_partial(1), path).ok());
  EXPECT_TRUE(*is_partial_file(path));
  EXPECT_TRUE(begins_as_partial(example()));
  EXPECT_FALSE(begins_as_partial("{}"));
  EXPECT_EQ(write_partial(random_partial(1), path).code(), StatusCode::output_exists);
  EXPECT_EQ(*partial_bytes(*read_partial(path)), *partial_bytes(random_partial(1)));
  const std::string trace = folder.path("trace.json");
  std::ofstream(trace) << "{\"traceEvents\": []}";
  EXPECT_FALSE(*is_partial_file(trace));
  EXPECT_EQ(read_partial(trace).status().code(), StatusCode::unreadable_input);
  const Status read = read_trace(path).status();
  EXPECT_NE(read.message().find("is a partial"), std::string::npos) << read.message();
  EXPECT_FALSE(is_partial_file(folder.path("missing")).ok());
}

TEST(PartialFile, DigestIsThatOfTheContentNotOfTheName) {
  const Partial one = *Partial::of(random_trace(4), "one");
  const Partial two = *Partial::of(random_trace(4), "two", {.group_by_stack_n = 2});
  EXPECT_EQ(one.sources().front().digest, two.sources().front().digest);
  const Partial other = random_partial(5);
  EXPECT_NE(one.sources().front().digest, other.sources().front().digest);
}

TEST(PartialFile, ArgumentsOfPartialsAreAllThatTheyRead) {
  const std::string path = std::string(TBTRACE_TRACES) + "/transformer_modules.json.gz";
  const Trace everything = *read_trace(path, {.arguments = ArgumentSet::all()});
  const Trace needed = *read_trace(path, {.arguments = partial_arguments()});
  EXPECT_EQ(*partial_bytes(*Partial::of(needed, "trace")),
            *partial_bytes(*Partial::of(everything, "trace")));
  for (bool PartialParts::*part :
       {&PartialParts::operators, &PartialParts::kernels, &PartialParts::modules,
        &PartialParts::lines, &PartialParts::stacks, &PartialParts::reports,
        &PartialParts::ranks}) {
    PartialParts parts = {false, false, false, false, false, false, false};
    parts.*part = true;
    const Trace some = *read_trace(path, {.arguments = partial_arguments(parts)});
    EXPECT_EQ(*partial_bytes(*Partial::of(some, "trace", {.parts = parts})),
              *partial_bytes(*Partial::of(everything, "trace", {.parts = parts})));
  }
}

/// Files have digests, so a change of the hash would let a trace in twice.
TEST(PartialFile, DigestsRemainThoseOfVersionOne) {
  const Partial partial = random_partial(4);
  EXPECT_EQ(partial.sources().front().digest, "ed82d529b1609337248885e30c0dc04c");
}

}  // namespace
}  // namespace tbtrace::partials
