// What Python's callers pass: paths, choices, steps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <tbtrace/arguments.h>
#include <tbtrace/report.h>

namespace tbtrace::python {

/// `"name"` or `("name", "device")`.
using Names = std::variant<std::string, std::vector<std::string>>;
/// `3` or `(3, 5)`, both ends included.
using Steps = std::variant<std::int64_t, std::pair<std::int64_t, std::int64_t>>;

std::vector<std::string> listed(const Names& names);

/// The text in single quotes, as messages and signatures have it.
std::string quoted(std::string_view text);

/// A str, bytes or os.PathLike as the file system's bytes.
std::string path_of(nanobind::handle path);
/// One such, or a list of them.
std::vector<std::string> paths_of(nanobind::handle paths);

/// A path as Python's str.
nanobind::object path_object(const std::string& path);

/// Python's None is 0: one per core.
int threads_of(std::optional<int> threads);

std::optional<StepRange> step_range(const std::optional<Steps>& steps);

/// Where `chosen` is among the choices; a ValueError that lists them if it is not.
std::size_t choice(std::string_view argument, std::string_view chosen,
                   const std::vector<std::string_view>& choices);

/// The figures named `chosen` of a table of the command line (`gpu`); a ValueError that lists those
/// that there are if it has none with this name.
Figures figures_named(std::string_view table, std::string_view chosen);

/// What tables, views and replay_program() are computed from.
ArgumentSet table_arguments();
/// The names of all groups.
std::vector<std::string> argument_groups();
/// The groups of these names; without a value what tables and views need.
ArgumentSet arguments_of(const std::optional<Names>& groups);

/// Calls a method of Python's `json` for a text.
nanobind::object from_json(const std::string& text);

}  // namespace tbtrace::python
