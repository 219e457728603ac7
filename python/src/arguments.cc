#include "arguments.h"

#include <span>

#include <tbtrace/compat.h>
#include <tbtrace/replay_program.h>
#include <tbtrace/tables.h>
#include <tbtrace/views.h>

#include "failures.h"

namespace nb = nanobind;

namespace tbtrace::python {

std::string quoted(std::string_view text) {
  std::string made(1, '\'');
  made += text;
  made += '\'';
  return made;
}

namespace {

std::string joined(const std::vector<std::string_view>& names) {
  std::string text;
  for (const std::string_view name : names) {
    if (!text.empty()) text += ", ";
    text += quoted(name);
  }
  return text;
}

ArgumentGroup group_named(const std::string& name) {
  std::string all;
  for (const ArgumentGroup group : kArgumentGroups) {
    if (argument_group_name(group) == name) return group;
    all += (all.empty() ? "'" : ", '") + std::string(argument_group_name(group)) + "'";
  }
  wrong_argument("arguments has the unknown group '" + name + "'; there are " + all);
}

}  // namespace

std::vector<std::string> listed(const Names& names) {
  if (const auto* const one = std::get_if<std::string>(&names)) return {*one};
  return std::get<std::vector<std::string>>(names);
}

std::string path_of(nb::handle path) {
  const auto encoded = nb::borrow<nb::bytes>(nb::module_::import_("os").attr("fsencode")(path));
  std::string bytes(encoded.c_str(), encoded.size());
  if (bytes.find('\0') != std::string::npos) wrong_argument("a path contains a null character");
  return bytes;
}

std::vector<std::string> paths_of(nb::handle paths) {
  const bool is_one = nb::isinstance<nb::str>(paths) || nb::isinstance<nb::bytes>(paths) ||
                      nb::hasattr(paths, "__fspath__");
  if (is_one) return {path_of(paths)};
  std::vector<std::string> all;
  for (const nb::handle path : paths) all.push_back(path_of(path));
  return all;
}

nb::object path_object(const std::string& path) {
  return nb::steal(
      PyUnicode_DecodeFSDefaultAndSize(path.data(), static_cast<Py_ssize_t>(path.size())));
}

int threads_of(std::optional<int> threads) {
  if (threads && *threads < 1) wrong_argument("threads and workers take a number from 1, or None");
  return threads.value_or(0);
}

std::optional<StepRange> step_range(const std::optional<Steps>& steps) {
  if (!steps) return std::nullopt;
  StepRange range;
  if (const auto* const one = std::get_if<std::int64_t>(&*steps)) {
    range = {*one, *one};
  } else {
    const auto& [first, last] = std::get<std::pair<std::int64_t, std::int64_t>>(*steps);
    range = {first, last};
  }
  if (range.first < 0 || range.last < range.first) {
    wrong_argument("steps takes a number or two of them, such as 3 or (3, 5)");
  }
  return range;
}

std::size_t choice(std::string_view argument, std::string_view chosen,
                   const std::vector<std::string_view>& choices) {
  std::size_t place = 0;
  for (const std::string_view name : choices) {
    if (name == chosen) return place;
    ++place;
  }
  wrong_argument(std::string(argument) + " takes " + joined(choices) + ", not '" +
                 std::string(chosen) + "'");
}

Figures figures_named(std::string_view table, std::string_view chosen) {
  const std::span<const Figures> figures = figures_of(table);
  std::vector<std::string_view> names;
  for (const Figures each : figures) names.push_back(figures_name(each));
  return figures[choice("figures", chosen, names)];
}

ArgumentSet table_arguments() {
  ArgumentSet arguments = kOperatorArguments | view_arguments() | kReplayArguments;
  for (const TableDescription* const table : tables())
    arguments = arguments | table->all_arguments();
  return arguments;
}

std::vector<std::string> argument_groups() {
  std::vector<std::string> names;
  names.reserve(kArgumentGroups.size());
  for (const ArgumentGroup group : kArgumentGroups) names.emplace_back(argument_group_name(group));
  return names;
}

ArgumentSet arguments_of(const std::optional<Names>& groups) {
  if (!groups) return table_arguments();
  ArgumentSet set;
  for (const std::string& name : listed(*groups)) set = set | ArgumentSet{group_named(name)};
  return set;
}

nb::object from_json(const std::string& text) {
  const nb::bytes bytes(text.data(), text.size());
  return nb::module_::import_("json").attr("loads")(bytes);
}

}  // namespace tbtrace::python
