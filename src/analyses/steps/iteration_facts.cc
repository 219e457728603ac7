#include "analyses/steps/iteration_facts.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "analyses/steps/inferred.h"
#include "base/characters.h"
#include "base/decimal.h"
#include "trace/step_names.h"

namespace tbtrace::analyses {
namespace {

using Count = std::optional<std::int64_t>;

/// No batch has as many tokens; counters of 32 bits that overflowed may say so.
constexpr std::int64_t kMostCounted = 1'000'000'000'000;

/// Reads a text from its beginning.
class Scan {
 public:
  explicit Scan(std::string_view text) : rest_(text) {}

  bool skip(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }

  Count number() {
    std::size_t digits = 0;
    while (digits < rest_.size() && is_digit(rest_[digits])) ++digits;
    const Count value = parse_integer(rest_.substr(0, digits));
    if (!value || *value > kMostCounted) return std::nullopt;
    rest_.remove_prefix(digits);
    return value;
  }

  /// Past the next `end`; false if there is none.
  bool skip_to(std::string_view end) {
    const std::size_t at = rest_.find(end);
    if (at == std::string_view::npos) return false;
    rest_.remove_prefix(at + end.size());
    return true;
  }

 private:
  std::string_view rest_;
};

/// `64` of `bs=64` in `step[DECODE bs=64 g_sq=64]`.
Count field(std::string_view name, std::string_view key) {
  for (std::size_t at = name.find(key); at != std::string_view::npos; at = name.find(key, at + 1)) {
    const bool is_whole = at > 0 && (name[at - 1] == ' ' || name[at - 1] == '[');
    const std::size_t end = at + key.size();
    if (!is_whole || end >= name.size() || name[end] != '=') continue;
    return Scan(name.substr(end + 1)).number();
  }
  return std::nullopt;
}

Count sum(const Count& a, const Count& b) {
  if (!a || !b) return std::nullopt;
  return *a + *b;
}

/// By the requests whose prompts are read, and those for which tokens are made.
IterationKind kind_of(std::int64_t context, std::int64_t generation) {
  if (context > 0) return generation > 0 ? IterationKind::mixed : IterationKind::prefill;
  return generation > 0 ? IterationKind::decode : IterationKind::idle;
}

/// `(512)`, or `(sq512sk512sqsq262144sqsk262144)`: the tokens.
Count tokens_in_parentheses(Scan& scan) {
  if (!scan.skip("(")) return std::nullopt;
  scan.skip("sq");
  const Count tokens = scan.number();
  return scan.skip_to(")") ? tokens : std::nullopt;
}

/// `execute_context_1(512)_generation_3(3)`, and the detailed form with the number of all tokens in
/// front; before 0.12 `execute_new_1_cached_3`: requests that are new, whose prompts are read, and
/// the others, some of which may be in the middle of their prompts.
std::optional<IterationFacts> facts_of_vllm(std::string_view name) {
  Scan scan(name);
  if (!scan.skip("execute_")) return std::nullopt;
  IterationFacts facts;
  if (scan.skip("diffusion_")) {
    facts.kind = IterationKind::diffusion;
    facts.requests = scan.number();
    return facts;
  }
  if (scan.skip("new_")) {
    const Count fresh = scan.number();
    const Count cached = scan.skip("_cached_") ? scan.number() : std::nullopt;
    facts.requests = sum(fresh, cached);
    if (facts.requests && *fresh > 0) facts.kind = kind_of(*fresh, *cached);
    return facts;
  }
  if (scan.number()) scan.skip("_");
  if (!scan.skip("context_")) return std::nullopt;
  const Count context = scan.number();
  const Count context_tokens = tokens_in_parentheses(scan);
  Count generation = 0;
  Count generation_tokens = 0;
  if (scan.skip("_generation_")) {
    generation = scan.number();
    generation_tokens = tokens_in_parentheses(scan);
  }
  facts.requests = sum(context, generation);
  facts.tokens = sum(context_tokens, generation_tokens);
  if (facts.requests) facts.kind = kind_of(*context, *generation);
  return facts;
}

/// `step[EXTEND bs=2 toks=14721]`, `step[DECODE bs=64]`, with more fields by roofline_annotations.
/// Of a MIXED step without them the parts are unknown.
std::optional<IterationFacts> facts_of_sglang(std::string_view name) {
  constexpr auto kModes = std::to_array<std::pair<std::string_view, IterationKind>>(
      {{"EXTEND", IterationKind::prefill},
       {"SPLIT_PREFILL", IterationKind::prefill},
       {"MIXED", IterationKind::mixed},
       {"DECODE", IterationKind::decode},
       {"TARGET_VERIFY", IterationKind::decode},
       {"IDLE", IterationKind::idle}});
  Scan scan(name);
  if (!scan.skip("step[")) return std::nullopt;
  IterationFacts facts;
  for (const auto& [mode, kind] : kModes) {
    Scan after = scan;
    if (after.skip(mode) && after.skip(" ")) facts.kind = kind;
  }
  if (scan.skip("DRAFT_")) facts.kind = IterationKind::draft;
  facts.requests = field(name, "bs");
  if (const Count unpadded = field(name, "raw_bs")) {
    facts.padded_requests = std::exchange(facts.requests, unpadded);
  }
  if (facts.kind == IterationKind::draft) return facts;  // the target has the tokens
  facts.tokens = field(name, "toks");
  const Count context = field(name, "c_sq");
  const Count generation = field(name, "g_sq");
  if (context || generation) facts.tokens = sum(context.value_or(0), generation.value_or(0));
  const bool is_plain_decode = name.starts_with("step[DECODE ");
  if (!facts.tokens && is_plain_decode) facts.tokens = facts.requests;  // one each
  const Count prompts = field(name, "c");
  const Count others = field(name, "g");
  if (prompts && others) facts.kind = kind_of(*prompts, *others);
  return facts;
}

/// `prefill[bs=2 tok=14721 ctx=[7803, 6918]]`, `decode[bs=117/128 tok=117 d=117]`: 11 are padding.
/// Batches on the decode path may have prompts (`p=2`), too.
std::optional<IterationFacts> facts_of_atom(std::string_view name) {
  IterationFacts facts;
  if (name.starts_with("prefill[")) {
    facts.kind = IterationKind::prefill;
  } else if (name.starts_with("decode[") || name.starts_with("eager_decode[")) {
    const bool has_prompts = field(name, "p").value_or(0) > 0;
    facts.kind = has_prompts ? IterationKind::mixed : IterationKind::decode;
  } else {
    return std::nullopt;
  }
  facts.requests = field(name, "bs");
  facts.tokens = field(name, "tok");
  Scan scan(name);
  if (scan.skip_to("bs=") && scan.number() && scan.skip("/")) {
    facts.padded_requests = scan.number();
  }
  return facts;
}

/// `[Executor] _forward_step 12: 0 ctx reqs, 64 gen reqs`.
std::optional<IterationFacts> facts_of_tensorrt(std::string_view name) {
  Scan scan(name);
  if (!scan.skip("[Executor] _forward_step") || !scan.skip_to(": ")) return std::nullopt;
  IterationFacts facts;
  const Count context = scan.number();
  if (!context || !scan.skip(" ctx reqs, ")) return facts;
  const Count generation = scan.number();
  if (!scan.skip(" gen reqs")) return facts;
  facts.requests = sum(context, generation);
  if (facts.requests) facts.kind = kind_of(*context, *generation);
  return facts;
}

constexpr std::array kEngines = {facts_of_vllm, facts_of_sglang, facts_of_atom, facts_of_tensorrt};

/// Of two iterations in one step of the profiler.
IterationFacts joined(const IterationFacts& one, const IterationFacts& other) {
  if (other.kind == IterationKind::draft) return one;
  if (one.kind == IterationKind::draft) return other;
  return {one.kind == other.kind ? one.kind : IterationKind::unknown,
          one.requests == other.requests ? one.requests : std::nullopt,
          sum(one.tokens, other.tokens), std::max(one.padded_requests, other.padded_requests)};
}

struct Iteration {
  std::string_view name;
  std::int64_t duration_ns = 0;
  IterationFacts facts;
};

/// Steps of SGLang's draft model (EAGLE, MTP), in the order of time. It decodes before the target
/// verifies, and reads each prompt after it: a step of the same name, which takes less than half as
/// long. Chunks of a prompt have one name, too, so without other signs of a draft all steps with
/// prompts have to be such pairs, with a quarter of the time.
void find_drafts(std::vector<Iteration>& iterations) {
  constexpr std::string_view kExtend = "step[EXTEND ";
  constexpr std::int64_t kTimesFaster = 2;
  constexpr std::int64_t kTimesFasterWithoutSigns = 4;
  constexpr std::size_t kLeastPairs = 3;
  const bool has_signs = std::ranges::any_of(iterations, [](const Iteration& iteration) {
    return iteration.name.starts_with("step[TARGET_VERIFY ") ||
           iteration.facts.kind == IterationKind::draft;
  });
  const std::int64_t times = has_signs ? kTimesFaster : kTimesFasterWithoutSigns;
  std::vector<Iteration*> drafts;
  std::size_t prompts = 0;
  for (std::size_t at = 0; at < iterations.size(); ++at) {
    Iteration& target = iterations[at];
    if (has_signs && target.name.starts_with("step[DECODE ")) drafts.push_back(&target);
    if (!target.name.starts_with(kExtend)) continue;
    ++prompts;
    if (at + 1 == iterations.size() || iterations[at + 1].name != target.name) continue;
    if (iterations[at + 1].duration_ns >= target.duration_ns / times) continue;
    drafts.push_back(&iterations[++at]);
  }
  if (!has_signs && (drafts.size() < kLeastPairs || drafts.size() != prompts)) return;
  for (Iteration* const draft : drafts) {
    draft->facts.kind = IterationKind::draft;
    draft->facts.tokens.reset();
  }
}

}  // namespace

std::string_view iteration_kind_name(IterationKind kind) {
  constexpr std::array<std::string_view, 7> kNames = {"prefill",   "mixed", "decode", "draft",
                                                      "diffusion", "idle",  "unknown"};
  return kNames[static_cast<std::size_t>(kind)];
}

IterationFacts iteration_facts(std::string_view name) {
  for (const auto& facts_of : kEngines) {
    if (const std::optional<IterationFacts> facts = facts_of(name)) return *facts;
  }
  return {};
}

std::vector<IterationFacts> facts_of_steps(const Trace& trace, std::span<const StepTime> steps) {
  std::vector<IterationFacts> all(steps.size());
  std::vector<Iteration> iterations;
  if (has_engine_steps(trace)) {
    for (const StepTime& step : steps) {
      iterations.push_back({step.name, step.duration_ns(), iteration_facts(step.name)});
    }
    find_drafts(iterations);
    std::ranges::transform(iterations, all.begin(), &Iteration::facts);
    return all;
  }
  const std::vector<EventId> events = engine_iterations(trace);
  for (const EventId event : events) {
    const std::string_view name = trace.name(event);
    iterations.push_back({name, trace.events().duration_ns(event), iteration_facts(name)});
  }
  find_drafts(iterations);
  const auto start_of = [&](EventId event) { return trace.events().start_ns(event); };
  for (std::size_t step = 0; step < steps.size() && !events.empty(); ++step) {
    if (steps[step].is_whole_trace()) continue;
    const auto first = std::ranges::lower_bound(events, steps[step].host_start_ns, {}, start_of);
    for (auto next = first; next != events.end() && start_of(*next) < steps[step].host_end_ns;
         ++next) {
      const IterationFacts& facts =
          iterations[static_cast<std::size_t>(next - events.begin())].facts;
      all[step] = next == first ? facts : joined(all[step], facts);
    }
  }
  return all;
}

}  // namespace tbtrace::analyses
