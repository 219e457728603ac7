// What file names say: which are named like traces, like archives, like files that are not
// finished. This is the one place that decides it; docs/formats/chrome_json.md has the list for
// people. Upper and lower case make no difference.
#pragma once

#include <string_view>

namespace tbtrace::inputs {

struct NameSays {
  /// `.json`, also compressed or packed: `.json.gz`, `.json.zst`, `.json.zip`, `.json.tar.xz`. Also
  /// of compressions that are not read, because a trace that cannot be read must not be overlooked.
  bool trace = false;
  /// `.zip`, `.tar`, `.tgz`, `.tar.gz`, ...
  bool archive = false;
  /// A trace's name with an ending that programs use until a file is complete: `.json.tmp`,
  /// `.json.gz.part`, `.json.tmp-4711`.
  bool unfinished = false;
};

NameSays what_name_says(std::string_view base_name);

/// The name as the profiler's handlers give it: `.pt.trace.json`, also compressed.
bool is_name_of_handler(std::string_view base_name);

/// Removes an ending, given in lower case.
bool strip_ending(std::string_view& name, std::string_view ending);

/// Removes the endings of compressions and archives.
std::string_view without_packing(std::string_view base_name);

}  // namespace tbtrace::inputs
