// What a profile says, as values of a SummaryWriter, so that plain TensorBoard shows it: the time
// of each step and what it went to, tables of operators, kernels and memory, durations, a flame
// graph. A ProfileSummaries refers to its writer, which must outlive it. One thread at a time.
// Figures are the exact ones. What a trace does not have is left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <tbtrace/summary_writer.h>
#include <tbtrace/trace.h>

namespace tbtrace {

struct ProfileSummaryOptions {
  std::size_t table_rows = 50;  ///< TensorBoard takes a second for 3000
  bool flame_graphs = true;     ///< where this build can draw: capabilities().pictures
};

/// Tags begin with `profile/`. Scalars stand at the numbers of their steps, the rest at the last
/// one of a trace. A trace whose steps do not begin above those before it has them moved up, as a
/// tag's steps have to grow; so has one without steps, which counts as one.
class ProfileSummaries {
 public:
  explicit ProfileSummaries(SummaryWriter& writer, ProfileSummaryOptions options = {})
      : writer_(writer), options_(options) {}

  /// The windows of one process, oldest first.
  void add(const Trace& trace);

 private:
  void add_once(const Trace& trace);
  void add_steps(const Trace& trace);
  void add_tables(const Trace& trace);
  void add_durations(const Trace& trace);
  void add_flame_graphs(const Trace& trace);

  SummaryWriter& writer_;
  ProfileSummaryOptions options_;
  std::int64_t last_step_ = -1;
  std::uint64_t traces_ = 0;
};

}  // namespace tbtrace
