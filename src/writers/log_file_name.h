// Names that torch-tb-profiler reads workers and spans from: `<worker>.<span>.pt.trace.json[.gz]`.
// Pure functions; results are owned. Digits are those of ASCII, characters those of UTF-8.
// Any bytes are a name; what cannot stand in a file's name is replaced.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tbtrace::writers {

struct PluginName {
  std::string worker;
  std::string span;  ///< digits; empty: the plugin calls it `default`
};

/// What the plugin sees in the name of a file without its folder; nothing if it passes the file
/// over or finds no worker in it.
std::optional<PluginName> parse_plugin_name(std::string_view base_name);

/// The name without `.gz`, `.json`, `.pt.trace` and `.trace` at its end; `trace` if that is all.
std::string trace_stem(std::string_view base_name);

/// As one component of a path: without control characters, slashes, dots at the start and bytes
/// that are not UTF-8, which become `_`; 1 to 150 bytes.
std::string safe_name(std::string_view text);

/// A safe name that the plugin does not keep for itself, as it does `All`. For any worker there is.
std::string worker_name(std::string_view wanted);

/// The name of a further worker, from which the plugin still reads a node and a process number:
/// `host-2_3` for `host_3`, `trace-2` for `trace`. `number` begins with 2.
std::string numbered_worker(std::string_view worker, int number);

/// `<worker>.<start>.pt.trace.json[.gz]`. The plugin sorts starts as text, so all have as many
/// digits; one before 1970 counts as 0.
std::string log_file_name(std::string_view worker, std::int64_t start_ns, bool use_gzip);

}  // namespace tbtrace::writers
