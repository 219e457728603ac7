#include "chrome/convert/write_model_rows.h"

#include <memory>
#include <utility>

#include "chrome/convert/dialects.h"
#include "chrome/rows/model_rows.h"
#include "chrome/rows/row_document.h"

namespace tbtrace::chrome {
namespace {

constexpr std::size_t kFlushAt = std::size_t{256} << 10;

/// Passes rows to the document piece by piece.
class Pieces {
 public:
  Pieces(ModelRows& rows, RowDocument& document) : rows_(rows), document_(document) {}

  std::string& text() { return text_; }
  void took_range() { ++ranges_; }

  Status flush(std::size_t from_size = 0) {
    if (text_.size() < from_size) return {};
    Status written = document_.add(text_, written_ranges_, ranges_, rows_.take_changes());
    written_ranges_ += std::exchange(ranges_, 0);
    text_.clear();
    return written;
  }

 private:
  ModelRows& rows_;
  RowDocument& document_;
  std::string text_;
  std::size_t written_ranges_ = 0;
  std::size_t ranges_ = 0;  // in the text
};

Status write_rows(const Trace& trace, ModelRows& rows, RowDocument& document) {
  Pieces pieces(rows, document);
  for (std::size_t track = 0; track < trace.tracks().size(); ++track) {
    rows.label(static_cast<TrackId>(track), pieces.text());
  }
  for (std::size_t row = 0; row < trace.events().size(); ++row) {
    rows.range(static_cast<EventId>(row), pieces.text());
    pieces.took_range();
    if (Status written = pieces.flush(kFlushAt); !written.ok()) return written;
  }
  for (std::size_t record = 0; record < trace.memory().size(); ++record) {
    rows.memory(record, pieces.text());
    if (Status written = pieces.flush(kFlushAt); !written.ok()) return written;
  }
  for (const FlowEnd& end : trace.flows()) {
    rows.flow(end, pieces.text());
    if (Status written = pieces.flush(kFlushAt); !written.ok()) return written;
  }
  return pieces.flush();
}

}  // namespace

Result<Changes> write_model_rows(const Trace& trace, Dialect dialect, bool infer_steps,
                                 io::ByteSink& sink) {
  const std::unique_ptr<RowDocument> document = new_document(trace, dialect, infer_steps, 1, sink);
  if (Status begun = document->begin(); !begun.ok()) return begun;
  const std::unique_ptr<ModelRows> rows = document->model_rows();
  if (Status written = write_rows(trace, *rows, *document); !written.ok()) return written;
  if (Status ended = document->end(); !ended.ok()) return ended;
  return document->changes();
}

}  // namespace tbtrace::chrome
