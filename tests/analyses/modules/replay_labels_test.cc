// Labels of replayed graphs from an eager trace.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/replay_labels.h>

#include "fixtures/chrome_text.h"
#include "fixtures/read_text.h"

namespace tbtrace {
namespace {

using fixtures::ChromeEvent;
using testing::ElementsAre;
using testing::HasSubstr;

Trace read(const std::vector<ChromeEvent>& events) {
  return fixtures::read(fixtures::trace_text(events),
                        {.threads = 1, .arguments = replay_label_arguments()});
}

ChromeEvent event(std::string_view category, const std::string& name, int start, int correlation) {
  return fixtures::op(name, std::to_string(start), "5")
      .with("cat", fixtures::in_quotes(category))
      .arg("correlation", std::to_string(correlation));
}

ChromeEvent kernel(const std::string& name, int start, int correlation) {
  return event("kernel", name, start, correlation).with("pid", "0").with("tid", "7");
}

/// Each kernel launched by an operator `of_<name>`.
Trace eager(const std::vector<std::string>& names) {
  std::vector<ChromeEvent> events;
  int at = 0;
  for (const std::string& name : names) {
    events.push_back(fixtures::op("aten::of_" + name, std::to_string(at), "8"));
    events.push_back(event("cuda_runtime", "cudaLaunchKernel", at + 1, at + 1));
    events.push_back(kernel(name, at + 20, at + 1));
    at += 100;
  }
  return read(events);
}

Trace replay(const std::vector<std::string>& names) {
  std::vector<ChromeEvent> events = {event("cuda_runtime", "cudaGraphLaunch", 0, 1)};
  int node = 0;
  for (const std::string& name : names) {
    ++node;
    events.push_back(kernel(name, 20 * node, 1).arg("graph node id", std::to_string(node)));
  }
  return read(events);
}

std::vector<std::string> labels_of(const Trace& trace) {
  std::vector<std::string> labels;
  for (const EventId event : trace.by_start()) {
    if (trace.kind(event) != EventKind::kernel) continue;
    labels.emplace_back(trace.argument_text(event, Argument::label));
  }
  return labels;
}

TEST(ReplayLabels, AreOfTheKernelAtTheSamePlace) {
  const LabelledReplays labelled =
      *label_replays(replay({"a", "b", "a", "c", "d", "e"}),
                     eager({"x", "y", "a", "b", "a", "c", "extra", "d", "e", "z"}));
  EXPECT_THAT(labels_of(labelled.trace), ElementsAre("aten::of_a", "aten::of_b", "aten::of_a",
                                                     "aten::of_c", "aten::of_d", "aten::of_e"));
  EXPECT_EQ(labelled.labelled, 6U);
  EXPECT_EQ(
      text_of(labelled, "eager.json"),
      "labels are the modules, else the operators, of the same kernels in eager.json: 100.0 % of "
      "the work of replayed CUDA graphs has one");
}

TEST(ReplayLabels, AreRefusedIfFewNamesAgree) {
  const LabelledReplays labelled =
      *label_replays(replay({"a", "b", "c", "d"}), eager({"a", "b", "c", "e"}));
  EXPECT_THAT(labels_of(labelled.trace), ElementsAre("", "", "", ""));
  EXPECT_EQ(labelled.refused, 1U);
  EXPECT_THAT(text_of(labelled, "eager.json"), HasSubstr("at most 75.0 %"));
}

TEST(ReplayLabels, NeedReplaysAndOperators) {
  EXPECT_THAT(label_replays(eager({"a"}), eager({"a"})).status().message(),
              HasSubstr("no kernels of CUDA graphs"));
  EXPECT_THAT(label_replays(replay({"a"}), replay({"a"})).status().message(),
              HasSubstr("record one without CUDA graphs"));
  Trace labelled = std::move(label_replays(replay({"a"}), eager({"a"}))->trace);
  EXPECT_THAT(label_replays(std::move(labelled), eager({"a"})).status().message(),
              HasSubstr("labels of its own"));
}

}  // namespace
}  // namespace tbtrace
