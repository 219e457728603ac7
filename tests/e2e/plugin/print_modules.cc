// Prints what plugin_modules() finds in each trace named on standard input, one line of JSON each.
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>

#include "analyses/compat/plugin/modules.h"

namespace {

/// As JSON. Names in these tests have nothing else to escape.
std::string quoted(const std::string& text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') json += '\\';
    json += c;
  }
  return json + '"';
}

void print(const tbtrace::analyses::PluginModule& row) {
  std::printf("{\"name\": %s, \"id\": %lld, \"occurences\": %llu, \"operators\": %llu, ",
              quoted(row.name).c_str(), static_cast<long long>(row.id),
              static_cast<unsigned long long>(row.occurrences),
              static_cast<unsigned long long>(row.operators));
  std::printf(
      "\"host_duration\": %.17g, \"self_host_duration\": %.17g, \"device_duration\": %.17g, ",
      row.host_duration_us, row.self_host_duration_us, row.device_duration_us);
  std::printf("\"self_device_duration\": %.17g, \"avg_duration\": %.17g, \"depth\": %zu, ",
              row.self_device_duration_us, row.avg_duration_us, row.depth);
  std::printf("\"parent\": %s}", row.parent ? std::to_string(*row.parent).c_str() : "null");
}

void print_modules_of(const std::string& path) {
  const auto trace =
      tbtrace::read_trace(path, {.threads = 1, .arguments = {tbtrace::ArgumentGroup::python}});
  if (!trace.ok()) {
    std::printf("\"%s\"\n", "cannot be read");
    return;
  }
  std::printf("[");
  const char* between = "";
  for (const tbtrace::analyses::PluginModule& row : tbtrace::analyses::plugin_modules(*trace)) {
    std::printf("%s", between);
    print(row);
    between = ", ";
  }
  std::printf("]\n");
}

}  // namespace

int main() {
  try {
    for (std::string path; std::getline(std::cin, path);) print_modules_of(path);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "print_plugin_modules: %s\n", error.what());
    return 1;
  }
  return 0;
}
