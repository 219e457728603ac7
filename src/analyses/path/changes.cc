#include "analyses/path/changes.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <memory>
#include <utility>

#include "analyses/attribution/communication.h"
#include "analyses/grouping/keys.h"
#include "analyses/kernels/families.h"
#include "analyses/kernels/names.h"
#include "base/bounded_sum.h"
#include "trace/call_tree.h"
#include "trace/links.h"

namespace tbtrace::analyses {
namespace {

struct KindName {
  std::string_view name;
  ChangeKind kind;
  bool has_name;
  bool takes_time;
};
constexpr auto kKinds = std::to_array<KindName>({
    {"operator", ChangeKind::op, true, false},
    {"kernel", ChangeKind::kernel, true, true},
    {"family", ChangeKind::family, true, true},
    {"module", ChangeKind::module, true, false},
    {"line", ChangeKind::line, true, false},
    {"communication", ChangeKind::communication, false, true},
    {"data_loader", ChangeKind::data_loader, false, false},
    {"launch", ChangeKind::launch, false, false},
    {"copy", ChangeKind::copy, false, true},
    {"rank", ChangeKind::rank, true, false},
});

Status wrong(std::string_view text, const std::string& why) {
  return {StatusCode::invalid_argument, "'" + std::string(text) + "' is not a change: " + why};
}

struct Amount {
  double factor = 1;
  std::optional<std::int64_t> time_ns;
  bool is_as_others = false;
};

/// `x0.5`, `=10us` or `=others`, all of the text.
std::optional<Amount> amount_in(std::string_view text) {
  constexpr double kMost = 1e6;
  if (text == "=others") return Amount{1, {}, true};
  if (text.size() < 2 || (text.front() != 'x' && text.front() != '=')) return std::nullopt;
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + 1, end, number);
  if (error != std::errc() || !(number >= 0) || number > kMost) return std::nullopt;
  const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  if (text.front() == 'x')
    return unit.empty() ? std::optional(Amount{number, {}, false}) : std::nullopt;
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
  for (const auto& [name, ns] : kUnits) {
    if (unit == name) return Amount{1, static_cast<std::int64_t>(std::llround(number * ns)), false};
  }
  return std::nullopt;
}

/// The first change of a text, which may have others after a comma; names have commas as well. The
/// rest stays in `text`.
std::string_view take_first(std::string_view& text) {
  for (std::size_t comma = text.find(','); comma != std::string_view::npos;
       comma = text.find(',', comma + 1)) {
    const std::size_t blank = text.substr(0, comma).rfind(' ');
    if (blank == std::string_view::npos) continue;
    if (!amount_in(text.substr(blank + 1, comma - blank - 1))) continue;
    const std::string_view first = text.substr(0, comma);
    text.remove_prefix(comma + 1);
    return first;
  }
  return std::exchange(text, {});
}

Result<PathChange> change_in(std::string_view text) {
  constexpr std::string_view kForms =
      "it is written KIND:NAME xFACTOR or KIND xFACTOR, such as operator:aten::mm x0.5";
  while (text.starts_with(' ')) text.remove_prefix(1);
  const std::size_t blank = text.rfind(' ');
  if (blank == std::string_view::npos) return wrong(text, std::string(kForms));
  const std::optional<Amount> amount = amount_in(text.substr(blank + 1));
  if (!amount) {
    return wrong(text, "it ends with a factor (x0.5) or with a time and its unit (=10us)");
  }
  const std::string_view what = text.substr(0, blank);
  const std::string_view word = what.substr(0, what.find(':'));
  const std::string_view name =
      word.size() == what.size() ? std::string_view() : what.substr(word.size() + 1);
  const auto* const kind = std::ranges::find(kKinds, word, &KindName::name);
  if (kind == kKinds.end()) {
    std::string names;
    for (const KindName& each : kKinds) {
      names += (names.empty() ? "" : ", ") + std::string(each.name);
    }
    return wrong(text, "its kind is one of " + names);
  }
  if (kind->has_name == name.empty()) {
    return wrong(
        text, std::string(word) + (kind->has_name ? " needs a name: " + std::string(word) + ":NAME"
                                                  : " takes no name"));
  }
  if (amount->time_ns && !kind->takes_time) {
    return wrong(text, std::string(word) + " takes a factor, such as x0.5");
  }
  PathChange change = {kind->kind, std::string(name), amount->factor, amount->time_ns,
                       amount->is_as_others};
  if (change.is_as_others && change.kind != ChangeKind::rank) {
    return wrong(text, "only a rank can be as fast as others, such as rank:3 =others");
  }
  if (change.kind == ChangeKind::rank && !change.rank()) {
    return wrong(text, "a rank is a whole number, such as rank:3 x0.5");
  }
  return change;
}

std::string_view kind_name(ChangeKind kind) {
  return std::ranges::find(kKinds, kind, &KindName::kind)->name;
}

/// Marks the events that a change is about, on the host with all that is inside them.
class Marks {
 public:
  Marks(const Trace& trace, const StepRules& rules, const PathGraph& graph)
      : trace_(trace), rules_(rules), graph_(graph), communication_(communication_work(trace)) {}

  std::vector<bool> of(const PathChange& change) {
    std::vector<bool> marked(trace_.events().size(), false);
    switch (change.kind) {
      case ChangeKind::op:
      case ChangeKind::module:
      case ChangeKind::data_loader:
        mark_ranges(change, marked);
        break;
      case ChangeKind::line:
        mark_line(change, marked);
        break;
      case ChangeKind::launch:
        for (std::size_t work = 0; work < graph_.work().size(); ++work) {
          const EventId launch = graph_.work()[work].launch;
          if (launch != EventId::none && !graph_.is_on_host(work)) marked[index(launch)] = true;
        }
        break;
      default:
        for (const DeviceLink& link : graph_.work()) {
          if (is_meant(change, link.activity)) marked[index(link.activity)] = true;
        }
        break;
    }
    return marked;
  }

 private:
  bool is_meant(const PathChange& change, EventId activity) const {
    const bool is_kernel = trace_.kind(activity) == EventKind::kernel;
    const bool communicates =
        communication_[index(activity)] || is_host_range(trace_.kind(activity));
    switch (change.kind) {
      case ChangeKind::communication:
        return communicates;
      case ChangeKind::copy:
        return !is_kernel && !communicates;
      case ChangeKind::family: {
        if (!is_kernel) return false;
        const KernelFamily family =
            communicates ? KernelFamily::collective : kernel_family(trace_.name(activity));
        return kernel_family_name(family) == change.name;
      }
      default:
        return is_kernel && (trace_.name(activity) == change.name ||
                             short_kernel_name(trace_.name(activity)) == change.name);
    }
  }

  bool begins(const PathChange& change, EventId range) const {
    const std::string_view name = trace_.name(range);
    switch (change.kind) {
      case ChangeKind::data_loader:
        return rules_.role(range) == StepRole::data_loader;
      case ChangeKind::module: {
        constexpr std::string_view kPrefix = "nn.Module: ";
        return trace_.events().is_module(range) &&
               (name == change.name ||
                (name.starts_with(kPrefix) && name.substr(kPrefix.size()) == change.name));
      }
      default:
        return trace_.kind(range) == EventKind::cpu_op && name == change.name;
    }
  }

  void mark_ranges(const PathChange& change, std::vector<bool>& marked) const {
    const CallTree& tree = call_tree_of(trace_);
    for (const EventId range : tree.ranges()) {
      const EventId around = tree.parent(range);
      marked[index(range)] =
          (around != EventId::none && marked[index(around)]) || begins(change, range);
    }
    for (const DeviceLink& link : graph_.work()) {
      for (const EventId host : {link.launch, link.op}) {
        if (host != EventId::none && marked[index(host)]) marked[index(link.activity)] = true;
      }
    }
  }

  void mark_line(const PathChange& change, std::vector<bool>& marked) {
    GroupKeys keys(trace_, {GroupKey::line});
    const auto mark = [&](EventId event) {
      const auto& line = keys.values(keys.of(event))->line;
      if (line && *line == change.name) marked[index(event)] = true;
    };
    for (const EventId range : call_tree_of(trace_).ranges()) mark(range);
    for (const DeviceLink& link : graph_.work()) mark(link.activity);
  }

  const Trace& trace_;
  const StepRules& rules_;
  const PathGraph& graph_;
  const std::vector<bool> communication_;
};

}  // namespace

Status missing_of_change(const PathChange& change, std::string_view what) {
  const std::string kind(kind_name(change.kind));
  return {StatusCode::invalid_argument,
          std::string(what) + " no " + kind + " named '" + change.name +
              "'; names are written as in the table critical_path, grouped by " + kind};
}

std::string note_of_nothing(const PathChange& change) {
  return "the recording has no " + std::string(kind_name(change.kind)) +
         ", so this changes nothing";
}

Result<std::vector<PathChange>> parse_changes(const std::vector<std::string>& texts) {
  std::vector<PathChange> changes;
  for (const std::string& each : texts) {
    std::string_view text = each;
    do {
      Result<PathChange> change = change_in(take_first(text));
      if (!change.ok()) return change.status();
      changes.push_back(*std::move(change));
    } while (!text.empty());
  }
  return changes;
}

std::optional<std::int64_t> PathChange::rank() const {
  std::int64_t number = 0;
  const char* const end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(name.data(), end, number);
  if (kind != ChangeKind::rank || error != std::errc() || rest != end || number < 0) {
    return std::nullopt;
  }
  return number;
}

void PathChanges::mark(const Trace& trace, const PathChange& change,
                       const std::vector<bool>& marked, const TransferTimes& transfers) {
  if (change.kind == ChangeKind::launch) launch_factor_ *= change.factor;
  for (std::size_t event = 0; event < marked.size(); ++event) {
    if (!marked[event]) continue;
    if (!change.time_ns) {
      factors_[event] *= change.factor;
      continue;
    }
    const auto transfer = transfers.find(static_cast<EventId>(event));
    const std::int64_t duration = transfer == transfers.end()
                                      ? trace.events().duration_ns(static_cast<EventId>(event))
                                      : transfer->second;
    if (duration > 0) {
      factors_[event] = static_cast<double>(*change.time_ns) / static_cast<double>(duration);
    }
  }
}

Result<PathChanges> PathChanges::of(const Trace& trace, const StepRules& rules,
                                    const PathGraph& graph,
                                    const std::vector<PathChange>& changes) {
  PathChanges made;
  made.factors_.resize(trace.events().size(), 1);
  Marks marks(trace, rules, graph);
  for (const PathChange& change : changes) {
    if (change.kind == ChangeKind::rank) {
      return Status(StatusCode::invalid_argument,
                    "rank:" + change.name +
                        " is about a rank among others, and this is one recording; give the "
                        "recordings of all ranks of the job");
    }
    const std::vector<bool> marked = marks.of(change);
    if (std::ranges::find(marked, true) == marked.end()) {
      if (!change.name.empty()) return missing_of_change(change, "the trace has");
      made.notes_.push_back(note_of_nothing(change));
      continue;
    }
    made.mark(trace, change, marked, {});
  }
  return made;
}

void PathChanges::leave_out_unrecorded(const Trace& trace, const StepRules& rules) {
  unrecorded_factor_ = 0;
  for (std::size_t event = 0; event < factors_.size(); ++event) {
    const auto range = static_cast<EventId>(event);
    const EventKind kind = trace.kind(range);
    if (kind != EventKind::user_annotation && kind != EventKind::other) continue;
    if (rules.role(range) != StepRole::data_loader) factors_[event] = 0;
  }
}

PathChanges PathChanges::of_rank(const Trace& trace, const StepRules& rules, const PathGraph& graph,
                                 const std::vector<PathChange>& changes,
                                 const TransferTimes& transfers, double own_factor,
                                 std::vector<bool>& missing) {
  PathChanges made;
  made.factors_.resize(trace.events().size(), 1);
  Marks marks(trace, rules, graph);
  for (std::size_t number = 0; number < changes.size(); ++number) {
    const PathChange& change = changes[number];
    if (change.kind == ChangeKind::rank) continue;
    const std::vector<bool> marked = marks.of(change);
    if (std::ranges::find(marked, true) == marked.end()) continue;
    missing[number] = false;
    made.mark(trace, change, marked, transfers);
  }
  if (own_factor == 1) return made;
  const std::vector<bool> communicates = marks.of({.kind = ChangeKind::communication});
  for (std::size_t event = 0; event < communicates.size(); ++event) {
    if (!communicates[event]) made.factors_[event] *= own_factor;
  }
  made.unrecorded_factor_ = own_factor;
  return made;
}

std::int64_t PathChanges::scaled(std::int64_t ns, double factor) {
  if (factor == 1) return ns;
  constexpr double kMost = 4e18;
  return static_cast<std::int64_t>(
      std::llround(std::clamp(static_cast<double>(ns) * factor, -kMost, kMost)));
}

std::int64_t PathChanges::changed_ns(const PathGraph& graph, const PathEdge& edge,
                                     std::int64_t ns) const {
  switch (edge.kind) {
    case EdgeKind::thread:
    case EdgeKind::hand_over: {
      if (factors_.empty()) return ns;
      std::int64_t sum = 0;
      for_each_stretch(graph.host().of(static_cast<TrackId>(edge.subject)), graph.time(edge.from),
                       graph.time(edge.to),
                       [&](EventId range, std::int64_t start, std::int64_t end) {
                         add_bounded(sum, changed_ns(range, end - start));
                       });
      return sum;
    }
    case EdgeKind::activity:
      return changed_ns(graph.work()[edge.subject].activity, ns);
    case EdgeKind::call:
    case EdgeKind::batch:
      return changed_ns(static_cast<EventId>(edge.subject), ns);
    case EdgeKind::launch:
      return graph.is_on_host(edge.subject) ? ns : scaled(ns, launch_factor_);
    default:
      return ns;
  }
}

}  // namespace tbtrace::analyses
