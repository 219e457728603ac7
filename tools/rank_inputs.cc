#include "rank_inputs.h"

#include <cstddef>
#include <utility>

#include <tbtrace/jobs.h>

#include "inputs.h"

namespace tbtrace::tools {

void RankInputs::add(const Trace& trace, const std::string& path) {
  has_traces_ = true;
  records_.push_back(rank_record(trace, path));
}

Status RankInputs::add(Partial partial, const std::string& path) {
  const std::vector<PartialSource> sources(partial.sources().begin(), partial.sources().end());
  Result<std::vector<RankRecord>> records = take_rank_records(std::move(partial));
  if (!records.ok()) return records.status();
  for (std::size_t number = 0; number < sources.size(); ++number) {
    if (!digests_.insert(sources[number].digest).second) {
      console_.warning(subject_of(path), "the trace " + sources[number].name +
                                             " is in another partial too; it counts once");
      continue;
    }
    sources_.push_back(sources[number]);
    records_.push_back(std::move((*records)[number]));
  }
  return {};
}

void RankInputs::say_remarks(const std::string& verb) const {
  if (has_traces_) return;
  for (const std::string& remark : job_remarks(find_jobs(sources_))) {
    console_.warning(verb, remark);
  }
}

}  // namespace tbtrace::tools
