// Traces of launches and their kernels, and what checks say of a trace.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <tbtrace/checks.h>

#include "fixtures/trace_rows.h"

namespace tbtrace::check_fixtures {

inline const CheckFinding* finding(const std::vector<CheckFinding>& findings, std::string_view id) {
  const auto found = std::find_if(findings.begin(), findings.end(),
                                  [&](const CheckFinding& row) { return row.id == id; });
  return found == findings.end() ? nullptr : &*found;
}

/// `warning 3 example`, or nothing.
inline std::string described(const Trace& trace, std::string_view id) {
  const std::vector<CheckFinding> findings = trace_checks(trace);
  const CheckFinding* const found = finding(findings, id);
  if (found == nullptr) return "";
  EXPECT_FALSE(found->cause.empty());
  EXPECT_FALSE(found->remedy.empty());
  return std::string(check_severity_name(found->severity)) + " " + std::to_string(found->count) +
         " " + found->example;
}

/// Launches and their kernels.
class Launches {
 public:
  Launches() {
    fixtures::add(builder, {.name = "aten::mm", .start = 1, .duration = 1'000'000'000});
  }

  void launch(int count, std::string_view name = "cudaLaunchKernel") {
    for (; count > 0; --count) {
      fixtures::add(builder, {.category = "cuda_runtime",
                              .name = name,
                              .start = time += 10'001,
                              .duration = 5,
                              .correlation = ++correlation});
    }
  }
  void kernel(std::int64_t of, std::int64_t delay = 20, std::int64_t duration = 7) {
    fixtures::add(builder, {.category = "kernel",
                            .name = "gemm",
                            .start = 10'001 * of + delay,
                            .duration = duration,
                            .thread = 7,
                            .process = 0,
                            .correlation = of});
  }
  void kernels(std::int64_t first, std::int64_t last) {
    for (; first <= last; ++first) kernel(first);
  }

  Trace trace() { return fixtures::finished(builder); }

  TraceBuilder builder;
  std::int64_t time = 0;
  std::int64_t correlation = 0;
};

}  // namespace tbtrace::check_fixtures
