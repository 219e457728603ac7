#include "jobs/sets/not_ranks.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include <tbtrace/trace.h>

#include "base/threads.h"
#include "io/archives/input.h"
#include "io/archives/unpacked.h"
#include "io/source.h"

namespace tbtrace::jobs {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20;
constexpr std::size_t kFewestRanks = 2;  // that only their device work shows to be ranks

/// Kineto's categories of device work, as it writes them.
constexpr auto kDeviceWork = std::to_array<std::string_view>({
    R"("cat": "kernel")",
    R"("cat": "gpu_memcpy")",
    R"("cat": "gpu_memset")",
    R"("cat":"kernel")",
    R"("cat":"gpu_memcpy")",
    R"("cat":"gpu_memset")",
});

/// Whether the text has device work of torch's; in most files that is quickly found.
bool has_torchs_device_work(const std::string& path) {
  Result<std::unique_ptr<io::ByteSource>> file = io::open_input(path);
  if (!file.ok()) return false;
  Result<io::Unpacked> content = io::unpacked(*std::move(file));
  if (!content.ok() || content->archive != io::PackedKind::none) return false;
  constexpr std::size_t kOverlap = 32;
  std::string text;
  for (;;) {
    text.erase(0, text.size() - std::min(text.size(), kOverlap));
    const std::size_t kept = text.size();
    text.resize(kept + kPiece);
    const Result<std::size_t> got = content->source->read({text.data() + kept, kPiece});
    if (!got.ok() || *got == 0) return false;
    text.resize(kept + *got);
    const bool has_work = std::ranges::any_of(kDeviceWork, [&](std::string_view category) {
      return text.find(category) != std::string::npos;
    });
    if (has_work) return true;
  }
}

/// A file that cannot be read may have any.
bool may_have_device_work(const std::string& path) {
  if (has_torchs_device_work(path)) return true;
  const Result<Trace> trace = read_trace(path, {.threads = 1, .arguments = {}});
  if (!trace.ok()) return true;
  return std::ranges::any_of(trace->by_start(),
                             [&](EventId event) { return is_device_work(trace->kind(event)); });
}

}  // namespace

std::vector<bool> files_of_no_rank(std::span<const PossibleRank> files, int threads) {
  std::map<std::string_view, std::vector<std::size_t>> folders;
  for (std::size_t file = 0; file < files.size(); ++file) {
    folders[files[file].folder].push_back(file);
  }
  std::vector<std::size_t> unknown;
  for (const auto& [folder, members] : folders) {
    if (members.size() < 2) continue;
    std::ranges::copy_if(members, std::back_inserter(unknown),
                         [&](std::size_t file) { return !files[file].is_known; });
  }
  std::vector<char> has_work(files.size(), 0);
  run_numbered(static_cast<std::size_t>(thread_count(threads)), unknown.size(),
               [&](std::size_t number) {
                 const std::size_t file = unknown[number];
                 has_work[file] = may_have_device_work(files[file].path) ? 1 : 0;
               });
  std::vector<bool> result(files.size(), false);
  for (const auto& [folder, members] : folders) {
    std::vector<std::size_t> without;
    std::size_t others = 0;
    for (const std::size_t file : members) {
      if (files[file].is_known || members.size() < 2) continue;
      if (has_work[file] == 0) without.push_back(file);
      others += has_work[file] != 0 ? 1U : 0U;
    }
    if (without.empty()) continue;
    const bool have_ranks_work =
        others >= kFewestRanks || std::ranges::any_of(members, [&](std::size_t file) {
          return files[file].is_known && may_have_device_work(files[file].path);
        });
    if (!have_ranks_work) continue;
    for (const std::size_t file : without) result[file] = true;
  }
  return result;
}

}  // namespace tbtrace::jobs
