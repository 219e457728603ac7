// What a format of another tool implements. To add one: a file with a class like this one, a maker
// below, a value of ExportFormat, a row in formats.cc, a section in docs/exports.md, a test that
// reads the file with another implementation.
// One thread at a time.
#pragma once

#include <memory>

#include <tbtrace/status.h>
#include <tbtrace/trace_export.h>

#include "io/text_sink.h"
#include "writers/exports/exported_trace.h"

namespace tbtrace::writers {

class Exporter {
 public:
  virtual ~Exporter() = default;

  /// Adds a trace, and counts what it wrote and what it left out. Names are any bytes.
  virtual Status add(const ExportedTrace& exported, io::TextSink& out, ExportReport& report) = 0;

  /// Writes what comes after the last trace.
  virtual Status finish(io::TextSink& /*out*/, ExportReport& /*report*/) { return {}; }
};

std::unique_ptr<Exporter> perfetto_exporter();
std::unique_ptr<Exporter> speedscope_exporter();
std::unique_ptr<Exporter> pprof_exporter();
std::unique_ptr<Exporter> firefox_exporter();
std::unique_ptr<Exporter> folded_exporter();

}  // namespace tbtrace::writers
