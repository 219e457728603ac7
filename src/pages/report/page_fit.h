// Makes the views of a page so small that it keeps its size.
// Pure functions; results are plain values.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <tbtrace/ranks_view.h>
#include <tbtrace/status.h>
#include <tbtrace/views.h>

#include "pages/view_content.h"

namespace tbtrace::pages {

/// A view of a trace as it stands in the page.
struct ViewSection {
  const ViewContent* content = nullptr;
  std::size_t trace = 0;
  ViewLimits limits = {.range_arguments = true};
  std::size_t text_bytes = 0;
  std::string base64 = {};
};

/// Writes the sections, and makes the largest ones smaller until they have at most `limit` bytes.
/// False if that is impossible: then each has the least that is kept of it; or with a failure.
bool fit_sections(std::vector<ViewSection>& sections, std::size_t limit, std::size_t threads,
                  Status& failure);

std::size_t bytes_of(const std::vector<ViewSection>& sections);

/// The view of the job.
struct JobSection {
  std::size_t text_bytes = 0;
  std::string base64;
};

Result<JobSection> job_section(const RanksView& view, const RanksLimits& limits = {});

/// At most so large, or as small as it can be.
Result<JobSection> job_section_within(const RanksView& view, std::size_t bytes);

}  // namespace tbtrace::pages
