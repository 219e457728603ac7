#include <string>
#include <utility>

#include <tbtrace/partial.h>
#include <tbtrace/tables.h>

#include "partials/content.h"
#include "partials/digest.h"
#include "partials/kernel_tables.h"
#include "partials/merge.h"
#include "partials/operator_tables.h"
#include "partials/place_tables.h"
#include "partials/rank_parts.h"
#include "partials/source_reports.h"
#include "partials/stack_tables.h"
#include "report/source_report.h"

namespace tbtrace {
namespace {

using partials::Content;

Status add_reports(partials::SourceContent& source, const Trace& trace) {
  for (const partials::SourceTable& table : partials::source_tables()) {
    Result<AnalysisReport> report = table.make(trace);
    if (!report.ok()) return report.status();
    source.reports.push_back(*std::move(report));
    source.reports.back().source = {};  // the source's own
  }
  return {};
}

}  // namespace

ArgumentSet partial_arguments(const PartialParts& parts) {
  ArgumentSet arguments = {ArgumentGroup::autograd};
  if (parts.operators) arguments = arguments | kOperatorArguments;
  if (parts.kernels) arguments = arguments | table_named("kernels")->all_arguments();
  if (parts.modules) arguments = arguments | kModuleArguments;
  if (parts.lines) arguments = arguments | kLineArguments;
  if (parts.stacks) {
    arguments = arguments | ArgumentSet{ArgumentGroup::call_stacks, ArgumentGroup::python,
                                        ArgumentGroup::graphs};
  }
  if (parts.reports) {
    for (const partials::SourceTable& table : partials::source_tables()) {
      arguments = arguments | table.table->arguments;
      if (table.name == "check") arguments = arguments | table.table->more_arguments;
    }
  }
  if (parts.ranks) arguments = arguments | kRankArguments;
  return arguments;
}

Partial::Partial(std::unique_ptr<partials::Content> content) : content_(std::move(content)) {}
Partial::Partial(Partial&&) noexcept = default;
Partial& Partial::operator=(Partial&&) noexcept = default;
Partial::~Partial() = default;

const PartialOptions& Partial::options() const& { return content_->options; }

std::span<const PartialSource> Partial::sources() const& { return content_->sources; }

Result<Partial> Partial::of(const Trace& trace, std::string name, const PartialOptions& options) {
  if (Status read = trace.check_read(partial_arguments(options.parts), "partial"); !read.ok()) {
    return read;
  }
  auto content = std::make_unique<Content>(options);
  const TraceIdentity identity = trace.identity();
  const std::string digest = partials::digest_of(trace);
  content->sources.push_back(
      {digest, std::move(name), identity.rank, identity.host, identity.process});
  partials::add_job_facts(content->sources.back(), trace);
  partials::SourceContent& source = content->of_sources.emplace_back();
  source.report = report::source_report(trace);
  const PartialParts& parts = options.parts;
  if (parts.operators) partials::add_operators(*content, trace, digest);
  if (parts.kernels) partials::add_kernels(*content, trace);
  if (parts.modules) partials::add_modules(*content, trace);
  if (parts.lines) partials::add_lines(*content, trace);
  if (parts.stacks) partials::add_stacks(*content, trace);
  if (parts.reports) {
    if (Status added = add_reports(source, trace); !added.ok()) return added;
  }
  if (parts.ranks) source.rank = partials::kept_record(trace, content->sources.back().name);
  return Partial(std::move(content));
}

Partial Partial::copy() const {
  Partial copy(std::make_unique<Content>(content_->options));
  // Into nothing anything can be merged.
  static_cast<void>(copy.merge(*this));
  return copy;
}

Status Partial::rename(std::string name) {
  if (content_->sources.size() != 1) {
    return {StatusCode::invalid_argument, "only a partial of one trace can be renamed, not of " +
                                              std::to_string(content_->sources.size())};
  }
  content_->sources.front().name = std::move(name);
  return {};
}

Status Partial::merge(const Partial& other) { return partials::merge(*content_, *other.content_); }

}  // namespace tbtrace
