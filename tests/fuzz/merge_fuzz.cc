// Any bytes that read as a trace, merged as two ranks with the same ids: strict JSON that reads
// again, with every range of both, and no process that they share.
//
// The first byte chooses as in convert_fuzz.cc.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/merge.h>
#include <tbtrace/trace.h>

#include "fuzz/grammar_text.h"
#include "fuzz/require.h"
#include "wire/json_strict.h"

namespace {

using namespace tbtrace;
using fuzz::require;

/// In memory if the system has a folder there; emptied by each input, removed at the end.
class Folder {
 public:
  Folder() {
    std::string name = std::filesystem::exists("/dev/shm") ? "/dev/shm/merge_fuzz_XXXXXX"
                                                           : "/tmp/merge_fuzz_XXXXXX";
    require(::mkdtemp(name.data()) != nullptr, "there is a folder to write to");
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }

  std::string path(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

std::string trace_text(std::string_view input) {
  const bool are_choices = !input.empty() && (static_cast<unsigned char>(input[0]) & 0xc0) == 0x80;
  return are_choices ? fuzz::GrammarText(input.substr(1)).trace() : std::string(input);
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// How often each name is there.
std::map<std::string, std::size_t> names_of(const Trace& trace) {
  std::map<std::string, std::size_t> names;
  for (std::size_t number = 0; number < trace.events().size(); ++number) {
    ++names[std::string(trace.string(trace.events().name(static_cast<EventId>(number))))];
  }
  return names;
}

std::set<std::string> processes_of(const Trace& trace) {
  std::set<std::string> processes;
  for (const Track& track : trace.tracks()) {
    const bool is_text = track.process.text != StringId::empty;
    processes.insert(is_text ? '"' + std::string(trace.string(track.process.text))
                             : track.process.number_text());
  }
  return processes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Folder kFolder;
  const std::string text = trace_text({reinterpret_cast<const char*>(data), size});
  const std::string input = kFolder.path("rank.json");
  const std::string output = kFolder.path("job.json");
  std::ofstream(input, std::ios::binary)
      .write(text.data(), static_cast<std::streamsize>(text.size()));
  const Result<Trace> one = read_trace(input, {.threads = 1});

  std::vector<MergePart> parts(2);
  for (std::size_t rank = 0; rank < parts.size(); ++rank) {
    parts[rank].file.path = input;
    parts[rank].file.rank = static_cast<std::int64_t>(rank);
    if (one.ok()) parts[rank].file.base_time_ns = one->base_time_ns();
  }
  const Result<MergeReport> report = merge_traces(parts, output, {.overwrite = true, .threads = 1});
  if (!one.ok()) return 0;
  if (!report.ok()) {
    const bool is_known = report.status().message().find("has two arrays") != std::string::npos;
    require(is_known, "what can be read can be merged, but for a second array of events");
    return 0;
  }

  const std::string merged = content_of(output);
  std::string copy;
  require(wire::append_strict_json(copy, merged, true), "what is written is strict JSON");
  const Result<Trace> both = read_trace(output, {.threads = 1});
  require(both.ok(), "what is written is a trace");
  require(both->events().size() == 2 * one->events().size(), "every range is there once per rank");
  require(processes_of(*both).size() == 2 * processes_of(*one).size(),
          "no process is of both ranks");
  const std::map<std::string, std::size_t> names = names_of(*one);
  for (const auto& [name, count] : names_of(*both)) {
    const auto found = names.find(name);
    require(found != names.end() && count == 2 * found->second, "names stay as they are");
  }
  return 0;
}
