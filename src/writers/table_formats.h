// Tables onto a sink, row by row: what the functions of <tbtrace/writers.h> return as one text.
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

/// Goes over the rows twice: the first time to find the columns in which nothing stands.
void write_markdown(report::TableRows& rows, io::TextSink& out);

void write_json(std::string_view schema, report::TableRows& rows,
                const std::vector<std::pair<std::string, std::string>>& members, io::TextSink& out);

}  // namespace tbtrace::writers
