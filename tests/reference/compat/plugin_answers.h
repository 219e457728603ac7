// What torch-tb-profiler's own backend answered for the recorded traces.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "io/source.h"

namespace tbtrace::reference {

inline std::string inflated(const std::string& path) {
  auto file = io::open_file(path);
  EXPECT_TRUE(file.ok()) << file.status().message();
  auto source = io::decompressed(*std::move(file));
  EXPECT_TRUE(source.ok()) << source.status().message();
  std::string text;
  std::vector<char> buffer(1 << 20);
  while (true) {
    const Result<std::size_t> size = (*source)->read(buffer);
    EXPECT_TRUE(size.ok());
    if (!size.ok() || *size == 0) return text;
    text.append(buffer.data(), *size);
  }
}

/// The object after a key. Other parts have whole numbers that no 64-bit parser takes.
inline std::string_view object_behind(std::string_view json, std::string_view key) {
  const std::string_view rest = json.substr(json.find(key) + key.size());
  int depth = 0;
  bool in_text = false;
  for (std::size_t at = 0; at < rest.size(); ++at) {
    const char c = rest[at];
    if (in_text && c == '\\') {
      ++at;
    } else if (c == '"') {
      in_text = !in_text;
    } else if (!in_text && (c == '{' || c == '}')) {
      depth += c == '{' ? 1 : -1;
      if (depth == 0) return rest.substr(0, at + 1);
    }
  }
  return {};
}

/// One view of a trace as JSON; empty if the plugin had none.
inline std::string plugin_answer(const std::string& trace_path, const std::string& view) {
  const std::string root = std::string(TBTRACE_SHARED) + "/traces/";
  const std::string text =
      inflated(root + "plugin_out/" + trace_path.substr(root.size()) + ".views.json.gz");
  const std::string key = "\"" + view + "\": ";
  const std::size_t at = text.find(key + "{");
  return at == std::string::npos ? std::string() : std::string(object_behind(text, key));
}

}  // namespace tbtrace::reference
