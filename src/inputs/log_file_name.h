// File names from which torch-tb-profiler reads workers and spans:
// `<worker>.<span>.pt.trace.json[.gz]`.
// Results are owned. Digits are those of ASCII, characters those of UTF-8.
// Any bytes are accepted as a name; what a file name cannot contain is replaced.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tbtrace::inputs {

struct PluginName {
  std::string worker;
  std::string span;  ///< digits; empty: the plugin calls it `default`
};

/// What the plugin reads from a file name without its folder; nullopt if the plugin ignores the
/// file or finds no worker in it.
std::optional<PluginName> parse_plugin_name(std::string_view base_name);

/// The name without the endings of compressions and archives, `.json`, `.pt.trace` and `.trace` at
/// its end; `trace` if that is all.
std::string trace_stem(std::string_view base_name);

/// A single path component: control characters, slashes, leading dots and bytes that are not UTF-8
/// become `_`; 1 to 150 bytes.
std::string safe_name(std::string_view text);

/// A safe name for any worker, other than `All`, which the plugin reserves.
std::string worker_name(std::string_view wanted);

/// The name of another worker, from which the plugin can still read a node and a process number:
/// `host-2_3` for `host_3`, `trace-2` for `trace`. `number` starts at 2.
std::string numbered_worker(std::string_view worker, int number);

/// `<worker>.<start>.pt.trace.json[.gz]`. The plugin sorts starts as text, so all have the same
/// number of digits; a start before 1970 counts as 0.
std::string log_file_name(std::string_view worker, std::int64_t start_ns, bool use_gzip);

}  // namespace tbtrace::inputs
