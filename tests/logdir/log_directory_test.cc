// Files into log directories: names, what becomes of each input, and that nothing is left half
// done.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/capabilities.h>
#include <tbtrace/convert.h>

#include "fixtures/chrome_text.h"
#include "fixtures/file_size_limit.h"
#include "fixtures/gzip_member.h"
#include "fixtures/read_text.h"
#include "fixtures/whole_file.h"
#include "logdir/log_folder.h"

namespace tbtrace {
namespace {

namespace fs = std::filesystem;
using fixtures::ChromeText;
using fixtures::op;
using fixtures::write_whole_file;
using State = ConvertedInput::State;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A trace that starts a millisecond after `base` seconds.
std::string trace(std::string_view name = "aten::mm", std::int64_t base = 1'790'857'026,
                  std::string_view member = "") {
  ChromeText text;
  text.before = {{"baseTimeNanoseconds", std::to_string(base) + "000000000"}};
  if (!member.empty()) text.before.emplace_back("distributedInfo", member);
  text.events = {op(name, "1000", "5")};
  return text.text();
}

class LogDirectory : public LogFolder {
 protected:
  /// Traces only, unless the options say otherwise.
  Conversion convert(const std::vector<std::string>& inputs, ConvertOptions options = {}) {
    options.log.format = format;
    Result<Conversion> conversion = convert_to_log_directory(inputs, log, options);
    EXPECT_TRUE(conversion.ok()) << conversion.status().message();
    return conversion.ok() ? *std::move(conversion) : Conversion{};
  }

  LogFormat format = LogFormat::plugin;
};

ConvertOptions on_threads(int threads) {
  ConvertOptions options;
  options.threads = threads;
  return options;
}

std::vector<State> states(const Conversion& conversion) {
  std::vector<State> states;
  for (const ConvertedInput& input : conversion.inputs) states.push_back(input.state);
  return states;
}

std::vector<std::string> workers(const Conversion& conversion) {
  std::vector<std::string> workers;
  for (const ConvertedInput& input : conversion.inputs) workers.push_back(input.files.at(0).worker);
  return workers;
}

TEST_F(LogDirectory, HoldsWhatWasAskedFor) {
  const Conversion conversion = convert({input("job/rank0.json", trace())});
  ASSERT_EQ(conversion.inputs.size(), 1u);
  const ConvertedInput& only = conversion.inputs[0];
  EXPECT_EQ(only.state, State::written);
  EXPECT_EQ(only.ranges, 1u);
  EXPECT_THAT(only.issues, IsEmpty());
  EXPECT_EQ(only.files.at(0).run, "job");
  EXPECT_EQ(only.files.at(0).worker, "rank0");
  EXPECT_EQ(only.files.at(0).span, 1790857026001000000);
  EXPECT_THAT(files(), ElementsAre("job/rank0.1790857026001000000.pt.trace.json.gz"));
  EXPECT_EQ(only.files.at(0).path, log + "/" + files()[0]);
  EXPECT_EQ(only.files.at(0).bytes, fs::file_size(only.files.at(0).path));
  const Result<Trace> again = read_trace(only.files.at(0).path);
  ASSERT_TRUE(again.ok());
  EXPECT_THAT(fixtures::names(*again), ElementsAre("aten::mm"));
}

TEST_F(LogDirectory, TakesCompressedInputsAndWritesPlainOnesIfAsked) {
  const std::string packed = input("a.json.gz", fixtures::gzip_member(trace()));
  convert({packed}, {.log = {.use_gzip = false}});
  ASSERT_EQ(files().size(), 1u);
  EXPECT_THAT(files()[0], testing::EndsWith(".pt.trace.json"));
  EXPECT_THAT(fixtures::read_whole_file(log + "/" + files()[0]), HasSubstr("aten::mm"));
}

TEST_F(LogDirectory, NamesWorkersByTheirNamesTheirRanksOrTheirStems) {
  const std::string rank = R"({"backend": "nccl", "rank": 3, "world_size": 8})";
  const Conversion conversion =
      convert({input("a/host_12.1700000000000.pt.trace.json", trace()),
               input("b/some.trace.json", trace()), input("c/.json", trace()),
               input("d/All.json", trace()), input("e/rank.json", trace("a", 5, rank))});
  const std::vector<std::string> names = workers(conversion);
  ASSERT_EQ(names.size(), 5u);
  EXPECT_EQ(names[0], "host_12");
  EXPECT_EQ(names[1], "some");
  EXPECT_FALSE(names[2].empty());
  EXPECT_NE(names[3], "All") << "the plugin keeps that name for itself";
  EXPECT_THAT(states(conversion), Each(State::written));
}

TEST_F(LogDirectory, TakesNamesFromOptions) {
  const Conversion conversion =
      convert({input("a/x.json", trace())}, {.log = {.run = "/../my//run/.", .worker = "w/1"}});
  const LogFile& file = conversion.inputs.at(0).files.at(0);
  EXPECT_TRUE(file.run.find("..") == std::string::npos) << file.run;
  EXPECT_TRUE(file.worker.find('/') == std::string::npos) << file.worker;
  EXPECT_EQ(files().size(), 1u) << "all is inside the log directory";
}

TEST_F(LogDirectory, NumbersNamesThatCollideInTheOrderOfInputs) {
  std::vector<std::string> inputs;
  for (int number = 0; number < 12; ++number) {
    // Larger ones first, so that later ones are read sooner.
    ChromeText text;
    for (int row = 0; row < (number < 4 ? 20'000 : 1); ++row) {
      text.events.push_back(op("op" + std::to_string(number), "1000", "5"));
    }
    inputs.push_back(input(std::to_string(number) + "/rank_0.json", text.text()));
  }
  std::vector<std::string> expected = {"rank_0"};
  for (int number = 2; number <= 12; ++number) {
    expected.push_back("rank-" + std::to_string(number) + "_0");
  }
  for (const int threads : {1, 4}) {
    const std::string run = "run" + std::to_string(threads);
    const Conversion conversion = convert(inputs, {.log = {.run = run}, .threads = threads});
    EXPECT_THAT(states(conversion), Each(State::written));
    EXPECT_EQ(workers(conversion), expected);
    for (std::size_t row = 0; row < inputs.size(); ++row) {
      EXPECT_EQ(conversion.inputs[row].input, inputs[row]);
      const Result<Trace> again = read_trace(conversion.inputs[row].files.at(0).path);
      ASSERT_TRUE(again.ok());
      EXPECT_EQ(again->name(EventId{0}), "op" + std::to_string(row));
    }
  }
}

TEST_F(LogDirectory, DoesNotDependOnThreads) {
  std::vector<std::string> inputs;
  for (int number = 0; number < 9; ++number) {
    inputs.push_back(
        input("job/" + std::to_string(number) + ".json", trace("op" + std::to_string(number))));
  }
  inputs.insert(inputs.begin() + 3, input("job/bad.json", "no trace"));
  std::vector<std::string> texts;
  for (const int threads : {1, 2, 8}) {
    log = folder.path("log" + std::to_string(threads));
    const Conversion conversion = convert(inputs, on_threads(threads));
    std::string text = conversion_json(conversion);
    for (std::size_t at = text.find(log); at != text.npos; at = text.find(log)) {
      text.replace(at, log.size(), "log");
    }
    for (const std::string& file : files()) {
      text += file + fixtures::read_whole_file(log + "/" + file);
    }
    texts.push_back(text);
  }
  EXPECT_EQ(texts[0], texts[1]);
  EXPECT_EQ(texts[0], texts[2]);
}

TEST_F(LogDirectory, LeavesExistingFilesAloneIfAsked) {
  const std::vector<std::string> inputs = {input("job/a.json", trace())};
  convert(inputs);
  const std::string path = log + "/" + files().at(0);
  const std::string before = fixtures::read_whole_file(path);
  input("job/a.json", trace("changed"));

  const Conversion refused = convert(inputs);
  EXPECT_THAT(states(refused), ElementsAre(State::failed));
  EXPECT_EQ(refused.inputs[0].status.code(), StatusCode::output_exists);
  EXPECT_EQ(fixtures::read_whole_file(path), before);

  const Conversion skipped = convert(inputs, {.log = {}, .skip_existing = true});
  EXPECT_THAT(states(skipped), ElementsAre(State::skipped));
  EXPECT_TRUE(skipped.inputs[0].status.ok());
  EXPECT_EQ(skipped.inputs[0].files.at(0).path, path);
  EXPECT_EQ(fixtures::read_whole_file(path), before);

  const Conversion overwritten = convert(inputs, {.log = {.overwrite = true}});
  EXPECT_THAT(states(overwritten), ElementsAre(State::written));
  const Result<Trace> again = read_trace(path);
  ASSERT_TRUE(again.ok());
  EXPECT_THAT(fixtures::names(*again), ElementsAre("changed"));
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(LogDirectory, GoesOnBehindABadInput) {
  const std::vector<std::string> inputs = {input("job/0.json", trace()),
                                           input("job/1.json", "no trace"),
                                           folder.path("job/2.json"), input("job/3.json", trace())};
  for (const int threads : {1, 3}) {
    log = folder.path("log" + std::to_string(threads));
    const Conversion conversion = convert(inputs, on_threads(threads));
    EXPECT_THAT(states(conversion),
                ElementsAre(State::written, State::failed, State::failed, State::written));
    EXPECT_EQ(conversion.inputs[1].status.code(), StatusCode::unreadable_input);
    EXPECT_THAT(conversion.inputs[2].status.message(), HasSubstr("No such file"));
    EXPECT_EQ(files().size(), 2u);
    EXPECT_THAT(conversion.failed_runs, IsEmpty());
  }
}

TEST_F(LogDirectory, EndsAtTheFirstFailureIfAsked) {
  const std::vector<std::string> inputs = {
      input("job/0.json", trace()), input("job/1.json", "no trace"), input("job/2.json", trace())};
  const Conversion conversion = convert(inputs, {.log = {}, .fail_fast = true, .threads = 1});
  EXPECT_THAT(states(conversion), ElementsAre(State::written, State::failed, State::not_tried));
}

TEST_F(LogDirectory, TakesAnyIssueForAFailureIfStrict) {
  const std::string text = trace();
  const std::vector<std::string> inputs = {input("job/cut.json", text.substr(0, text.size() - 2)),
                                           input("job/whole.json", text)};
  const Conversion lenient = convert(inputs);
  EXPECT_THAT(states(lenient), ElementsAre(State::written, State::written));
  ASSERT_EQ(lenient.inputs[0].issues.size(), 1u);
  EXPECT_EQ(lenient.inputs[0].issues[0].id, "input_truncated");
  const Conversion strict = convert(inputs, {.log = {.run = "strict"}, .strict = true});
  EXPECT_THAT(states(strict), ElementsAre(State::failed, State::written));
  EXPECT_EQ(strict.inputs[0].status.code(), StatusCode::check_failed);
}

TEST_F(LogDirectory, ShowsARunWhenItIsComplete) {
  std::vector<std::string> inputs;
  for (int number = 0; number < 4; ++number) {
    inputs.push_back(input("job/" + std::to_string(number) + ".json", trace()));
  }
  inputs.push_back(input("other/0.json", trace()));
  std::vector<std::size_t> visible;
  ConvertOptions options = on_threads(1);
  options.on_input = [&](const ConvertedInput&) { visible.push_back(files().size()); };
  convert(inputs, options);
  EXPECT_THAT(visible, ElementsAre(4, 4, 4, 4, 5))
      << "an input is reported once its files are visible";
  EXPECT_EQ(files().size(), 5u);
}

TEST_F(LogDirectory, TellsOfEachInputOnce) {
  std::vector<std::string> inputs;
  for (int number = 0; number < 9; ++number) {
    const std::string name = "job/" + std::to_string(number) + ".json";
    inputs.push_back(input(name, number == 4 ? "no trace" : trace()));
  }
  for (const int threads : {1, 4}) {
    log = folder.path("log" + std::to_string(threads));
    std::vector<std::string> told;
    std::vector<std::size_t> progress;
    ConvertOptions options = on_threads(threads);
    options.on_input = [&](const ConvertedInput& done) { told.push_back(done.input); };
    options.on_progress = [&](std::size_t done, std::size_t of) {
      EXPECT_EQ(of, 9u);
      progress.push_back(done);
      return true;
    };
    convert(inputs, options);
    EXPECT_EQ(told, inputs) << "in the order of the inputs";
    EXPECT_TRUE(std::is_sorted(progress.begin(), progress.end()));
    EXPECT_EQ(progress.back(), 9u);
  }
}

TEST_F(LogDirectory, KeepsWhatWasFinishedWhenItIsCancelled) {
  std::vector<std::string> inputs;
  for (int number = 0; number < 9; ++number) {
    inputs.push_back(input("job/" + std::to_string(number) + ".json", trace()));
  }
  {
    log = folder.path("log of four threads");
    ConvertOptions options = on_threads(4);
    options.on_progress = [&](std::size_t done, std::size_t) { return done < 3; };
    std::size_t written = 0;
    for (const ConvertedInput& result : convert(inputs, options).inputs) {
      written += result.state == State::written ? 1 : 0;
      EXPECT_TRUE(result.state == State::written || result.state == State::not_tried);
      for (const LogFile& file : result.files) EXPECT_TRUE(fs::exists(file.path));
    }
    EXPECT_GE(written, 3U);
    EXPECT_LE(written, 6U) << "three were under way";
  }
  for (const std::size_t most : {std::size_t{0}, std::size_t{3}}) {
    log = folder.path("log" + std::to_string(most));
    ConvertOptions options = on_threads(1);
    options.on_progress = [&](std::size_t done, std::size_t) { return done < most; };
    const Conversion conversion = convert(inputs, options);
    ASSERT_EQ(conversion.inputs.size(), 9U);
    for (std::size_t number = 0; number < 9; ++number) {
      const ConvertedInput& result = conversion.inputs[number];
      EXPECT_EQ(result.state,
                number < most ? ConvertedInput::State::written : ConvertedInput::State::not_tried)
          << number;
      for (const LogFile& file : result.files) EXPECT_TRUE(fs::exists(file.path));
    }
  }
}

TEST_F(LogDirectory, LeavesNothingWhereTheDiskIsFull) {
  ChromeText text;
  for (int row = 0; row < 20'000; ++row) {
    text.events.push_back(op("op" + std::to_string(row * 7919), std::to_string(row), "0.5"));
  }
  const std::string large = input("job/large.json", text.text());
  for (const bool use_gzip : {true, false}) {
    log = folder.path(use_gzip ? "packed" : "plain");
    Conversion conversion;
    {
      const fixtures::FileSizeLimit full(10'000);
      conversion = convert({large}, {.log = {.use_gzip = use_gzip}});
    }
    ASSERT_THAT(states(conversion), ElementsAre(State::failed));
    EXPECT_EQ(conversion.inputs[0].status.code(), StatusCode::unwritable_output);
    EXPECT_THAT(files(), IsEmpty());
    EXPECT_EQ(conversion.inputs[0].files.at(0).bytes, 0u);
  }
  for (const std::string& name : folder.names()) {
    EXPECT_THAT(name, testing::Not(HasSubstr("partial"))) << "nothing waits beside it";
  }
}

TEST_F(LogDirectory, TellsWhichInputsStandForNothing) {
  fs::create_directories(folder.path("empty"));
  const Conversion conversion =
      convert({folder.path("none-*.json"), folder.path("empty"), input("job/a.json", trace())});
  EXPECT_THAT(states(conversion), ElementsAre(State::failed, State::failed, State::written));
  for (const std::size_t row : {0u, 1u}) {
    EXPECT_EQ(conversion.inputs[row].status.code(), StatusCode::unreadable_input);
  }
}

TEST_F(LogDirectory, HasTracesAndEventFilesUnlessToldOtherwise) {
  format = ConvertOptions().log.format;
  EXPECT_EQ(format, LogFormat::both);
  const std::vector<std::string> inputs = {input("job/rank0.json", trace()),
                                           input("job/rank1.json", trace())};
  const bool has_events = capabilities().event_files;
  const Conversion conversion = convert(inputs);
  EXPECT_THAT(states(conversion), Each(State::written));
  std::vector<std::string> expected;
  for (const ConvertedInput& converted : conversion.inputs) {
    ASSERT_EQ(converted.files.size(), has_events ? 2u : 1u);
    for (const LogFile& file : converted.files) {
      EXPECT_TRUE(file.written);
      EXPECT_EQ(file.bytes, fs::file_size(file.path));
      EXPECT_EQ(file.run, "job");
      expected.push_back(fs::path(file.path).lexically_relative(log));
    }
  }
  EXPECT_THAT(files(), testing::UnorderedElementsAreArray(expected));
  EXPECT_THAT(expected[0], testing::EndsWith("/rank0.1790857026001000000.pt.trace.json.gz"));
  if (!has_events) return;
  EXPECT_THAT(expected[1], testing::StartsWith("job/rank0/events.out.tfevents."));

  // Of what exists in part the rest is written.
  fs::remove(conversion.inputs[0].files[0].path);
  fs::remove(conversion.inputs[1].files[1].path);
  EXPECT_THAT(states(convert(inputs)), Each(State::failed));
  const Conversion rest = convert(inputs, {.log = {}, .skip_existing = true});
  EXPECT_THAT(states(rest), Each(State::written));
  EXPECT_TRUE(rest.inputs[0].files[0].written && !rest.inputs[0].files[1].written);
  EXPECT_TRUE(!rest.inputs[1].files[0].written && rest.inputs[1].files[1].written);
  EXPECT_THAT(files(), testing::UnorderedElementsAreArray(expected));
}

TEST_F(LogDirectory, NeedsAFolder) {
  write_whole_file(log, "in the way");
  const Result<Conversion> conversion =
      convert_to_log_directory({input("job/a.json", trace())}, log);
  EXPECT_EQ(conversion.status().code(), StatusCode::unwritable_output);
  EXPECT_EQ(fixtures::read_whole_file(log), "in the way");
}

}  // namespace
}  // namespace tbtrace
