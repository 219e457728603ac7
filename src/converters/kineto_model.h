// The rows of the model for readers of Kineto's traces: with the model's times, ids, tracks and
// categories, and with the changes of dialects::KinetoRepairs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include <tbtrace/trace.h>

#include "converters/model_arguments.h"
#include "converters/model_rows.h"
#include "dialects/json_texts.h"
#include "dialects/kineto_repairs.h"

namespace tbtrace::converters {

class KinetoModelRows final : public ModelRows {
 public:
  KinetoModelRows(const Trace& trace, const dialects::KinetoRepairs& repairs);

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
  const dialects::KinetoRepairs& repairs_;
  ModelArguments arguments_;
  dialects::JsonTexts texts_;
  std::set<std::pair<std::int64_t, StringId>> named_processes_;
};

}  // namespace tbtrace::converters
