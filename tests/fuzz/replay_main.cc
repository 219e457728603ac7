// Runs a fuzz target without the fuzzer: on every file of the folders given, on each of their
// starts, and on copies with some bytes changed. The same runs every time.
#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <unistd.h>

#include "fixtures/random_rounds.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::array<char, 512> now_running = {};

extern "C" void say_what_ran(int signal) {
  const auto end = std::find(now_running.begin(), now_running.end(), '\0');
  const auto size = static_cast<std::size_t>(end - now_running.begin());
  if (::write(STDERR_FILENO, now_running.data(), size) < 0) std::_Exit(1);
  static_cast<void>(std::signal(signal, SIG_DFL));
  static_cast<void>(std::raise(signal));
}

void run(const std::string& input, const std::string& file, const std::string& what) {
  std::snprintf(now_running.data(), now_running.size(), "replay: %s, %s\n", file.c_str(),
                what.c_str());
  // A block of its own, so that the address sanitizer sees both its ends.
  const std::vector<std::uint8_t> bytes(input.begin(), input.end());
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

std::size_t replay(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  const std::string input{std::istreambuf_iterator<char>(stream), {}};
  if (!stream) {
    std::fprintf(stderr, "replay: cannot read %s\n", file.c_str());
    std::exit(1);
  }
  run(input, file, "as it is");
  std::size_t runs = 1;
  const std::size_t step = 1 + input.size() / tbtrace::fixtures::random_rounds(200);
  for (std::size_t size = 0; size < input.size(); size += step, ++runs) {
    run(input.substr(0, size), file, "cut to " + std::to_string(size));
  }
  std::mt19937 random(static_cast<unsigned>(input.size()));
  const std::size_t changes = tbtrace::fixtures::random_rounds(200);
  for (std::size_t number = 0; number < changes && !input.empty(); ++number, ++runs) {
    std::string changed = input;
    for (std::size_t count = 1 + random() % 3; count > 0; --count) {
      char& byte = changed[random() % changed.size()];
      byte = random() % 2 == 0 ? static_cast<char>(byte ^ 1 << random() % 8)
                               : input[random() % input.size()];
    }
    run(changed, file, "change " + std::to_string(number));
  }
  return runs;
}

}  // namespace

int main(int count, char** arguments) {
  static_cast<void>(std::signal(SIGABRT, say_what_ran));
  std::vector<std::string> files;
  for (int number = 1; number < count; ++number) {
    const std::filesystem::path path = arguments[number];
    if (!std::filesystem::is_directory(path)) {
      files.push_back(path.string());
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      files.push_back(entry.path().string());
    }
  }
  std::sort(files.begin(), files.end());
  std::size_t runs = 0;
  for (const std::string& file : files) runs += replay(file);
  std::printf("replay: %zu files, %zu runs\n", files.size(), runs);
  return files.empty() ? 1 : 0;
}
