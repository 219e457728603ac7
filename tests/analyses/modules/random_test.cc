// The modules of random recordings against their definition.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <tbtrace/modules.h>

#include "analyses/modules/places_by_definition.h"
#include "analyses/modules/random_model.h"
#include "fixtures/random_rounds.h"

namespace tbtrace::analyses {
namespace {

/// The path of a module by the names on its way; a name that begins with `/` is a whole path.
std::string path_of(const Way& way) {
  std::string path;
  for (const std::string& name : way) {
    path = name.starts_with('/') ? name.substr(1) : (path.empty() ? "" : path + ".") + name;
  }
  return path;
}

std::string name_of(const Trace& trace, const Way& around, EventId range) {
  const std::string path(trace.argument_text(range, Argument::module_path));
  if (path.empty()) {
    return std::string(trace.name(range).substr(std::string_view("nn.Module: ").size()));
  }
  const std::string above = path_of(around);
  if (around.empty()) return path;
  return path.starts_with(above + ".") ? path.substr(above.size() + 1) : "/" + path;
}

/// Where a module is called; in a backward pass, of a module that is known already.
Way module_way(const Trace& trace, const PlacesByDefinition& places, const Way& around,
               EventId range) {
  if (!trace.events().is_module(range)) return around;
  const std::string name = name_of(trace, around, range);
  Way below = around;
  below.push_back(name);
  if (!places.is_backward(range)) return below;
  for (Way above = around;; above.pop_back()) {
    if (!above.empty() && above.back() == name) return above;
    Way inner = above;
    inner.push_back(name);
    for (const EventId earlier : places.context().host_ranges()) {
      if (earlier == range) break;
      const Way way = places.way(earlier);
      if (way.size() >= inner.size() && std::equal(inner.begin(), inner.end(), way.begin())) {
        return inner;
      }
    }
    if (above.empty()) return below;
  }
}

void expect_cost(const ModuleCost& found, const PlacesByDefinition::Sums& own,
                 const PlacesByDefinition::Sums& total) {
  EXPECT_EQ(found.self_cpu_time_ns, own.cpu_ns);
  EXPECT_EQ(found.self_device_time_ns, own.device_ns);
  EXPECT_EQ(found.self_cpu_memory_bytes, own.cpu_bytes);
  EXPECT_EQ(found.self_device_memory_bytes, own.device_bytes);
  EXPECT_EQ(found.cpu_time_total_ns, total.cpu_ns);
  EXPECT_EQ(found.device_time_total_ns, total.device_ns);
  EXPECT_EQ(found.backward_cpu_time_ns, total.backward_cpu_ns);
  EXPECT_EQ(found.backward_device_time_ns, total.backward_device_ns);
  EXPECT_EQ(found.cpu_memory_bytes, total.cpu_bytes);
  EXPECT_EQ(found.device_memory_bytes, total.device_bytes);
}

PlacesByDefinition::Sums total_of(const std::map<Way, PlacesByDefinition::Sums>& own,
                                  const Way& around) {
  PlacesByDefinition::Sums total;
  for (const auto& [way, sums] : own) {
    const bool inside =
        way.size() >= around.size() && std::equal(around.begin(), around.end(), way.begin());
    if (!inside) continue;
    total.cpu_ns += sums.cpu_ns;
    total.device_ns += sums.device_ns;
    total.backward_cpu_ns += sums.backward_cpu_ns;
    total.backward_device_ns += sums.backward_device_ns;
    total.cpu_bytes += sums.cpu_bytes;
    total.device_bytes += sums.device_bytes;
  }
  return total;
}

/// The paths of the modules around a row, and its own.
Way paths_of(const ModuleTree& tree, std::size_t row) {
  Way paths;
  if (tree.modules[row].parent) paths = paths_of(tree, *tree.modules[row].parent);
  paths.push_back(tree.modules[row].path);
  return paths;
}

void compare(const Trace& trace, std::optional<StepRange> steps) {
  const PlacesByDefinition* places = nullptr;
  const PlacesByDefinition expected(
      trace,
      [&](const Way& around, EventId range) { return module_way(trace, *places, around, range); },
      steps);
  places = &expected;
  std::map<Way, PlacesByDefinition::Sums> own;  // by the paths on the way
  std::map<Way, std::uint64_t> calls;
  const auto paths = [](const Way& way) {
    Way found;
    for (std::size_t length = 1; length <= way.size(); ++length) {
      found.push_back(path_of(Way(way.begin(), way.begin() + static_cast<std::ptrdiff_t>(length))));
    }
    return found;
  };
  for (const auto& [way, sums] : expected.own()) own[paths(way)] = sums;
  std::set<Way> called;  // every module that there is, also outside of the chosen steps
  for (const EventId range : expected.context().host_ranges()) {
    Way way = paths(expected.way(range));
    const bool is_call = trace.events().is_module(range) && expected.counts(range);
    if (is_call) ++calls[way];
    for (; !way.empty(); way.pop_back()) called.insert(way);
  }
  const Result<ModuleTree> tree = module_tree(trace, {.steps = steps});
  ASSERT_TRUE(tree.ok());
  std::map<Way, std::size_t> rows;
  for (std::size_t row = 0; row < tree->modules.size(); ++row) {
    const Way way = paths_of(*tree, row);
    ASSERT_TRUE(rows.emplace(way, row).second) << "one row per module";
    const auto found = own.find(way);
    SCOPED_TRACE(tree->modules[row].path);
    expect_cost(tree->modules[row], found == own.end() ? PlacesByDefinition::Sums() : found->second,
                total_of(own, way));
    EXPECT_EQ(tree->modules[row].calls.value_or(0), calls[way]);
    EXPECT_TRUE(called.contains(way)) << "nothing is in it";
  }
  EXPECT_EQ(rows.size(), called.size());
  const auto outside = own.find(Way());
  const PlacesByDefinition::Sums none =
      outside == own.end() ? PlacesByDefinition::Sums() : outside->second;
  expect_cost(tree->unattributed, none, none);
  expect_cost(tree->total, total_of(own, Way()), total_of(own, Way()));
}

TEST(ModuleTree, OfRandomRecordingsIsThatOfTheDefinition) {
  const unsigned traces = fixtures::random_rounds(800u);
  std::size_t modules = 0;
  std::size_t backward = 0;
  std::size_t chosen = 0;
  for (unsigned seed = 0; seed < traces; ++seed) {
    SCOPED_TRACE(seed);
    const Trace trace = RandomModel(seed).make();
    compare(trace, std::nullopt);
    const bool has_steps = trace.steps().size() > 1;
    if (has_steps) {
      const std::int64_t first = trace.steps().front().number;
      compare(trace, StepRange{first, first + static_cast<std::int64_t>(seed % 2)});
    }
    const ModuleTree tree = *module_tree(trace);
    modules += tree.modules.size();
    backward += tree.total.backward_cpu_time_ns > tree.unattributed.backward_cpu_time_ns ? 1 : 0;
    chosen += has_steps ? 1 : 0;
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(modules, traces);
  EXPECT_GT(backward, traces / 20) << "backward passes of modules";
  EXPECT_GT(chosen, traces / 5);
}

}  // namespace
}  // namespace tbtrace::analyses
