#include "logdir/findings_card.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tbtrace::logdir {
namespace {

using testing::HasSubstr;

TraceSummary summary() {
  TraceSummary summary;
  summary.run.window_ns = 2'000'000;
  summary.run.device_activities = 1;
  DeviceProperties device;
  device.name = "Example `GPU`\n<b>";
  summary.run.devices = {device};
  summary.looked_for = {"an idle GPU", "small kernels"};
  return summary;
}

TEST(FindingsCard, SaysWhatWasLookedForIfNothingWasFound) {
  EXPECT_EQ(findings_card(summary(), "Steps 1 to 2"),
            "Steps 1 to 2: `Example 'GPU'\\x0a<b>`, 2.000 ms recorded\n\n"
            "No findings. Looked for: an idle GPU, small kernels.\n");
}

TEST(FindingsCard, HasEvidenceAndRemedyOfEachFinding) {
  TraceSummary some = summary();
  Finding finding;
  finding.id = "low_gpu_utilization";
  finding.title = "The GPU is idle";
  finding.remedy = "look at the gaps";
  finding.share = 0.25;
  finding.gain_ns = 500'000;
  finding.gain_how = "per step";
  finding.evidence = {{"gap", std::int64_t{1'500}, "ns", "before `x`\n# y"}};
  some.findings = {finding};
  EXPECT_THAT(
      findings_card(some, "Step 1"),
      HasSubstr(
          "- **25.0 % of the GPU's time: The GPU is idle**, at most 500.000 us to gain (per step)\n"
          "    - gap 1.500 us (`before 'x'\\x0a# y`)\n"
          "    - What to do: look at the gaps\n"));
}

TEST(FindingsCard, NamesInSentencesAreNoMarkup) {
  TraceSummary some = summary();
  Finding finding;
  finding.title = "*_add_* of <b> [x](y) & `z` \\ is slow";
  some.findings = {finding};
  EXPECT_THAT(findings_card(some, "Step 1"),
              HasSubstr(R"(\*\_add\_\* of &lt;b> \[x\](y) &amp; \`z\` \\ is slow)"));
}

TEST(FindingsCard, HasErrorsOfTheRecordingFirst) {
  TraceSummary some = summary();
  CheckFinding check;
  check.severity = CheckSeverity::error;
  check.cause = "events were lost";
  check.remedy = "record fewer steps";
  some.checks = {check};
  const std::string card = findings_card(some, "Step 1");
  EXPECT_THAT(card, HasSubstr("\n- **error**: events were lost. What to do: record fewer steps\n"));
  EXPECT_LT(card.find("**error**"), card.find("No findings"));
}

}  // namespace
}  // namespace tbtrace::logdir
