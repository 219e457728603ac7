// What held a GPU's memory, by a snapshot of PyTorch's caching allocator
// (torch.cuda.memory._dump_snapshot()): its peak, a failed allocation, what grows, what keeps
// segments. docs/formats/memory_snapshot.md has the format and the rules.
// A MemorySnapshot owns all its data and is immutable: any number of threads may read one. Nothing
// in a file is run: a pickle with anything but data is a failure. Damage is counted in issues().
// Sizes are bytes as they were requested, times nanoseconds since the first entry.
#pragma once

#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/export.h>
#include <tbtrace/report.h>
#include <tbtrace/status.h>
#include <tbtrace/tables.h>
#include <tbtrace/trace.h>

namespace TBTRACE_EXPORT tbtrace {

class MemorySnapshot {
 public:
  struct Data;
  explicit MemorySnapshot(std::shared_ptr<const Data> data) : data_(std::move(data)) {}

  /// Problems in the file that did not prevent reading it.
  std::vector<Issue> issues() const;
  /// Entries of the traces of all devices.
  std::size_t entry_count() const;
  /// By the name of the file, as trainers write it: `rank3_memory_snapshot.pickle`.
  std::optional<std::int64_t> rank() const;

  const Data& data() const { return *data_; }

 private:
  std::shared_ptr<const Data> data_;
};

/// Whether a file looks like a memory snapshot, also compressed or in a page that draws it. False
/// for what cannot be read, and for standard input.
bool is_memory_snapshot(const std::string& path);

/// Reads a snapshot: a pickle of protocol 2 to 5, plain or compressed, or a page of torch that has
/// one in it. Uses `strict`, `threads` for messages, and `on_progress` of the options.
Result<MemorySnapshot> read_memory_snapshot(const std::string& path,
                                            const ReadOptions& options = {});
/// The same of a stream. `name`: of the file, for its rank.
Result<MemorySnapshot> read_memory_snapshot(std::istream& stream, const std::string& name,
                                            const ReadOptions& options = {});

/// The snapshots that inputs name: files, and those in folders by their names (`.pickle`, `.pkl`,
/// also compressed), in natural order. Files that are named are taken whatever they contain.
std::vector<std::string> find_memory_snapshots(const std::vector<std::string>& named);

/// Rows of `tbtrace.memory_snapshot/1`. The options are those of table_of_schema() of that name;
/// fails for others.
Result<AnalysisReport> memory_snapshot_report(const MemorySnapshot& snapshot,
                                              const OptionValues& given = {});

/// What is allocated by stack, in bytes, the outermost frames below the root; several devices each
/// below a frame of their own. Of the options, those of the moment count. Frames of interpreters
/// and dispatchers, which only pass a call on, are left out.
Result<StackTree> memory_snapshot_stacks(const MemorySnapshot& snapshot,
                                         const OptionValues& given = {});

/// What a snapshot says first, as sentences of one line each: what held the memory, why an
/// allocation failed, what grows, what is missing.
std::vector<std::string> memory_snapshot_sentences(const MemorySnapshot& snapshot);

/// What is different between what two snapshots held: rows of `tbtrace.memory_snapshot_diff/1`, the
/// largest differences first. Both at the moment that the option `at` says, in the groups of `by`.
Result<AnalysisReport> memory_snapshot_difference(const MemorySnapshot& before,
                                                  const MemorySnapshot& after,
                                                  const OptionValues& given = {});

}  // namespace tbtrace
