// Writes tables to a sink, row by row: the same text that the functions of <tbtrace/report.h>
// return.
// A failed write ends them early; the sink keeps the failure.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/text_sink.h"
#include "report/table_rows.h"

namespace tbtrace::writers {

void write_csv(report::TableRows& rows, io::TextSink& out);

/// Reads the rows twice: the first time to find the columns without any values.
void write_markdown(report::TableRows& rows, io::TextSink& out);

void write_json(std::string_view schema, report::TableRows& rows,
                const std::vector<std::pair<std::string, std::string>>& members, io::TextSink& out);

}  // namespace tbtrace::writers
