#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <tbtrace/job_analysis.h>
#include <tbtrace/ranks_view.h>

#include "failures.h"
#include "module.h"
#include "python_trace.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tbtrace::python {
namespace {

struct PythonRankRecord {
  std::shared_ptr<const RankRecord> record;
};

PythonRankRecord rank_record_of(const PythonTrace& trace, const std::optional<std::string>& name) {
  need(kRankArguments, trace, "rank_record");
  const nb::gil_scoped_release working;
  return {std::make_shared<const RankRecord>(
      rank_record(*trace.trace, name.value_or(trace.name), {.with_activity = true}))};
}

nb::bytes ranks(const std::vector<PythonRankRecord>& records, JobRemarks remarks) {
  if (records.size() < 2) wrong_argument("ranks takes the records of two ranks or more");
  std::string json;
  {
    const nb::gil_scoped_release working;
    std::vector<RankRecord> copies;
    copies.reserve(records.size());
    for (const PythonRankRecord& one : records) copies.push_back(*one.record);
    json = RanksView(analyse_job(std::move(copies)), std::move(remarks)).document();
  }
  return nb::bytes(json.data(), json.size());
}

}  // namespace

void bind_ranks(nb::module_& module) {
  nb::class_<PythonRankRecord>(
      module, "RankRecord",
      "What the trace of a rank contributes to the view of its job; small beside the trace.")
      .def_prop_ro(
          "rank", [](const PythonRankRecord& self) { return self.record->rank; },
          "The rank in the job, None if the file does not have it.",
          nb::sig("def rank(self) -> int | None"));
  module.def("rank_record", rank_record_of, "trace"_a, nb::kw_only(), "name"_a = nb::none(),
             "What a trace contributes to ranks(). `name`: what the document calls it.\n\n"
             "    tbtrace.rank_record(trace).rank",
             nb::sig("def rank_record(trace: Trace, *, name: str | None = None) -> RankRecord"));
  module.def(
      "ranks", ranks, "records"_a, nb::kw_only(), "remarks"_a = JobRemarks(),
      "What the view Ranks shows of a job: the JSON document `tbtrace.ranks/1`\n"
      "(docs/formats/ranks.md), with times in ns. `remarks`: sentences about the inputs that it\n"
      "says as well.\n\n"
      "    tbtrace.ranks([tbtrace.rank_record(trace) for trace in ranks])",
      nb::sig("def ranks(records: collections.abc.Sequence[RankRecord], *, "
              "remarks: collections.abc.Sequence[str] = ()) -> bytes"));
}

}  // namespace tbtrace::python
