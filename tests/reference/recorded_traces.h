// The recordings that other tools made, one after the other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tbtrace/trace.h>

namespace tbtrace::reference {

/// All traces of some folders below TBTRACE_SHARED, sorted.
inline std::vector<std::string> trace_files(const std::vector<std::string>& folders) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  for (const std::string& folder : folders) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(TBTRACE_SHARED) / folder)) {
      const std::string name = entry.path().filename().string();
      const bool trace = name.ends_with(".json") || name.ends_with(".json.gz");
      if (entry.is_regular_file() && trace) files.push_back(entry.path().string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// All recordings of GPUs, other devices and CPUs, of all ages. Calls `check` with each.
template <typename Check>
void for_each_recording(Check check) {
  const std::vector<std::string> files =
      trace_files({"traces/hta", "traces/minimal", "traces/tb_plugin"});
  ASSERT_GE(files.size(), 52u) << "there were more";
  for (const std::string& file : files) {
    SCOPED_TRACE(file);
    const Result<Trace> trace = read_trace(file);
    ASSERT_TRUE(trace.ok()) << trace.status().message();
    ASSERT_NO_FATAL_FAILURE(check(*trace));
  }
}

}  // namespace tbtrace::reference
