// A report as HTML for a notebook: the texts that a table for people has, whole, with its totals
// and notes. Everything that comes from a file is escaped.
#pragma once

#include <string>

#include <tbtrace/report.h>

#include "writers/tables/peoples_report.h"

namespace tbtrace::writers {

std::string html_table(const AnalysisReport& report, const PeoplesReport& shown);

}  // namespace tbtrace::writers
