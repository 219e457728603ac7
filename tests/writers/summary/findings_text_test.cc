#include "writers/summary/findings_text.h"

#include <cstddef>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tbtrace::writers {
namespace {

using testing::HasSubstr;
using testing::Not;

Finding finding(std::string id, double own_share, std::string part_of = {}) {
  Finding one;
  one.id = std::move(id);
  one.title = "It is slow";
  one.remedy = "mend it";
  one.share = own_share;
  one.own_share = own_share;
  one.part_of = std::move(part_of);
  return one;
}

TEST(FindingsText, PartsFollowTheirWhole) {
  TraceSummary summary;
  summary.findings = {finding("other", 0.4), finding("cause", 0.3, "low_gpu_utilization"),
                      finding("low_gpu_utilization", 0.1)};
  const std::string text = findings_text({summary});
  const std::size_t other = text.find("[other]");
  const std::size_t whole = text.find("[low_gpu_utilization]");
  const std::size_t cause = text.find("\n    30.0 % of the GPU's time  It is slow [cause]");
  ASSERT_NE(cause, std::string::npos) << text;
  EXPECT_LT(other, whole);
  EXPECT_LT(whole, cause);
}

TEST(FindingsText, NamesInRemediesCannotControlATerminal) {
  TraceSummary summary;
  summary.findings = {finding("host_code", 0.4)};
  summary.findings[0].remedy = "make \x1b[2J\nx cheaper";
  const std::string text = findings_text({summary});
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, HasSubstr("make \\x1b[2J\\x0ax cheaper"));
}

TEST(FindingsText, SaysIfADeviceDidTooLittle) {
  TraceSummary summary;
  summary.run.window_ns = 1'000'000'000;
  summary.gpus.emplace_back().window_ns = 5000;
  summary.gpus[0].busy_ns = 2000;
  EXPECT_THAT(findings_text({summary}), HasSubstr("worked for 2.000 us of 1.000 s: too little"));
  summary.gpus[0].busy_ns = 20'000'000;
  EXPECT_THAT(findings_text({summary}), Not(HasSubstr("too little")));
}

}  // namespace
}  // namespace tbtrace::writers
