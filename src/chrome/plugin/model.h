// The rows of the model for torch-tb-profiler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include <tbtrace/trace.h>

#include "chrome/plugin/row_writer.h"
#include "chrome/rows/model_arguments.h"
#include "chrome/rows/model_rows.h"

namespace tbtrace::chrome {

class PluginModelRows final : public ModelRows {
 public:
  PluginModelRows(const Trace& trace, const chrome::RowWriter& writer);

  void label(TrackId id, std::string& json) override;
  void range(EventId event, std::string& json) override;
  void memory(std::size_t record, std::string& json) override;
  void flow(const FlowEnd& end, std::string& json) override;

 private:
  void name_row(std::string_view name_json, const chrome::Place& place, StringId name,
                std::string& json) const;

  const Trace& trace_;
  const chrome::RowWriter& writer_;
  chrome::RowTexts texts_;
  ModelArguments model_arguments_;
  std::string arguments_;
  std::set<std::int64_t> named_processes_;
};

}  // namespace tbtrace::chrome
