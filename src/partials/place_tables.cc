#include "partials/place_tables.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "analyses/modules/lines_report.h"
#include "partials/key_number.h"

namespace tbtrace::partials {
namespace {

constexpr std::string_view kHasShapes = "has_shapes";
constexpr std::string_view kHasMemory = "has_memory";
constexpr std::string_view kWaiting = "waiting_cpu_time_ns";
constexpr std::string_view kParameters = "parameters";
constexpr std::string_view kNoModule = "parameters_of_no_module";
constexpr std::string_view kParameterSource = "parameter_source";

// A chain of modules: the names and types from the outermost one on.
constexpr char kNextModule = '\x1e';
constexpr char kTypeFollows = '\x1f';
constexpr char kWholePath = '\x1d';
constexpr char kEscape = '\x1c';  // before one of these four, which is then moved up by 64
constexpr char kMoved = 64;

void append_escaped(std::string& text, std::string_view name) {
  for (const char character : name) {
    const bool is_mark = character >= kEscape && character <= kTypeFollows;
    if (is_mark) text += kEscape;
    text += static_cast<char>(is_mark ? character + kMoved : character);
  }
}

std::string unescaped(std::string_view text) {
  std::string name;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool is_moved = text[at] == kEscape && at + 1 < text.size();
    name += is_moved ? static_cast<char>(text[++at] - kMoved) : text[at];
  }
  return name;
}

constexpr std::int64_t ModuleCost::*kSizes[] = {
    &ModuleCost::cpu_time_total_ns,     &ModuleCost::self_cpu_time_ns,
    &ModuleCost::device_time_total_ns,  &ModuleCost::self_device_time_ns,
    &ModuleCost::backward_cpu_time_ns,  &ModuleCost::backward_device_time_ns,
    &ModuleCost::cpu_memory_bytes,      &ModuleCost::device_memory_bytes,
    &ModuleCost::self_cpu_memory_bytes, &ModuleCost::self_device_memory_bytes};
constexpr std::uint64_t ModuleCost::*kCounts[] = {
    &ModuleCost::macs, &ModuleCost::flops, &ModuleCost::backward_macs, &ModuleCost::backward_flops};
static_assert(std::size(kSizes) + std::size(kCounts) == kCostFigures);

template <std::size_t kFigures>
void put_costs(std::array<Figure, kFigures>& figures, const ModuleCost& cost) {
  std::size_t figure = 0;
  for (const auto size : kSizes) figures[figure++] = WideInteger{cost.*size};
  for (const auto count : kCounts) figures[figure++] = WideInteger{cost.*count};
}

ModuleCost costs_in(std::span<const Figure> figures) {
  ModuleCost cost;
  std::size_t figure = 0;
  for (const auto size : kSizes) cost.*size = figures[figure++].whole();
  for (const auto count : kCounts) cost.*count = figures[figure++].count();
  return cost;
}

void add_costs(Content& content, std::string_view table, std::string_view of,
               const ModuleCost& cost) {
  std::array<Figure, kCostFigures> figures;
  put_costs(figures, cost);
  content.add(TableId::costs, {table, of}, figures);
}

ModuleCost costs_of(const Content& content, std::string_view table, std::string_view of) {
  const SumTable& costs = content.table(TableId::costs);
  for (std::size_t row = 0; row < costs.size(); ++row) {
    const auto key = costs.key(row);
    if (content.texts[key[0]] == table && content.texts[key[1]] == of) {
      return costs_in(costs.figures(row));
    }
  }
  return {};
}

/// CPU time in which threads that do not do the steps waited. 0 in partials of older versions.
void add_waiting(Content& content, std::string_view table, std::int64_t waiting_ns) {
  content.add_fact(std::string(table) + "." + std::string(kWaiting), kFactSum,
                   WideInteger{waiting_ns});
}

std::int64_t waiting_of(const Content& content, std::string_view table) {
  return content.fact(std::string(table) + "." + std::string(kWaiting), kFactSum).whole();
}

void add_flag(Content& content, std::string_view fact, bool value) {
  content.add_fact(fact, kFactMost, WideInteger{value ? 1 : 0});
}

bool flag(const Content& content, std::string_view fact) {
  return content.fact(fact, kFactMost).whole() != 0;
}

/// A number that sources agree about.
void add_agreed(Content& content, std::string_view fact, Figure value) {
  content.add_fact(fact, kFactLeast, value);
  content.add_fact(fact, kFactMost, value);
}

std::optional<std::uint64_t> agreed(Figure least, Figure most) {
  return least.is_known() && least == most ? std::optional(least.count()) : std::nullopt;
}

std::optional<std::uint64_t> agreed(const Content& content, std::string_view fact) {
  return agreed(content.fact(fact, kFactLeast), content.fact(fact, kFactMost));
}

/// What a chain has of a module: its name in the module around it, or its whole path where that
/// does not begin with the path around it; and its type.
std::string link_of(const std::vector<ModuleRow>& modules, const ModuleRow& module) {
  std::string_view name = module.path;
  std::string link;
  if (module.parent) {
    const std::string around = modules[*module.parent].path + '.';
    if (name.starts_with(around)) {
      name.remove_prefix(around.size());
    } else {
      link += kWholePath;
    }
  }
  append_escaped(link, name);
  link += kTypeFollows;
  append_escaped(link, module.type);
  return link;
}

std::vector<std::string> chains_of(const std::vector<ModuleRow>& modules) {
  std::vector<std::string> chains;
  for (const ModuleRow& module : modules) {
    std::string chain = module.parent ? chains[*module.parent] + kNextModule : std::string();
    chains.push_back(chain + link_of(modules, module));
  }
  return chains;
}

/// The chain around a chain; empty for an outermost module.
std::string_view chain_around(std::string_view chain) {
  const std::size_t last = chain.rfind(kNextModule);
  return last == std::string_view::npos ? std::string_view() : chain.substr(0, last);
}

/// A module of a partial, before it has its place in the tree.
struct Found {
  std::string chain;
  std::size_t row = 0;
  std::uint64_t first = 0;
};

class TreeOfPartial {
 public:
  explicit TreeOfPartial(const Content& content)
      : content_(content), table_(content.table(TableId::modules)) {}

  std::vector<ModuleRow> build() {
    for (std::size_t row = 0; row < table_.size(); ++row) {
      Found found = {content_.text(table_.key(row).front()), row,
                     table_.figures(row)[kModuleFirst].count()};
      inside_[std::string(chain_around(found.chain))].push_back(std::move(found));
    }
    for (auto& [around, modules] : inside_) {
      std::ranges::sort(modules, [](const Found& one, const Found& two) {
        return one.first != two.first ? one.first < two.first : one.chain < two.chain;
      });
    }
    add_inside("", std::nullopt);
    return std::move(rows_);
  }

 private:
  struct Waiting {
    const Found* found;
    std::optional<std::size_t> parent;
  };

  /// Without recursion: how deep a partial's modules are is up to the file.
  void add_inside(const std::string& around, std::optional<std::size_t> parent) {
    std::vector<Waiting> waiting;
    const auto push = [&](const std::string& chain, std::optional<std::size_t> of) {
      const auto inside = inside_.find(chain);
      if (inside == inside_.end()) return;
      for (std::size_t place = inside->second.size(); place-- > 0;) {
        const Found& found = inside->second[place];
        if (found.chain != chain) waiting.push_back({&found, of});
      }
    };
    push(around, parent);
    while (!waiting.empty()) {
      const Waiting next = waiting.back();
      waiting.pop_back();
      add_row(*next.found, next.parent);
      push(next.found->chain, rows_.size() - 1);
    }
  }

  void add_row(const Found& found, std::optional<std::size_t> parent) {
    const std::span<const Figure> figures = table_.figures(found.row);
    ModuleRow row;
    static_cast<ModuleCost&>(row) = costs_in(figures);
    std::string_view link = found.chain;
    link.remove_prefix(link.rfind(kNextModule) + 1);  // the whole chain if there is none
    const std::size_t type = std::min(link.find(kTypeFollows), link.size());
    std::string_view name = link.substr(0, type);
    row.type = unescaped(link.substr(std::min(type + 1, link.size())));
    const bool is_whole = name.starts_with(kWholePath);
    if (is_whole) name.remove_prefix(1);
    if (parent && !is_whole) row.path = rows_[*parent].path + ".";
    row.path += unescaped(name);
    row.parent = parent;
    row.depth = parent ? rows_[*parent].depth + 1 : 0;
    if (figures[kModuleCalls].is_known()) row.calls = figures[kModuleCalls].count();
    row.self_parameters =
        agreed(figures[kModuleOwnParametersLeast], figures[kModuleOwnParametersMost]);
    row.parameters = agreed(figures[kModuleParametersLeast], figures[kModuleParametersMost]);
    rows_.push_back(std::move(row));
  }

  const Content& content_;
  const SumTable& table_;
  std::map<std::string, std::vector<Found>> inside_;  // by the chain around them
  std::vector<ModuleRow> rows_;
};

void add_lines_to(Content& content, TableId id, const std::string& name, const LineTable& table) {
  for (const LineRow& line : table.lines) {
    std::array<Figure, kLineFigures> figures;
    put_costs(figures, line);
    figures[kLineCalls] = WideInteger{line.calls};
    content.add(id,
                {line.file, std::to_string(line.line), line.function, line_level_name(line.level)},
                figures);
  }
  add_costs(content, name, "[unattributed]", table.unattributed);
  add_costs(content, name, "[communication]", table.communication);
  add_costs(content, name, "[total]", table.total);
}

}  // namespace

void add_modules(Content& content, const Trace& trace) {
  const ModuleTree tree = *module_tree(trace);
  const std::vector<std::string> chains = chains_of(tree.modules);
  for (std::size_t row = 0; row < tree.modules.size(); ++row) {
    const ModuleRow& module = tree.modules[row];
    std::array<Figure, kModuleFigures> figures;
    put_costs(figures, module);
    figures[kModuleFirst] = static_cast<WideInteger>(row);
    figures[kModuleCalls] = module.calls;
    figures[kModuleOwnParametersLeast] = module.self_parameters;
    figures[kModuleOwnParametersMost] = module.self_parameters;
    figures[kModuleParametersLeast] = module.parameters;
    figures[kModuleParametersMost] = module.parameters;
    content.add(TableId::modules, {chains[row]}, figures);
  }
  add_costs(content, "modules", "[unattributed]", tree.unattributed);
  add_costs(content, "modules", "[communication]", tree.communication);
  add_costs(content, "modules", "[total]", tree.total);
  add_waiting(content, "modules", tree.waiting_ns);
  add_flag(content, kHasShapes, tree.has_shapes);
  add_flag(content, kHasMemory, !trace.memory().empty());
  add_agreed(content, kParameters, tree.parameters);
  add_agreed(content, kNoModule, tree.unattributed_parameters);
  add_agreed(content, kParameterSource, static_cast<WideInteger>(tree.parameter_source));
}

void add_lines(Content& content, const Trace& trace) {
  const LineTable all = *line_table(trace, {.libraries = true});
  add_lines_to(content, TableId::lines, "lines", all);
  add_lines_to(content, TableId::own_lines, "lines.own", *line_table(trace));
  add_waiting(content, "lines", all.waiting_ns);
  add_flag(content, kHasShapes, all.has_shapes);
  add_flag(content, kHasMemory, !trace.memory().empty());
}

bool has_whole_chains(const Content& content) {
  const SumTable& modules = content.table(TableId::modules);
  std::set<std::string_view> chains;
  for (std::size_t row = 0; row < modules.size(); ++row) {
    chains.insert(content.texts[modules.key(row).front()]);
  }
  return std::ranges::all_of(chains, [&](std::string_view chain) {
    const std::string_view around = chain_around(chain);
    return !chain.empty() && (around.empty() || chains.contains(around));
  });
}

ModuleTree modules_of(const Content& content) {
  ModuleTree tree;
  tree.modules = TreeOfPartial(content).build();
  tree.unattributed = costs_of(content, "modules", "[unattributed]");
  tree.communication = costs_of(content, "modules", "[communication]");
  tree.total = costs_of(content, "modules", "[total]");
  tree.waiting_ns = waiting_of(content, "modules");
  tree.has_shapes = flag(content, kHasShapes);
  tree.parameters = agreed(content, kParameters);
  tree.unattributed_parameters = agreed(content, kNoModule);
  const auto source = agreed(content, kParameterSource);
  if (source && *source <= static_cast<std::uint64_t>(ParameterSource::weights)) {
    tree.parameter_source = static_cast<ParameterSource>(*source);
  }
  return tree;
}

LineTable lines_of(const Content& content, bool libraries) {
  const SumTable& rows = content.table(libraries ? TableId::lines : TableId::own_lines);
  const std::string_view name = libraries ? "lines" : "lines.own";
  LineTable table;
  for (std::size_t number = 0; number < rows.size(); ++number) {
    const auto key = rows.key(number);
    LineRow& row = table.lines.emplace_back();
    static_cast<ModuleCost&>(row) = costs_in(rows.figures(number));
    row.file = content.text(key[0]);
    row.line = key_number<std::int64_t>(content.texts[key[1]]).value_or(0);
    row.function = content.text(key[2]);
    row.level = content.texts[key[3]] == line_level_name(LineLevel::line) ? LineLevel::line
                                                                          : LineLevel::function;
    row.calls = rows.figures(number)[kLineCalls].count();
  }
  analyses::sort_lines(table.lines);
  table.unattributed = costs_of(content, name, "[unattributed]");
  table.communication = costs_of(content, name, "[communication]");
  table.total = costs_of(content, name, "[total]");
  table.waiting_ns = waiting_of(content, "lines");
  table.has_shapes = flag(content, kHasShapes);
  return table;
}

analyses::CostColumns cost_columns_of(const Content& content, const ModuleCost& total,
                                      bool has_shapes) {
  return {.has_shapes = has_shapes,
          .has_device = total.device_time_total_ns > 0,
          .has_memory = flag(content, kHasMemory)};
}

}  // namespace tbtrace::partials
