// Schedules and what a profiler does on them, against 11,639 answers of torch 2.13's profiler.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <simdjson.h>

#include <tbtrace/schedule.h>

#include "io/source.h"
#include "recorder/process/messages.h"
#include "recorder/schedule/logged_target.h"

namespace tbtrace::recorder {
namespace {

namespace dom = simdjson::dom;

constexpr std::string_view kLetters = "NWRSD";

std::string read_cases() {
  const std::string path = std::string(TBTRACE_SHARED) + "/parity/schedule/schedule_cases.jsonl.gz";
  auto file = io::open_file(path);
  EXPECT_TRUE(file.ok()) << file.status().message();
  auto source = io::decompressed(*std::move(file));
  EXPECT_TRUE(source.ok()) << source.status().message();
  std::string text;
  std::vector<char> buffer(1 << 20);
  while (true) {
    const Result<std::size_t> size = (*source)->read(buffer);
    EXPECT_TRUE(size.ok());
    if (!size.ok() || *size == 0) return text;
    text.append(buffer.data(), *size);
  }
}

template <typename Value>
Value member(const dom::object& object, const char* name, Value otherwise) {
  Value value;
  return object[name].get(value) == simdjson::SUCCESS ? value : otherwise;
}

ScheduleOptions options_of(const dom::object& arguments) {
  const auto number = [&](const char* name) { return member<std::int64_t>(arguments, name, 0); };
  return {.skip_first = number("skip_first"),
          .wait = number("wait"),
          .warmup = number("warmup"),
          .active = number("active"),
          .repeat = number("repeat"),
          .skip_first_wait = number("skip_first_wait")};
}

/// Warnings name options as C++ writes them.
std::string in_cpp(std::string message) {
  constexpr std::string_view kPython = "acc_events=True";
  const std::size_t found = message.find(kPython);
  if (found != std::string::npos) message.replace(found, kPython.size(), "acc_events = true");
  return message;
}

Schedule planned(std::string plan) {
  return [plan = std::move(plan)](std::int64_t step) {
    const auto at = std::min(static_cast<std::size_t>(step), plan.size() - 1);
    return static_cast<ProfilerAction>(kLetters.find(plan[at]));
  };
}

class Cases : public testing::Test {
 protected:
  Cases() {
    before_ = set_warning_handler(
        [this](std::string_view sentence) { warnings_.emplace_back(sentence); });
  }
  ~Cases() override { set_warning_handler(before_); }

  /// `w3` for the words of warnings; the step in the last one is cut out.
  std::string with_indices(std::string log) const {
    for (std::size_t at = 0; at < messages_.size(); ++at) {
      const std::string& message = messages_[at];
      const std::size_t hole = message.find("{step}");
      const std::string start = "w" + message.substr(0, hole);
      const std::string end = hole == std::string::npos ? "" : message.substr(hole + 6);
      for (std::size_t found; (found = log.find(start)) != std::string::npos;) {
        const std::size_t stop = log.find(end, found + start.size()) + end.size();
        log.replace(found, stop - found, "w" + std::to_string(at));
      }
    }
    return log;
  }

  void check_schedule(const dom::object& line) {
    std::string error;
    std::string actions;
    warnings_.clear();
    try {
      const Schedule made = schedule(options_of(line["args"].get_object()));
      const auto first = member<std::int64_t>(line, "first", 0);
      const std::size_t steps = std::string_view(line["actions"]).size();
      for (std::size_t at = 0; at < steps; ++at) {
        actions += kLetters[static_cast<std::size_t>(made(first + static_cast<std::int64_t>(at)))];
      }
    } catch (const std::invalid_argument& failure) {
      error = failure.what();
    } catch (const simdjson::simdjson_error&) {
      ADD_FAILURE() << "made, but torch refuses it";
    }
    dom::array wanted;
    if (line["error"].get(wanted) == simdjson::SUCCESS) {
      EXPECT_EQ(error, std::string_view(wanted.at(1)));
      return;
    }
    EXPECT_EQ(error, "");
    EXPECT_EQ(actions, std::string_view(line["actions"]));
    std::vector<std::string> warns;
    dom::array indices;
    if (line["warns"].get(indices) == simdjson::SUCCESS) {
      for (const auto& index : indices) warns.push_back(messages_.at(std::uint64_t(index)));
    }
    EXPECT_EQ(warnings_, warns);
  }

  void check_negative_step(const dom::object& line) {
    const Schedule made = schedule(options_of(line["args"].get_object()));
    try {
      made(std::int64_t(line["step"]));
      ADD_FAILURE();
    } catch (const std::invalid_argument& failure) {
      EXPECT_EQ(failure.what(), std::string_view(line["error"].at(1)));
    }
  }

  void check_run(const dom::object& line) {
    Schedule schedule_of_run;
    dom::object arguments;
    std::string_view plan;
    if (line["schedule"].get(arguments) == simdjson::SUCCESS) {
      schedule_of_run = schedule(options_of(arguments));
    } else if (line["plan"].get(plan) == simdjson::SUCCESS) {
      schedule_of_run = planned(std::string(plan));
    }
    const bool acc_events = member(line, "acc_events", false);
    std::set<std::int64_t> stopped;
    dom::array stops;
    if (line["stopped"].get(stops) == simdjson::SUCCESS) {
      for (const auto& step : stops) stopped.insert(std::int64_t(step));
    }

    LoggedTarget target;
    Cycle cycle(std::move(schedule_of_run), acc_events, target);
    std::vector<std::string> log;
    const auto note = [&](const Status& status) {
      std::string words = with_indices(target.taken());
      if (!status.ok()) {
        words += (words.empty() ? "!" : " !");
        words +=
            status.code() == StatusCode::invalid_argument ? "ValueError: " : "AssertionError: ";
        words += status.message();
      }
      log.push_back(words);
    };
    note(cycle.made());
    std::int64_t calls_of_step = 0;
    for (const auto& call : dom::array(line["calls"])) {
      const std::string_view verb = call;
      if (!cycle.made().ok()) break;
      if (verb == "enter" || verb == "start") {
        note(cycle.start());
      } else if (verb == "step") {
        target.device_stops = stopped.contains(++calls_of_step);
        note(cycle.step());
      } else {
        note(cycle.stop());
      }
    }
    std::vector<std::string> wanted;
    for (const auto& words : dom::array(line["log"])) wanted.emplace_back(std::string_view(words));
    EXPECT_EQ(log, wanted);
  }

  std::vector<std::string> messages_;
  std::vector<std::string> warnings_;
  std::function<void(std::string_view)> before_;
};

TEST_F(Cases, AreAnsweredAsByTorch) {
  const std::string text = read_cases();
  dom::parser parser;
  std::map<std::string, int, std::less<>> seen;
  for (std::size_t at = 0; at < text.size() && !HasFailure();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    SCOPED_TRACE(line);
    const dom::object object = parser.parse(line);
    at = end + 1;
    std::string_view kind;
    if (object["kind"].get(kind) != simdjson::SUCCESS) {
      for (const auto& message : dom::array(object["messages"])) {
        messages_.push_back(in_cpp(std::string(std::string_view(message))));
      }
      continue;
    }
    ++seen[std::string(kind)];
    if (kind == "schedule") {
      check_schedule(object);
    } else if (kind == "negative_step") {
      check_negative_step(object);
    } else if (kind == "run") {
      check_run(object);
    }
  }
  EXPECT_EQ(seen["schedule"] + seen["negative_step"] + seen["run"], 11'639);
}

}  // namespace
}  // namespace tbtrace::recorder
