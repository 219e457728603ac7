// The same work recorded with nothing, with tbtrace and with torch's own profiler, and figures of
// it. Each waits for the GPU before it begins and before it ends, so that a recording has all of
// its own work and no other.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <tbtrace/profiler.h>

namespace gpu_checks {

using Body = std::function<void()>;

double now_ms();
double median(std::vector<double> values);
double resident_bytes();
void wait_for_gpu();

/// Milliseconds on the calling thread, in the order in which they pass.
struct Recorded {
  double start_ms = 0;
  double body_ms = 0;
  double wait_ms = 0;  ///< for the GPU, after the body
  double stop_ms = 0;
  double export_ms = 0;
  std::vector<std::string> warnings = {};

  double step_ms() const { return body_ms + wait_ms; }
};

// An empty path: nothing is written.

Recorded record_nothing(const Body& body);
/// \throws std::runtime_error if the trace cannot be written.
Recorded record_ours(tbtrace::ProfilerOptions options, const Body& body, const std::string& path);
Recorded record_torchs(bool cpu, const Body& body, const std::string& path);

/// Both kinds of activities.
tbtrace::ProfilerOptions both_activities();

/// torch's own profiler, from here to the end of the scope or to save().
class TorchProfiler {
 public:
  explicit TorchProfiler(bool cpu = true);
  ~TorchProfiler();
  TorchProfiler(const TorchProfiler&) = delete;
  TorchProfiler& operator=(const TorchProfiler&) = delete;

  /// Ends it; the milliseconds that this and writing took.
  double stop_ms();
  double save_ms(const std::string& path);

 private:
  struct Result;
  std::unique_ptr<Result> result_;
};

/// What a written trace says, found without reading it as JSON.
struct Scanned {
  std::size_t kernels = 0;
  double lost = 0;
  double untimed = 0;
  std::string problem;  ///< `tbtrace_device_tracing`
};
Scanned scan_trace(const std::string& path);

/// One JSON object, printed as a line.
class Figures {
 public:
  void add(const std::string& name, double value);
  void add(const std::string& name, const std::string& text);
  void add(const std::string& name, const std::vector<double>& values);
  void add(const std::string& name, const std::vector<std::string>& texts);
  void print() const;

 private:
  void begin(const std::string& name);

  std::string json_;
};

}  // namespace gpu_checks
