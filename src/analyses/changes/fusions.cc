#include "analyses/changes/fusions.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <utility>

namespace tbtrace::analyses {
namespace {

constexpr std::string_view kFused = "fused_";

/// How ranges of compiled code are called.
constexpr auto kCompiledRegions = std::to_array<std::string_view>({
    "CompiledFunction",
    "Torch-Compiled Region",
    "## Call CompiledFxGraph",
    "Inductor::",
});

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Where what comes after `fused_` begins; npos for other names.
std::size_t start_of_part(std::string_view name) {
  const std::size_t fused = name.find(kFused);
  if (fused == std::string_view::npos) return fused;
  const std::string_view before = name.substr(0, fused);
  // `triton_poi_`, `triton_per_`, ...; `cpp_`, `graph_0_cpp_`
  const bool is_triton = before.starts_with("triton_") && before.ends_with('_');
  const bool is_cpp =
      before == "cpp_" || (before.starts_with("graph_") && before.ends_with("cpp_"));
  return is_triton || is_cpp ? fused + kFused.size() : std::string_view::npos;
}

/// `mm` of `aten::mm`.
std::string_view bare(std::string_view op) {
  const std::size_t end = op.rfind("::");
  return end == std::string_view::npos ? op : op.substr(end + 2);
}

/// How well the rest of a name can be divided into operators.
struct Division {
  std::size_t left_over = 0;  // letters
  std::size_t operators = 0;
  std::string_view op = {};  // the first one; empty: the next word is left over
  std::size_t next = 0;      // where the rest after it begins
};

bool is_better(const Division& one, const Division& other) {
  return std::pair(one.left_over, one.operators) < std::pair(other.left_over, other.operators);
}

}  // namespace

std::string_view fused_part(std::string_view name) {
  const std::string_view stem = fused_stem(name);
  return stem.substr(std::min(start_of_part(name), stem.size()));
}

std::string_view fused_stem(std::string_view name) {
  if (start_of_part(name) == std::string_view::npos) return {};
  std::size_t end = name.size();
  while (end > 0 && is_digit(name[end - 1])) --end;
  const bool has_number = end < name.size() && end > 0 && name[end - 1] == '_';
  return has_number ? name.substr(0, end - 1) : name;
}

bool is_compiled(const RunFigures& run) {
  return std::ranges::any_of(run.rows[static_cast<std::size_t>(DiffBy::op)], [](const RunRow& row) {
    return !fused_stem(row.key).empty() ||
           std::ranges::any_of(kCompiledRegions, [&](std::string_view region) {
             return row.key.starts_with(region);
           });
  });
}

std::vector<std::string> fused_operators(std::string_view name,
                                         const std::set<std::string_view>& operators) {
  const std::string_view part = fused_part(name);
  if (part.empty()) return {};
  std::map<std::string_view, std::string_view> whole;  // by the bare name
  for (const std::string_view op : operators) {
    if (op.find("::") != std::string_view::npos) whole.try_emplace(bare(op), op);
  }
  // From the end: the best division of what begins at each place where a word can begin.
  std::vector<Division> best(part.size() + 2);
  for (std::size_t at = part.size(); at-- > 0;) {
    if (at > 0 && part[at - 1] != '_') continue;
    Division& found = best[at];
    bool is_first = true;
    for (std::size_t end = at + 1; end <= part.size(); ++end) {
      if (end < part.size() && part[end] != '_') continue;
      const std::size_t next = std::min(end + 1, part.size());
      const auto op = whole.find(part.substr(at, end - at));
      if (op == whole.end() && !is_first) continue;
      Division candidate = best[next];
      candidate.next = next;
      candidate.op = op == whole.end() ? std::string_view() : op->second;
      if (op == whole.end()) {
        candidate.left_over += end - at;
      } else {
        ++candidate.operators;
      }
      if (is_first || is_better(candidate, found)) found = candidate;
      is_first = false;
    }
  }
  std::vector<std::string> found;
  for (std::size_t at = 0; at < part.size(); at = best[at].next) {
    const std::string_view op = best[at].op;
    if (!op.empty() && std::ranges::find(found, op) == found.end()) found.emplace_back(op);
  }
  return found;
}

}  // namespace tbtrace::analyses
