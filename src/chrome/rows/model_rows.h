// The rows of a trace from the model alone, for a trace without a file, or whose file is not
// available.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include <tbtrace/convert.h>
#include <tbtrace/trace.h>

namespace tbtrace::chrome {

/// How a dialect has the rows of the model. Made by RowDocument::model_rows(). Each appends rows, a
/// comma and a line end after each of them. One thread at a time.
class ModelRows {
 public:
  virtual ~ModelRows() = default;

  /// Names the track and its process.
  virtual void label(TrackId id, std::string& json) = 0;
  /// The range and what belongs to it.
  virtual void range(EventId event, std::string& json) = 0;
  /// trace.memory()[record].
  virtual void memory(std::size_t record, std::string& json) = 0;
  virtual void flow(const FlowEnd& end, std::string& json) = 0;

  /// Those of rows since the last call; RowDocument tells the others.
  Changes take_changes() { return std::exchange(changes_, {}); }

 protected:
  Changes& changes() { return changes_; }

 private:
  Changes changes_;
};

}  // namespace tbtrace::chrome
