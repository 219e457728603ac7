// The rows of the model for torch-tb-profiler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include <tbtrace/trace.h>

#include "converters/model_arguments.h"
#include "converters/model_rows.h"
#include "dialects/row_writer.h"

namespace tbtrace::converters {

class PluginModelRows final : public ModelRows {
 public:
  PluginModelRows(const Trace& trace, const dialects::RowWriter& writer);

  void label(TrackId id, std::string& json) override;
  void range(EventId event, std::string& json) override;
  void memory(std::size_t record, std::string& json) override;
  void flow(const FlowEnd& end, std::string& json) override;

 private:
  void name_row(std::string_view name_json, const dialects::Place& place, StringId name,
                std::string& json) const;

  const Trace& trace_;
  const dialects::RowWriter& writer_;
  dialects::RowTexts texts_;
  ModelArguments model_arguments_;
  std::string arguments_;
  std::set<std::int64_t> named_processes_;
};

}  // namespace tbtrace::converters
