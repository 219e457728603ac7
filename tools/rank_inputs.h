// The ranks of a job from traces and partials: their records, and what is to be said of the job.
// Records are small; a trace or partial can be dropped after add(). One thread.
#pragma once

#include <set>
#include <string>
#include <vector>

#include <tbtrace/collectives.h>
#include <tbtrace/partial.h>
#include <tbtrace/status.h>
#include <tbtrace/trace.h>

#include "console.h"

namespace tbtrace::tools {

class RankInputs {
 public:
  explicit RankInputs(Console& console) : console_(console) {}

  void add(const Trace& trace, const std::string& path);
  /// A source that is in another partial too counts once; says so.
  Status add(Partial partial, const std::string& path);

  /// If all ranks are from partials, says what people should know of their job; of files the loop
  /// over inputs says that.
  void say_remarks(const std::string& verb) const;

  std::vector<RankRecord> take_records() { return std::move(records_); }

 private:
  Console& console_;
  std::vector<RankRecord> records_;
  std::vector<PartialSource> sources_;
  std::set<std::string> digests_;
  bool has_traces_ = false;
};

}  // namespace tbtrace::tools
