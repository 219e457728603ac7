// The document of a job.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tbtrace/ranks_view.h>

#include "pages/ranks/collective_tables.h"
#include "pages/ranks/costly_collectives.h"
#include "pages/ranks/job_steps.h"
#include "pages/ranks/rank_cells.h"
#include "pages/ranks/rank_tables.h"
#include "pages/ranks/shared_clock.h"
#include "pages/ranks/step_timelines.h"
#include "pages/ranks/wait_matrix.h"
#include "pages/table_text.h"
#include "pages/text_list.h"
#include "wire/json_emitter.h"

namespace tbtrace {
namespace {

void emit_sentences(wire::JsonEmitter& json, std::string_view key,
                    const std::vector<std::string>& sentences, std::size_t characters,
                    std::size_t& cuts) {
  json.key(key);
  json.begin_array();
  for (const std::string& sentence : sentences) {
    json.text(pages::cut_text(sentence, characters, cuts));
  }
  json.end_array();
}

/// What could not be matched, and what is known of ranks only by their files' names.
std::vector<std::string> matching_notes(const JobCollectives& job) {
  std::vector<std::string> notes = job.notes;
  for (std::size_t reason = 0; reason < kUnmatchedReasons; ++reason) {
    const std::uint64_t count = job.unmatched[reason];
    if (count == 0) continue;
    notes.push_back(std::to_string(count) + (count == 1 ? " record" : " records") +
                    " of collectives could not be matched: " +
                    std::string(unmatched_reason_text(static_cast<UnmatchedReason>(reason))));
  }
  return notes;
}

void emit_stragglers(wire::JsonEmitter& json, const StragglerResult& result) {
  json.key("stragglers");
  json.begin_array();
  for (const Straggler& one : result.stragglers) {
    json.begin_object();
    json.key("rank");
    json.integer(one.rank);
    json.member("cause", straggler_cause_name(one.cause));
    json.member("sentence", straggler_text(one));
    json.member("remedy", straggler_remedy(one.cause));
    json.key("excess_per_step_ns");
    json.integer(one.excess_per_step_ns);
    json.key("steps");
    json.integer(one.steps.size());
    json.key("share");
    json.number(one.share);
    json.key("peer");
    one.peer ? json.integer(*one.peer) : json.null();
    json.end_object();
  }
  json.end_array();
}

/// Half, but not less than the least.
std::size_t half(std::size_t limit, std::size_t least) {
  return std::max(std::min(limit, least), limit / 2);
}

}  // namespace

const ViewDescription& ranks_view() {
  static constexpr ViewDescription kView = {
      "ranks", "Ranks", "Who holds up the job, who waits for whom, and how fast collectives are."};
  return kView;
}

RanksLimits fewer(const RanksLimits& limits) {
  return {.rows = half(limits.rows, 1100),
          .cells = half(limits.cells, 2000),
          .matrix_ranks = half(limits.matrix_ranks, 16),
          .collectives = half(limits.collectives, 10),
          .members = half(limits.members, 16),
          .timeline_ranks = half(limits.timeline_ranks, 8),
          .timeline_parts = half(limits.timeline_parts, 50),
          .matches = half(limits.matches, 500),
          .characters = half(limits.characters, 120)};
}

struct RanksView::Contents {
  JobAnalysis job;
  JobRemarks remarks;
  pages::JobSteps steps;
  pages::RankCells cells;
  pages::WaitMatrix waits;
  std::vector<std::size_t> costliest;
  pages::StepTimelines timelines;
  std::vector<pages::TableContent> tables;
  std::vector<std::int64_t> ranks;

  Contents(JobAnalysis of, JobRemarks said)
      : job(std::move(of)),
        remarks(std::move(said)),
        steps(job),
        cells(pages::rank_cells(job, steps, RanksLimits().cells)),
        waits(pages::wait_matrix(job, RanksLimits().matrix_ranks)),
        costliest(pages::costly_collectives(job, RanksLimits().collectives)),
        timelines(job, steps, costliest) {
    tables.push_back(pages::ranks_table(job, steps));
    tables.push_back(pages::waits_table(job, waits));
    tables.push_back(pages::operations_table(job));
    tables.push_back(pages::collectives_by_size(job));
    tables.push_back(pages::clocks_table(job));
    for (pages::TableContent& table : tables) pages::drop_rows(table, RanksLimits().rows);
    for (const std::size_t rank : steps.ranks_by_interest()) {
      ranks.push_back(job.collectives.ranks[rank].rank);
    }
  }
};

RanksView::RanksView(JobAnalysis job, JobRemarks remarks)
    : contents_(std::make_unique<Contents>(std::move(job), std::move(remarks))) {}
RanksView::RanksView(RanksView&&) noexcept = default;
RanksView& RanksView::operator=(RanksView&&) noexcept = default;
RanksView::~RanksView() = default;

const std::vector<std::int64_t>& RanksView::ranks_by_interest() const { return contents_->ranks; }

std::string RanksView::document(const RanksLimits& limits) const {
  const JobAnalysis& job = contents_->job;
  std::size_t cuts = 0;
  std::string text;
  wire::JsonEmitter json(text);
  json.begin_object();
  json.member("schema", "tbtrace.ranks/1");
  json.member("title", ranks_view().title);
  json.member("about", ranks_view().about);
  emit_sentences(json, "sentences", straggler_lines(job.stragglers), 2000, cuts);
  emit_stragglers(json, job.stragglers);
  json.key("compared_steps");
  json.integer(job.stragglers.compared_steps);
  json.key("why_not_compared");
  job.stragglers.why_not_compared.empty() ? json.null()
                                          : json.text(job.stragglers.why_not_compared);
  emit_sentences(json, "remarks", contents_->remarks, 2000, cuts);
  emit_sentences(json, "notes", matching_notes(job.collectives), 2000, cuts);
  json.key("collectives");
  json.integer(job.times.size());
  json.key("unmatched");
  json.integer(job.collectives.unmatched_total());
  json.key("tables");
  json.begin_array();
  const ViewLimits of_tables = {.rows = limits.rows, .characters = limits.characters};
  for (const pages::TableContent& table : contents_->tables) {
    pages::emit_table(json, table, of_tables);
  }
  json.end_array();
  pages::emit_cells(json, contents_->cells, limits.cells);
  pages::emit_waits(json, contents_->waits, limits.matrix_ranks);
  pages::emit_collectives(json, job, contents_->costliest, limits.collectives, limits.members,
                          limits.characters, cuts);
  contents_->timelines.emit(json, limits, cuts);
  pages::emit_recordings(json, job);
  pages::emit_matches(json, job, limits.matches);
  json.key("names_cut");
  json.integer(cuts);
  json.end_object();
  text += '\n';
  return text;
}

}  // namespace tbtrace
