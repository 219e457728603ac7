// tbtrace_rows: what the trace reader makes of a file, as JSON lines or as a digest of them.
//
//   tbtrace_rows FILE [--threads N] [--block BYTES]
//   tbtrace_rows --batch            reads lines `PATH THREADS BLOCK` and answers each with one line
//
// An answer is {"digest":CRC-32 of all lines,"rows":{KIND:COUNT},"issues":{ID:COUNT}}, or
// {"error":MESSAGE}. THREADS 0 means as many as the machine has cores, BLOCK 0 the reader's own.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/trace.h>

#include "compact_json.h"
#include "io/source.h"
#include "readers/chrome/reader.h"
#include "row_lines.h"

namespace {

using tbtrace::Result;
using tbtrace::Trace;

/// The reader of Chrome traces with the size of its blocks given; 0: its own.
Result<Trace> read_with_block(const std::string& path, int threads, std::size_t block) {
  tbtrace::ReadOptions options;
  options.threads = threads;
  options.arguments = tbtrace::ArgumentSet::all();
  if (block == 0) return tbtrace::read_trace(path, options);
  Result<std::unique_ptr<tbtrace::io::ByteSource>> file = tbtrace::io::open_file(path);
  if (!file.ok()) return file.status();
  Result<std::unique_ptr<tbtrace::io::ByteSource>> source =
      tbtrace::io::decompressed(*std::move(file));
  if (!source.ok()) return source.status();
  Result<tbtrace::readers::Reading> reading =
      tbtrace::readers::read_chrome(**source, options, tbtrace::readers::BlockSize{block});
  if (!reading.ok()) return reading.status();
  return std::move(reading->trace);
}

/// CRC-32 as in gzip (RFC 1952, section 8), which Python's zlib knows too.
class Crc32 {
 public:
  Crc32() {
    for (std::uint32_t byte = 0; byte < table_.size(); ++byte) {
      std::uint32_t rest = byte;
      for (int bit = 0; bit < 8; ++bit) rest = rest >> 1 ^ ((rest & 1) != 0 ? 0xedb88320U : 0U);
      table_[byte] = rest;
    }
  }
  void add(std::string_view text) {
    for (const char c : text) {
      value_ = value_ >> 8 ^ table_[(value_ ^ static_cast<unsigned char>(c)) & 0xff];
    }
  }
  std::uint32_t value() const { return ~value_; }

 private:
  std::array<std::uint32_t, 256> table_;
  std::uint32_t value_ = 0xffffffff;
};

struct Request {
  std::string path;
  int threads = 1;
  std::size_t block = 0;
};

void append_counts(std::string& json, std::string_view key,
                   const std::map<std::string, std::uint64_t, std::less<>>& counts) {
  json += ",\"" + std::string(key) + "\":{";
  bool first = true;
  for (const auto& [name, count] : counts) {
    if (!first) json.push_back(',');
    first = false;
    tbtrace::oracle::append_quoted(json, name);
    json += ":" + std::to_string(count);
  }
  json.push_back('}');
}

std::string error(std::string_view message) {
  std::string json = "{\"error\":";
  tbtrace::oracle::append_quoted(json, message);
  return json + "}";
}

std::string answer(const Request& request) {
  try {
    const Result<Trace> trace = read_with_block(request.path, request.threads, request.block);
    if (!trace.ok()) return error(trace.status().message());
    Crc32 digest;
    std::map<std::string, std::uint64_t, std::less<>> rows;
    tbtrace::oracle::for_each_row(*trace, [&](std::string_view kind, std::string_view line) {
      digest.add(line);
      digest.add("\n");
      const auto count = rows.find(kind);
      if (count != rows.end()) {
        ++count->second;
      } else {
        rows.emplace(kind, 1);
      }
    });
    std::map<std::string, std::uint64_t, std::less<>> issues;
    for (const tbtrace::Issue& issue : trace->issues()) {
      issues.emplace(issue.id, issue.count);
    }
    std::string json = "{\"digest\":" + std::to_string(digest.value());
    append_counts(json, "rows", rows);
    append_counts(json, "issues", issues);
    return json + "}";
  } catch (const std::exception& failure) {
    return error(std::string("exception: ") + failure.what());
  }
}

/// Paths may hold blanks: the two numbers are the last two words.
bool parse(const std::string& line, Request& request) {
  const std::size_t block = line.rfind(' ');
  if (block == std::string::npos || block == 0) return false;
  const std::size_t threads = line.rfind(' ', block - 1);
  if (threads == std::string::npos) return false;
  request.path = line.substr(0, threads);
  request.threads = std::atoi(line.substr(threads + 1, block - threads - 1).c_str());
  request.block = std::strtoull(line.c_str() + block + 1, nullptr, 10);
  return true;
}

int answer_all() {
  for (std::string line; std::getline(std::cin, line);) {
    Request request;
    std::cout << (parse(line, request) ? answer(request) : error("expected PATH THREADS BLOCK"))
              << std::endl;
  }
  return 0;
}

int print_rows(const Request& request) {
  const Result<Trace> trace = read_with_block(request.path, request.threads, request.block);
  if (!trace.ok()) {
    std::cerr << "tbtrace_rows: " << request.path << ": " << trace.status().message() << "\n";
    return 1;
  }
  tbtrace::oracle::for_each_row(
      *trace, [](std::string_view, std::string_view line) { std::cout << line << "\n"; });
  return std::cout.flush() ? 0 : 1;
}

int usage() {
  std::cerr << "usage: tbtrace_rows FILE [--threads N] [--block BYTES] | --batch\n";
  return 2;
}

int run(const std::vector<std::string>& words) {
  Request request;
  for (std::size_t at = 0; at < words.size(); ++at) {
    const bool has_value = at + 1 < words.size();
    if (words[at] == "--batch") return answer_all();
    if (words[at] == "--threads" && has_value) {
      request.threads = std::atoi(words[++at].c_str());
    } else if (words[at] == "--block" && has_value) {
      request.block = std::strtoull(words[++at].c_str(), nullptr, 10);
    } else if (request.path.empty() && !words[at].starts_with("--")) {
      request.path = words[at];
    } else {
      return usage();
    }
  }
  return request.path.empty() ? usage() : print_rows(request);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception& failure) {
    std::cerr << "tbtrace_rows: " << failure.what() << "\n";
    return 1;
  }
}
