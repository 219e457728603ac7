// tbtrace_make_trace: writes a large trace of a training run that never was, to measure on.
// Equal options give equal text on every machine.
#include <charconv>
#include <cstdio>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>

#include <cxxopts.hpp>
#include <zlib.h>

#include "made_trace.h"

namespace tbtrace::benchmarks {
namespace {

/// `500MB`, `2GB`, `100kB` or plain bytes.
std::optional<std::int64_t> parse_size(std::string_view text) {
  std::int64_t size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (error != std::errc() || size <= 0) return std::nullopt;
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  if (unit == "GB") return size * 1'000'000'000;
  if (unit == "MB") return size * 1'000'000;
  if (unit == "kB") return size * 1000;
  if (unit.empty() || unit == "B") return size;
  return std::nullopt;
}

/// A file, plain or gzip, or standard output.
class Output {
 public:
  bool open(const std::string& path) {
    if (path == "-") {
      plain_ = stdout;
    } else if (path.ends_with(".gz")) {
      packed_ = gzopen(path.c_str(), "wb6");
    } else {
      plain_ = std::fopen(path.c_str(), "wb");
    }
    return plain_ != nullptr || packed_ != nullptr;
  }

  bool write(std::string_view text) {
    if (packed_ == nullptr) return std::fwrite(text.data(), 1, text.size(), plain_) == text.size();
    return gzwrite(packed_, text.data(), static_cast<unsigned>(text.size())) > 0;
  }

  bool close() { return packed_ != nullptr ? gzclose(packed_) == Z_OK : std::fclose(plain_) == 0; }

 private:
  std::FILE* plain_ = nullptr;
  gzFile packed_ = nullptr;
};

int run(int argc, char** argv) {
  cxxopts::Options parser("tbtrace_make_trace", "Writes a large made-up trace to measure on.");
  parser.add_options()  //
      ("size", "about how much text", cxxopts::value<std::string>()->default_value("500MB"),
       "SIZE")  //
      ("seed", "another number, another trace", cxxopts::value<std::uint64_t>()->default_value("1"),
       "N")                                                                                    //
      ("shapes", "shapes, types, strides and values of operators, as torch 2.x records them")  //
      ("h,help", "this help")                                                                  //
      ("output", "", cxxopts::value<std::string>());
  parser.parse_positional("output");
  parser.positional_help("FILE (.json, .json.gz or - for standard output)");
  try {
    const auto options = parser.parse(argc, argv);
    if (options.count("help") > 0) {
      std::cout << parser.help();
      return 0;
    }
    const auto size = parse_size(options["size"].as<std::string>());
    Output output;
    if (!size || options.count("output") != 1) {
      std::cerr << "tbtrace_make_trace: takes --size such as 500MB, and one file; see --help\n";
      return 2;
    }
    const auto path = options["output"].as<std::string>();
    const MadeTrace settings = {*size, options["seed"].as<std::uint64_t>(),
                                options.count("shapes") > 0};
    const auto write = [&](std::string_view text) { return output.write(text); };
    if (output.open(path) && write_made_trace(settings, write) && output.close()) return 0;
    std::cerr << "tbtrace_make_trace: cannot write " << path << "\n";
    return 5;
  } catch (const cxxopts::exceptions::exception& error) {
    std::cerr << "tbtrace_make_trace: " << error.what() << "\n";
    return 2;
  }
}

}  // namespace
}  // namespace tbtrace::benchmarks

int main(int argc, char** argv) { return tbtrace::benchmarks::run(argc, argv); }
