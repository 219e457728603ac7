// A folder for traces that become event files.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tbtrace/convert.h>

#include "fixtures/chrome_text.h"
#include "fixtures/event_reading.h"
#include "fixtures/whole_file.h"
#include "logdir/log_folder.h"

namespace tbtrace {

class SummaryLogs : public LogFolder {
 protected:
  static constexpr std::int64_t kBase = 1'790'857'026;
  static constexpr const char* kTime = "profile/step_time_ms";
  static constexpr const char* kTable = "profile/operators/text_summary";

  struct Window {
    std::int64_t base = kBase;  // in seconds
    std::vector<int> steps = {7};
    std::string annotation = "ProfilerStep#";
    std::string member = {};
    std::string host = {};
    int devices = 0;  // that run a kernel in the first step
  };

  static std::string trace(const Window& window) {
    fixtures::ChromeText text;
    text.before = {{"baseTimeNanoseconds", std::to_string(window.base) + "000000000"}};
    if (!window.member.empty()) text.before.emplace_back("distributedInfo", window.member);
    if (!window.host.empty()) {
      text.before.emplace_back("host_name", fixtures::in_quotes(window.host));
    }
    int at = 0;
    for (const int step : window.steps) {
      const auto event = [&](std::string_view category, const std::string& name, int from,
                             int length) {
        text.events.push_back(fixtures::op(name, std::to_string(from), std::to_string(length))
                                  .with("cat", fixtures::in_quotes(category)));
      };
      event("user_annotation", window.annotation + std::to_string(step), at, 900);
      event("cpu_op", "aten::mm", at + 100, 50);
      at += 1000;
    }
    for (int device = 0; device < window.devices; ++device) {
      text.events.push_back(fixtures::op("k", "200", "5")
                                .with("cat", "\"kernel\"")
                                .with("pid", std::to_string(device)));
    }
    return text.text();
  }

  SummaryLogs() { options.log.format = LogFormat::event_files; }

  std::string input(std::string_view name, const Window& window) {
    return LogFolder::input(name, trace(window));
  }

  Conversion convert(const std::vector<std::string>& inputs) {
    Result<Conversion> conversion = convert_to_log_directory(inputs, log, options);
    EXPECT_TRUE(conversion.ok()) << conversion.status().message();
    return conversion.ok() ? *std::move(conversion) : Conversion{};
  }

  std::map<std::string, std::string> contents() const {
    std::map<std::string, std::string> contents;
    for (const std::string& file : files()) {
      contents[file] = fixtures::read_whole_file(log + "/" + file);
    }
    return contents;
  }

  /// Steps of a tag's values in a run, in the order in which loaders meet them.
  std::vector<std::int64_t> steps(const std::string& run, const std::string& tag = kTime) const {
    std::vector<std::int64_t> found;
    for (const proto::Event& event : fixtures::events_in(log + "/" + run)) {
      if (event.summary().value_size() > 0 && event.summary().value(0).tag() == tag) {
        found.push_back(event.step());
      }
    }
    return found;
  }

  ConvertOptions options;
};

}  // namespace tbtrace
