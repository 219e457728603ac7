// The rows of the model for readers of Kineto's traces: with the model's times, ids, tracks and
// categories, and with the changes of chrome::KinetoRepairs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include <tbtrace/trace.h>

#include "chrome/kineto/repairs.h"
#include "chrome/rows/json_texts.h"
#include "chrome/rows/model_arguments.h"
#include "chrome/rows/model_rows.h"

namespace tbtrace::chrome {

class KinetoModelRows final : public ModelRows {
 public:
  KinetoModelRows(const Trace& trace, const chrome::KinetoRepairs& repairs);

  void label(TrackId id, std::string& json) override;
  void range(EventId event, std::string& json) override;
  void memory(std::size_t record, std::string& json) override;
  void flow(const FlowEnd& end, std::string& json) override;

 private:
  void place(EventId event, std::string& json) const;
  void category(EventId event, std::string& json);
  void name(EventId event, std::string& json);
  void arguments(EventId event, std::string& json);
  void ids(EventId event, std::string& json) const;
  void stream(EventId event, std::string& json) const;

  const Trace& trace_;
  const chrome::KinetoRepairs& repairs_;
  ModelArguments arguments_;
  chrome::JsonTexts texts_;
  std::set<std::pair<std::int64_t, StringId>> named_processes_;
};

}  // namespace tbtrace::chrome
