// torch.profiler for programs that use LibTorch: record on a schedule, look at the result, write
// log directories for TensorBoard. Target tbtrace::torch; needs no header of torch.
// CMake has the target where tbtrace was built with LibTorch: `if(TARGET tbtrace::torch)`.
// A Profiler owns what it recorded. Its functions are for the thread that makes it; what it records
// may run on any. Two profilers may record at once on two threads.
// Wrong arguments throw std::invalid_argument with torch's text. What goes wrong later (no room on
// the disk, nothing recorded) is told through warnings, and Statuses where there are any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/analyses.h>
#include <tbtrace/convert.h>
#include <tbtrace/export.h>
#include <tbtrace/schedule.h>
#include <tbtrace/status.h>
#include <tbtrace/trace.h>

namespace torch::nn {
class Module;
template <typename Contained>
class ModuleHolder;
}  // namespace torch::nn

namespace TBTRACE_EXPORT tbtrace {

class Profiler;

/// What is recorded: operators and ranges of the host, or device activity.
/// GPUs need NVIDIA's driver and CUPTI, which is loaded when it is wanted; `tbtrace doctor` says
/// whether and why not. Where they cannot be recorded, the rest is, and one warning says so.
enum class Activity : std::uint8_t { cpu, cuda };

struct ExperimentalOptions {
  /// Gets warnings instead of stderr; called from the thread where something is wrong.
  std::function<void(std::string_view)> on_warning = {};

  // Of GPUs, all in the window's trace.
  bool enable_cuda_sync_events = false;  ///< waits of streams and for events, as torch names it
  bool cuda_overhead = false;            ///< the time that tracing GPUs takes itself
  /// NVTX ranges as ranges of the user. They reach CUPTI only if NVTX_INJECTION64_PATH names its
  /// library when the program starts.
  bool nvtx = false;
  /// Has the driver note each operator, as torch's profiler does, and compares that with what times
  /// say; the member `tbtrace_launch_check` of the file has the result. Costs a call of the driver
  /// at both ends of each operator.
  bool check_launches = false;
  /// The end of a cycle waits for the GPUs, as torch's does, so that all that was launched in it is
  /// in it. Without, the program goes on at once, and what is not done two seconds later is lost.
  bool wait_for_device = true;
};

/// The members of torch.profiler.profile's arguments, with its defaults.
struct ProfilerOptions {
  std::vector<Activity> activities = {};  ///< empty: all that there is
  Schedule schedule = {};                 ///< none: all is recorded, and steps are not marked
  /// Called inside step() or stop() when a cycle was recorded.
  std::function<void(Profiler&)> on_trace_ready = {};
  bool record_shapes = false;
  bool profile_memory = false;  ///< of the CPU, and of CUDA's caching allocator
  /// Frames of C++ and of TorchScript around each operator, `file(line): function`. C++ needs debug
  /// information (`-g`) for files and lines, and only the program's own code and LibTorch's
  /// modules, optimizers and data loaders are shown. Costs under a microsecond an operator; names
  /// are looked up when somebody asks for the result.
  bool with_stack = false;
  bool with_flops = false;    ///< records shapes, too
  bool with_modules = false;  ///< TorchScript's module hierarchy, and module_scope
  bool acc_events = false;    ///< key_averages() and events() are of all cycles
  /// Every thread of the process, not only this one and those that its ThreadLocalState reaches.
  bool all_threads = false;
  ExperimentalOptions experimental = {};
};

namespace range_detail {
struct Range;
}

/// Marks a range of the calling thread for every profiler, from here to the end of the scope.
/// Costs a few nanoseconds while nobody records. Names are any bytes.
class record_function {
 public:
  explicit record_function(std::string_view name);
  ~record_function();
  record_function(const record_function&) = delete;
  record_function& operator=(const record_function&) = delete;

 private:
  std::unique_ptr<range_detail::Range> range_;
};

/// A range that begins here and ends wherever end() is called, on any thread, once. It counts as
/// asynchronous, as torch has it: no parent, no self time.
class async_range {
 public:
  explicit async_range(std::string_view name);
  ~async_range();  ///< ends it
  async_range(async_range&& other) noexcept;
  async_range& operator=(async_range&& other) noexcept;

  void end();

 private:
  std::unique_ptr<range_detail::Range> range_;
};

#define TBTRACE_RECORD_FUNCTION_JOIN_(a, b) a##b
#define TBTRACE_RECORD_FUNCTION_NAME_(line) TBTRACE_RECORD_FUNCTION_JOIN_(tbtrace_range_, line)
/// Marks the rest of the scope.
#define TBTRACE_RECORD_FUNCTION(name) \
  const ::tbtrace::record_function TBTRACE_RECORD_FUNCTION_NAME_(__LINE__)(name)

/// The calling thread is in the module's forward, from here to the end of the scope: a frame
/// `nn.Module: Class_k` where a profiler records with `with_modules` or `with_stack`, or knows a
/// model by attach(). torch's own profiler sees a user's range.
class module_scope {
 public:
  explicit module_scope(const torch::nn::Module& module);
  ~module_scope();
  module_scope(const module_scope&) = delete;
  module_scope& operator=(const module_scope&) = delete;

 private:
  std::unique_ptr<range_detail::Range> range_;
};

/// First line of a module's forward: `TBTRACE_MODULE_SCOPE(*this);`
#define TBTRACE_MODULE_SCOPE(module) \
  const ::tbtrace::module_scope TBTRACE_RECORD_FUNCTION_NAME_(__LINE__)(module)

struct TensorboardOptions {
  std::string worker_name = {};  ///< empty: `<host name>_<process id>`
  bool use_gzip = false;
  Dialect dialect = Dialect::plugin;
  /// Each window becomes a run, `<dir>/<worker>_<window>`: a TensorBoard that is running reads a
  /// run once and does not look for further files in it.
  bool run_per_window = false;
  /// What the windows say, for TensorBoard without the plugin: event files in `<dir>/<worker>`, a
  /// run with times of steps, tables and flame graphs (`<worker>-2` if another process is writing
  /// that one). Tables and pictures are those of the first five windows, of the 10th, 30th, 100th,
  /// 300th and so on, and of the last one, written when the profiler ends.
  bool summaries = true;
};

/// For ProfilerOptions::on_trace_ready: writes each cycle to
/// `<directory>/<worker>.<nanoseconds since 1970>.pt.trace.json[.gz]`, for `tensorboard --logdir
/// DIRECTORY`, and summaries beside it. Both are written by another thread;
/// Profiler::wait_for_exports() tells how it went. No name is used twice, whoever else writes
/// there.
std::function<void(Profiler&)> tensorboard_trace_handler(std::string directory,
                                                         TensorboardOptions options = {});

/// This process's place among those of a job.
struct DistributedInfo {
  std::string backend = {};  ///< of c10d: `gloo`, `nccl`
  int rank = 0;
  int world_size = 1;
};

class Profiler {
 public:
  /// \throws std::invalid_argument for activities that are named twice, or a schedule's nonsense.
  explicit Profiler(ProfilerOptions options = {});
  /// Stops it if it is running, and waits for exports.
  ~Profiler();
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  void start();
  void stop();
  /// The next step begins.
  /// \throws std::invalid_argument if the schedule returns nonsense; the step does not count then.
  void step();

  /// Recording from record() to the end of the scope. What on_trace_ready throws there becomes a
  /// warning.
  class Recording {
   public:
    explicit Recording(Profiler& profiler) : profiler_(profiler) { profiler_.start(); }
    ~Recording() { profiler_.end(); }
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;

   private:
    Profiler& profiler_;
  };
  [[nodiscard]] Recording record() { return Recording(*this); }

  std::int64_t step_num() const;

  /// Finds the model's modules, as they are now, in what is recorded from the next warm-up on, as
  /// frames `nn.Module: Class_k`, without a change of the model: by the parameters and buffers that
  /// operators take. So modules without any (activations, pooling) have no frames, a module that
  /// has parts lasts from the first to the last operator of its parts, and weights that two modules
  /// share, or that are used outside of any forward, count for the module that has them first.
  /// Exact frames are module_scope's; both go together. The model need not live on, nor be owned by
  /// a pointer. Operators are asked for their inputs then, which costs what `record_shapes` does.
  void attach(const torch::nn::Module& model, const std::string& name = "model");
  template <typename Contained>
  void attach(const torch::nn::ModuleHolder<Contained>& model, const std::string& name = "model") {
    attach(*model, name);
  }
  template <typename Model>
  void attach(const std::shared_ptr<Model>& model, const std::string& name = "model") {
    if (model == nullptr) throw std::invalid_argument("attach() was given no model");
    attach(*model, name);
  }

  /// Stops, or goes on with, recording within a cycle.
  void toggle_collection_dynamic(bool enable, const std::vector<Activity>& activities);

  /// A member of the file, as text or as JSON. Only while a cycle is prepared or recorded. The last
  /// one of a name counts, also before what the profiler says by itself (`host_name`, `trace_id`,
  /// `record_shapes` and its like), as torch has it. What a file is read by is refused with a
  /// warning: `traceEvents`, `schemaVersion`, `deviceProperties`, `displayTimeUnit`,
  /// `baseTimeNanoseconds`, `traceName`, `tbtrace_lost_records`.
  void add_metadata(const std::string& key, std::string_view value);
  void add_metadata_json(const std::string& key, std::string_view json);

  /// Stands as `distributedInfo` in the files of this cycle and of all later ones.
  void set_distributed_info(const DistributedInfo& info);

  // What was recorded: of the last cycle, or of all with `acc_events`. Empty, with a warning,
  // before there is one. The first call makes the trace from the recording.

  OperatorSummary key_averages(const SummaryOptions& options = {});
  EventList events();

  /// The last cycle; gzip if the path ends in `.gz`. An existing file is replaced, as torch does.
  Status export_chrome_trace(const std::string& path);
  /// Folded stacks by `self_cpu_time_total` or `self_cuda_time_total`.
  /// \throws std::invalid_argument for another metric.
  Status export_stacks(const std::string& path, std::string_view metric = "self_cpu_time_total");

  /// How much memory the last cycle's tensors had at each time, and what for (PARAMETER,
  /// ACTIVATION, GRADIENT and so on), by torch's rules. `*raw.json.gz`: a list of `[ns, action,
  /// bytes, category]`; other `.gz`, and what is not `.html`: `[times in us, bytes by category]`;
  /// `.html`: a page with a chart. Parameters are those of models given to attach(); without it
  /// those that a whole training step shows. docs/memory_timeline.md has the rules. An existing
  /// file is replaced. `device` is `cpu`, or `cuda:N` (docs/gpu_recording.md says where the memory
  /// of GPUs is recorded). \throws std::invalid_argument without record_shapes, profile_memory and
  /// with_stack, or for another device.
  Status export_memory_timeline(const std::string& path, std::string_view device = "cpu");

  /// Until what handlers export in the background is written. The first failure since the last
  /// call.
  Status wait_for_exports();

  /// For handlers: writes the last cycle in the background.
  void export_in_background(const std::string& directory, const TensorboardOptions& options);

 private:
  class Driver;

  void end() noexcept;

  std::unique_ptr<Driver> driver_;
};

}  // namespace tbtrace
