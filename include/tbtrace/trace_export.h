// Writes traces as files of other tools: Perfetto and others, in their own formats.
// docs/exports.md says what each format has and what it loses.
// A TraceExport belongs to one thread; several may be in use at once, with different outputs.
// Files appear by rename, complete or not at all. What is left out is counted.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <tbtrace/export.h>
#include <tbtrace/status.h>
#include <tbtrace/trace.h>

namespace TBTRACE_EXPORT tbtrace {

enum class ExportFormat : std::uint8_t {
  perfetto,    ///< Perfetto's track events, a protobuf
  speedscope,  ///< speedscope's own JSON
  pprof,       ///< pprof's profile.proto, always gzip
  firefox,     ///< Firefox profiler's Gecko format
  folded,      ///< own time on the host by stack, `a;b;c 123` in ns
};

/// One row of the list of formats.
struct ExportFormatRow {
  ExportFormat format = ExportFormat::perfetto;
  std::string_view name;     ///< `perfetto`
  std::string_view suffix;   ///< of its files: `.pftrace`
  std::string_view summary;  ///< what opens it
};

/// All formats.
std::span<const ExportFormatRow> export_formats();

struct ExportReport {
  std::uint64_t traces = 0;
  std::uint64_t ranges = 0;
  std::uint64_t flows = 0;           ///< from one range to another
  std::uint64_t instants = 0;        ///< moments that a program named
  std::uint64_t counter_values = 0;  ///< of memory and of the program
  std::uint64_t bytes = 0;           ///< without compression
  /// What the file does not have, in words, and how much of it there was.
  std::map<std::string, std::uint64_t> left_out;
};

/// A file that traces are added to, such as the ranks of a job. Each trace can be dropped after it
/// was added. The file appears when finish() is called.
class TraceExport {
 public:
  /// `path`: `-` is standard output, a name that ends in `.gz` gives a gzip file. An existing file
  /// is a failure unless `overwrite`.
  static Result<TraceExport> create(const std::string& path, ExportFormat format,
                                    bool overwrite = false);
  TraceExport(TraceExport&&) noexcept;
  TraceExport& operator=(TraceExport&&) noexcept;
  ~TraceExport();

  /// `name` tells traces of one file apart, `rank 3`; may be empty for a single one. Arguments that
  /// the trace was read with are in the file: ArgumentSet::all() keeps the most. Fails if the
  /// output cannot be written.
  Status add(const Trace& trace, const std::string& name);

  /// Completes the file. No call but the destructor may follow.
  Result<ExportReport> finish();

 private:
  struct Parts;
  explicit TraceExport(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

/// One trace as a file.
Result<ExportReport> export_trace(const Trace& trace, const std::string& path, ExportFormat format,
                                  bool overwrite = false);

}  // namespace tbtrace
