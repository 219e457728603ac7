// Labels of replayed graphs from an eager trace of the same model.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <tbtrace/modules.h>
#include <tbtrace/replay_labels.h>
#include <tbtrace/steps.h>

#include "analyses/attribution/forward_operators.h"
#include "analyses/attribution/graph_labels.h"
#include "analyses/attribution/open_steps.h"
#include "analyses/attribution/owners.h"
#include "analyses/attribution/range_places.h"
#include "analyses/modules/places.h"
#include "trace/call_tree.h"
#include "trace/links.h"
#include "trace/trace_data.h"

namespace tbtrace {
namespace {

using analyses::Place;
using Names = std::vector<std::uint32_t>;
using Work = std::vector<const DeviceLink*>;

constexpr double kLeastAgreeing = 0.95;
constexpr std::size_t kMostSources = 24;  // different steps of the source
constexpr std::size_t kMostStarts = 24;   // in a step of the source where a replay may begin
constexpr std::size_t kStartLength = 4;   // names that are the same there
constexpr std::size_t kFarthest = 64;     // names that one side may have more at a place
constexpr std::size_t kConfirmed = 2;     // names that agree after such a place
constexpr std::size_t kMostTies = 32;     // places in the source that agree equally well
/// Of a step of the source: how much of it a step has to have, so that a model with more layers is
/// another one.
constexpr double kLeastOfSource = 0.8;

/// Numbers of the names of both traces.
class NameNumbers {
 public:
  std::uint32_t of(std::string_view name) {
    return numbers_.try_emplace(std::string(name), static_cast<std::uint32_t>(numbers_.size()))
        .first->second;
  }

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

/// The work of each step by start; of a trace without steps, of each launch of a graph if
/// `by_launch`, else all of it.
std::vector<Work> units_of(const Trace& trace, bool by_launch) {
  const std::span<const DeviceLink> all = links_of(trace).placed_work();
  std::map<std::int64_t, Work> units;
  const bool has_steps = !trace.steps().empty();
  const analyses::StepOfEvent steps(trace);
  for (const DeviceLink& link : all) {
    std::optional<std::int64_t> unit = 0;
    if (has_steps) {
      unit = steps.of(link.activity);
    } else if (by_launch) {
      unit = link.launch == EventId::none
                 ? std::nullopt
                 : std::optional(static_cast<std::int64_t>(index(link.launch)));
    }
    if (unit) units[*unit].push_back(&link);
  }
  std::vector<Work> result;
  result.reserve(units.size());
  for (auto& [number, work] : units) result.push_back(std::move(work));
  return result;
}

Names names_of(const Trace& trace, const Work& work, NameNumbers& numbers) {
  Names names;
  names.reserve(work.size());
  for (const DeviceLink* const link : work) names.push_back(numbers.of(trace.name(link->activity)));
  return names;
}

/// By place in a replay: the place in the source, or none.
using Places = std::vector<std::optional<std::uint32_t>>;

bool agree(const Names& replay, std::size_t at, const Names& source, std::size_t other) {
  for (std::size_t more = 0; more <= kConfirmed; ++more) {
    const bool is_end = at + more >= replay.size() || other + more >= source.size();
    if (is_end) return more > 0;
    if (replay[at + more] != source[other + more]) return false;
  }
  return true;
}

/// Goes through both; where they differ, to the nearest place from which they agree again.
Places aligned(const Names& replay, const Names& source, std::size_t start) {
  Places places(replay.size());
  std::size_t at = 0;
  std::size_t other = start;
  while (at < replay.size() && other < source.size()) {
    if (replay[at] == source[other]) {
      places[at++] = static_cast<std::uint32_t>(other++);
      continue;
    }
    bool is_found = false;
    for (std::size_t apart = 1; apart <= kFarthest && !is_found; ++apart) {
      for (std::size_t skipped = 0; skipped <= apart && !is_found; ++skipped) {
        if (!agree(replay, at + skipped, source, other + apart - skipped)) continue;
        is_found = true;
        at += skipped;
        other += apart - skipped;
      }
    }
    if (is_found) continue;
    ++at;  // neither is like the other for long
    ++other;
  }
  return places;
}

std::vector<std::size_t> starts_in(const Names& replay, const Names& source) {
  std::vector<std::size_t> starts = {0};
  const std::size_t length = std::min(kStartLength, replay.size());
  for (std::size_t at = 1; at + length <= source.size() && starts.size() < kMostStarts; ++at) {
    if (std::equal(replay.begin(), replay.begin() + static_cast<std::ptrdiff_t>(length),
                   source.begin() + static_cast<std::ptrdiff_t>(at))) {
      starts.push_back(at);
    }
  }
  return starts;
}

/// The labels of the work in the source.
class SourceLabels {
 public:
  explicit SourceLabels(const Trace& source) : source_(source), forward_(source), places_(source) {
    if (!has_modules(source)) return;
    where_ =
        analyses::find_places(source, forward_, [&](Place around, EventId range, bool is_backward) {
          return places_.place_in(around, range, is_backward);
        });
  }

  /// Empty: neither a module nor an operator is known.
  std::string of(const DeviceLink& link) const {
    const EventId owner = analyses::owner_of_work(call_tree_of(source_), link);
    if (owner != EventId::none && where_.place.size() > index(owner)) {
      const Place place = where_.place[index(owner)];
      if (place != StackTree::kRoot) return places_.path(place);
    }
    return link.op == EventId::none ? std::string() : std::string(source_.name(link.op));
  }

 private:
  const Trace& source_;
  analyses::ForwardOperators forward_;
  analyses::ModulePlaces places_;
  analyses::WorkPlaces where_;
};

class Labelling {
 public:
  Labelling(const Trace& trace, const Trace& source)
      : trace_(trace),
        labels_(source),
        are_steps_(!trace.steps().empty() && !source.steps().empty()) {
    std::map<Names, Work> different;
    for (Work& work : units_of(source, false)) {
      Names names = names_of(source, work, numbers_);
      if (different.size() < kMostSources) different.try_emplace(std::move(names), std::move(work));
    }
    for (auto& [names, work] : different) sources_.emplace_back(names, std::move(work));
  }

  /// By event; empty ones have none.
  std::vector<std::string> run(LabelledReplays& counts) {
    std::vector<std::string> all(trace_.events().size());
    const ArgumentColumn& nodes = trace_.argument(Argument::graph_node_id);
    for (const Work& work : units_of(trace_, true)) {
      const auto is_replayed = [&](const DeviceLink* link) {
        return nodes.integer(link->activity).value_or(0) != 0;
      };
      const auto replayed = static_cast<std::uint64_t>(std::ranges::count_if(work, is_replayed));
      if (replayed == 0) continue;
      ++counts.replays;
      const Match& match = match_of(names_of(trace_, work, numbers_),
                                    [&](std::size_t at) { return is_replayed(work[at]); });
      if (match.agreeing < kLeastAgreeing * static_cast<double>(replayed)) {
        ++counts.refused;
        counts.best_refused =
            std::max(counts.best_refused, match.agreeing / static_cast<double>(replayed));
        counts.unlabelled += replayed;
        continue;
      }
      for (std::size_t at = 0; at < work.size(); ++at) {
        if (!is_replayed(work[at])) continue;
        std::string& label = all[index(work[at]->activity)];
        label = label_at(match, at);
        ++(label.empty() ? counts.unlabelled : counts.labelled);
      }
    }
    return all;
  }

 private:
  struct Place {
    std::size_t source = 0;
    Places places;
  };
  struct Match {
    std::vector<Place> ties;  ///< those that agree best
    double agreeing = -1;     ///< of the replayed work
  };

  /// What all places that agree equally well say: a layer that is replayed by itself may be any.
  std::string label_at(const Match& match, std::size_t at) const {
    std::string label;
    for (const Place& tie : match.ties) {
      if (!tie.places[at]) return {};
      std::string other = labels_.of(*sources_[tie.source].second[*tie.places[at]]);
      if (&tie != match.ties.data() && other != label) return {};
      label = std::move(other);
    }
    return label;
  }

  template <typename IsReplayed>
  const Match& match_of(Names names, const IsReplayed& is_replayed) {
    const auto [known, is_new] = matches_.try_emplace(std::move(names));
    Match& best = known->second;
    if (!is_new) return best;
    const Names& replay = known->first;
    for (std::size_t number = 0; number < sources_.size(); ++number) {
      const Names& source = sources_[number].first;
      for (const std::size_t start : starts_in(replay, source)) {
        Places places = aligned(replay, source, start);
        double agreeing = 0;
        std::size_t of_source = 0;
        for (std::size_t at = 0; at < places.size(); ++at) {
          if (!places[at]) continue;
          ++of_source;
          if (is_replayed(at)) ++agreeing;
        }
        const auto least = kLeastOfSource * static_cast<double>(source.size());
        if (are_steps_ && static_cast<double>(of_source) < least) continue;
        if (agreeing > best.agreeing) best = {{}, agreeing};
        const bool is_tie = agreeing == best.agreeing && best.ties.size() < kMostTies;
        if (is_tie) best.ties.push_back({number, std::move(places)});
      }
    }
    return best;
  }

  const Trace& trace_;
  SourceLabels labels_;
  const bool are_steps_;
  NameNumbers numbers_;
  std::vector<std::pair<Names, Work>> sources_;
  std::map<Names, Match> matches_;
};

}  // namespace

ArgumentSet replay_label_arguments() { return kModuleArguments; }

Result<LabelledReplays> label_replays(Trace trace, const Trace& source) {
  const Trace* const own = &trace;
  for (const Trace* const each : {own, &source}) {
    if (Status read = each->check_read(replay_label_arguments(), "labels"); !read.ok()) return read;
  }
  if (!analyses::GraphLabels(trace).empty()) {
    return Status(StatusCode::invalid_argument,
                  "the trace has labels of its own; leave the other trace out");
  }
  const bool has_operators =
      std::ranges::any_of(links_of(source).placed_work(),
                          [](const DeviceLink& link) { return link.op != EventId::none; });
  if (!has_operators) {
    return Status(
        StatusCode::invalid_argument,
        "no kernel in the trace that labels should come from was launched by an operator; "
        "record one without CUDA graphs, with stacks or modules");
  }
  LabelledReplays result{.trace = std::move(trace)};
  const std::vector<std::string> labels = Labelling(result.trace, source).run(result);
  if (result.replays == 0) {
    return Status(
        StatusCode::invalid_argument,
        "the trace has no kernels of CUDA graphs with a `graph node id`, without which it "
        "cannot be told which kernels are replayed; record it with a newer torch");
  }
  std::unique_ptr<TraceData> data = DerivedOfTrace::taken(std::move(result.trace));
  ArgumentValues& column = data->arguments[static_cast<std::size_t>(Argument::label)];
  column = {};
  for (std::size_t row = 0; row < labels.size(); ++row) {
    if (!labels[row].empty()) {
      column.set(row, static_cast<StringId>(data->strings.intern(labels[row])));
    }
  }
  result.trace = DerivedOfTrace::made(std::move(data));
  return result;
}

std::string text_of(const LabelledReplays& replays, const std::string& source) {
  const auto all = static_cast<double>(replays.labelled + replays.unlabelled);
  std::string text = fmt::format(
      "labels are the modules, else the operators, of the same kernels in {}: {:.1f} % of the work "
      "of "
      "replayed CUDA graphs has one",
      source, all == 0 ? 0 : 100 * static_cast<double>(replays.labelled) / all);
  if (replays.refused == 0) return text;
  return text + fmt::format(
                    "; in {} of {} steps or launches fewer than 95 % of the names are in the "
                    "same order there (at most {:.1f} %), so that their work has none",
                    replays.refused, replays.replays, 100 * replays.best_refused);
}

}  // namespace tbtrace
