// torch.profiler for programs that use LibTorch: record on a schedule, look at the result, write
// log directories for TensorBoard. Target tbtrace::torch; does not include any torch header.
// The CMake target exists if tbtrace was built with LibTorch: `if(TARGET tbtrace::torch)`.
// A Profiler owns what it recorded. Its functions may be called from any thread; one call goes on
// at a time, except for step_num(). Without `all_threads` it records the thread whose call begins a
// window. Up to 16 profilers may record at once, and as many with `all_threads`, on one thread or
// on several. A window that another thread stops counts as one of the 16 until the thread that
// started it starts or stops a profiler, or ends. Errors: what is wrong in the options throws
// std::invalid_argument in the constructor; so do functions that return nothing, for wrong
// arguments. Functions that return a Status or a Result report everything in it, wrong arguments as
// StatusCode::invalid_argument. What fails later on its own (disk full, nothing recorded) is a
// warning, and a Status where a function returns one.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <tbtrace/convert.h>
#include <tbtrace/export.h>
#include <tbtrace/operators.h>
#include <tbtrace/ranges.h>
#include <tbtrace/schedule.h>
#include <tbtrace/status.h>
#include <tbtrace/trace.h>
#include <tbtrace/training_loop.h>

namespace torch::nn {
template <typename Contained>
class ModuleHolder;
}  // namespace torch::nn
namespace torch::jit {
struct Module;
}

namespace TBTRACE_EXPORT tbtrace {

class Profiler;

/// What is recorded: operators and ranges of the host, or device activity.
/// GPUs need NVIDIA's driver and CUPTI, which is loaded on first use; `tbtrace --version --verbose`
/// says whether recording works and why not. If GPUs cannot be recorded, everything else is, with
/// one warning.
enum class Activity : std::uint8_t { cpu, cuda };

struct ExperimentalOptions {
  /// Receives warnings instead of stderr. Called from the thread on which the problem occurs, maybe
  /// one that exports; it must not call the profiler there.
  std::function<void(std::string_view)> on_warning = {};

  // For GPUs; all of it goes into the window's trace.
  bool enable_cuda_sync_events = false;  ///< stream and event waits, as in torch
  bool cuda_overhead = false;            ///< the time spent in GPU tracing itself
  /// NVTX ranges as user annotations. They reach CUPTI only if NVTX_INJECTION64_PATH names CUPTI's
  /// library when the program starts.
  bool nvtx = false;
  /// Has the driver note each operator, as torch's profiler does, and compares that with the
  /// operators found by time; the result is in the file's member `tbtrace_launch_check`. Costs a
  /// driver call at both ends of each operator.
  bool check_launches = false;
  /// Waits for the GPUs at the end of a cycle, as torch does, so that the cycle contains everything
  /// launched in it. If false, the program continues at once, and device activity that has not
  /// finished two seconds later is lost.
  bool wait_for_device = true;
};

/// What becomes of windows when the program ends, and how much memory may wait for the disk.
/// A program that calls exit() or returns from main() while a profiler is running stops it first:
/// on_trace_ready is called, on the thread that ends the program, and exports are finished. What
/// quick_exit(), _exit(), abort(), SIGSEGV and SIGKILL end loses the window and all exports that
/// are not finished, without a journal; what was exported before stays whole. docs/recording.md has
/// a table.
struct ProcessOptions {
  /// Has these signals stop running profilers, too, and then do what they did before the first
  /// profiler with this option was made: `{SIGTERM, SIGINT, SIGHUP}`. Batch systems send SIGTERM
  /// before they end a job, and Ctrl-C is SIGINT; a second one ends the program at once.
  /// on_trace_ready is then called on a thread of its own. Without it, they lose the window.
  /// SIGQUIT, SIGUSR1, SIGUSR2 and SIGXCPU are possible as well. Signals that the program ignores
  /// stay ignored (`nohup` and SIGHUP).
  std::vector<int> close_on = {};
  /// Has std::terminate() do the same before it aborts: what an exception that nobody catches
  /// ends, or one that leaves a thread or a noexcept function.
  bool close_on_terminate = false;
  /// After a signal or std::terminate(), all of it has to be done within this time. When the
  /// program ends by itself, the end waits so long for a call of the profiler that goes on in
  /// another thread.
  std::chrono::milliseconds exit_timeout{5000};
  /// Windows that wait for being written keep their records in memory. If that is more than this,
  /// a window is dropped instead, with a warning; files after it have `tbtrace_dropped_windows`,
  /// the number of windows so far that were dropped or could not be written. If windows are lost
  /// after the last file, a warning at the end of the profiler or of the program says how many
  /// there were in all. One window is always taken. GPU records count once they are decoded, soon
  /// after the end of their window.
  std::size_t export_queue_bytes = std::size_t{1} << 30;
};

/// A recording that outlasts its process, and a flight recorder, which is always on.
///
/// With a directory: keeps what is recorded in files from the moment on that it is recorded, so
/// that a window outlasts any end of its program, SIGKILL among them, and leaves memory once a part
/// of it is full. `tbtrace recover DIRECTORY` makes traces of what a process left;
/// tensorboard_trace_handler() does so at the next start, in the background. docs/recording.md says
/// when to use it and what it costs.
struct JournalOptions {
  /// Each process makes a folder of its own in it, and removes that when it ends as it should.
  /// Several processes may share it, also of several machines. Empty: no journal. On a machine's
  /// own disk, or in /dev/shm, where it is memory.
  std::string directory = {};
  /// Its files take at most so much, 32 MiB or more; 0: no limit. Records beyond it are lost and
  /// counted. A window takes about 32 bytes per operator, more with shapes and stacks, until its
  /// file is written.
  std::size_t max_bytes = 0;
  /// Has it outlast the machine's end, too, but for the last this much and 50 ms: brings the files
  /// to the disk so often. 0: the system does that when it likes.
  std::chrono::milliseconds sync{0};

  // A flight recorder, where one of these is not 0; without a schedule. It records all steps, and
  // keeps at least the last so many seconds, or so many bytes: two windows, of which the older one
  // is dropped when a third one begins. snapshot(), the signal, a slow step and the profiler's end
  // hand them over to on_trace_ready, the older one first; the recording goes on in new ones. With
  // a directory, 'tbtrace recover' has them after any end of the process. Windows begin at the ends
  // of steps, so step() has to be called.
  double keep_seconds = 0;
  std::size_t keep_bytes = 0;  ///< of both windows, in memory or in the journal
  /// A step that takes longer than this times the median of the last 101 steps hands over what
  /// there is, but not again within keep_seconds: `2.0`.
  double on_slow_step = 0;
  /// A signal that asks for a snapshot, such as SIGUSR1.
  int snapshot_on = 0;
};

/// How CUPTI records GPUs. docs/gpu_recording.md explains when to change what.
struct CuptiOptions {
  /// Memory for records that the program has made and tbtrace has not read yet; records beyond it
  /// are lost and counted. 0: 256 MiB. It is used only as far as needed. Of several profilers that
  /// record at once, the largest value counts.
  std::size_t max_buffer_bytes = 0;
  /// How long the end of a cycle waits for records that CUPTI holds back because other threads keep
  /// the GPU busy.
  std::chrono::milliseconds patience{2000};
  /// Records all CUDA API calls, also queries such as `cudaGetDevice`. Otherwise those that launch,
  /// copy, synchronize, get memory, load code, and make graphs and streams.
  bool all_calls = false;
  /// Traces from the profiler's constructor to its destructor, not only from warm-up to the end of
  /// a cycle. CUPTI then sees CUDA graphs that are captured before the first cycle, and modules as
  /// they are loaded. Costs the same in waiting steps as in recorded ones.
  bool attach_early = false;
  /// Detaches CUPTI (cuptiFinalize) once no profiler needs it, in the next CUDA call of the
  /// program, so that the program is as fast as before it was profiled. Also ends the tracing of
  /// other CUPTI users in the process, and attaching again takes time.
  bool detach_at_end = false;
};

/// The arguments of torch.profiler.profile, with the same defaults.
struct ProfilerOptions {
  std::vector<Activity> activities = {};  ///< empty: all that are available
  Schedule schedule = {};                 ///< none: everything is recorded, without marking steps
  /// Called inside step() or stop() after a cycle was recorded.
  std::function<void(Profiler&)> on_trace_ready = {};
  bool record_shapes = false;
  bool profile_memory = false;  ///< CPU memory, and CUDA's caching allocator
  /// C++ and TorchScript frames around each operator, `file(line): function`. C++ frames need debug
  /// information (`-g`) for files and lines; only the program's own code and LibTorch's modules,
  /// optimizers and data loaders are shown. Costs less than a microsecond per operator; names are
  /// looked up when the result is requested.
  bool with_stack = false;
  bool with_flops = false;    ///< also records shapes
  bool with_modules = false;  ///< TorchScript's module hierarchy, and module_scope
  bool acc_events = false;    ///< key_averages() and events() cover all cycles
  /// Records every thread of the process, not only this one and those that its ThreadLocalState
  /// reaches.
  bool all_threads = false;
  ExperimentalOptions experimental = {};
  ProcessOptions process = {};
  JournalOptions journal = {};
  CuptiOptions cupti = {};
};

struct TensorboardOptions {
  std::string worker_name = {};  ///< empty: `<host name>_<process id>`
  bool use_gzip = false;
  Dialect dialect = Dialect::plugin;
  /// Each window becomes a run, `<dir>/<worker>_<window>`: a running TensorBoard reads a run once
  /// and does not look for new files in it.
  bool run_per_window = false;
  /// Also writes summaries of the windows for TensorBoard without the plugin: event files in
  /// `<dir>/<worker>`, a run with step times, tables and flame graphs (`<worker>-2` if another
  /// process is writing that one). Tables and pictures are written for the first five windows, the
  /// 10th, 30th, 100th, 300th and so on, and for the last one when the profiler ends.
  bool summaries = true;
};

/// For ProfilerOptions::on_trace_ready: writes each cycle to `<directory>/<worker>.<nanoseconds
/// since 1970>.pt.trace.json[.gz]`, for `tensorboard --logdir DIRECTORY`, and summaries beside it.
/// Another thread writes both; Profiler::wait_for_exports() returns the outcome. No name is used
/// twice, even if other processes write there.
std::function<void(Profiler&)> tensorboard_trace_handler(std::string directory,
                                                         TensorboardOptions options = {});

namespace attach_detail {
template <typename Given>
concept IsModel = std::is_base_of_v<torch::nn::Module, Given> ||
    std::is_base_of_v<torch::jit::Module, Given> || requires(const Given& given) {
  []<typename Contained>(const torch::nn::ModuleHolder<Contained>&) {}(given);
} || requires(const Given& given) {
  []<typename Model>(const std::shared_ptr<Model>&) {}(given);
};
}  // namespace attach_detail

/// This process's rank in a distributed job.
struct DistributedInfo {
  std::string backend = {};  ///< the c10d backend: `gloo`, `nccl`
  int rank = 0;
  int world_size = 1;
};

/// torch.profiler.profile. Calls that make no sense are warnings and do nothing else: start() while
/// it is running, step() and stop() while it is not, start() and step() from a callback. stop()
/// from on_trace_ready takes place when that has returned, before another window begins. What
/// on_trace_ready throws comes out of the step() or stop() that called it, once the next step has
/// begun. A callback must not wait for another thread that calls the same profiler: that call waits
/// for the callback. A forked child has a profiler as new, which may be started there; the parent's
/// goes on.
class Profiler {
 public:
  /// \throws std::invalid_argument if an activity is named twice, the schedule returns nonsense,
  /// `close_on` names a signal that it does not take, or the options of a journal contradict each
  /// other.
  explicit Profiler(ProfilerOptions options = {});
  /// Stops it if it is running, and waits for exports.
  ~Profiler();
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  void start();
  void stop();
  /// Begins the next step.
  /// \throws std::invalid_argument if the schedule returns nonsense; the step does not count then.
  void step();

  /// Recording from record() to the end of the scope. Exceptions from on_trace_ready at the end of
  /// the scope become warnings.
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

  /// Waits for no other call, so that any thread may ask at any time.
  std::int64_t step_num() const;

  /// Of a flight recorder (JournalOptions): has what is kept handed over at the end of the running
  /// step. From any thread. Warns and does nothing else if the profiler is none, or not running.
  void snapshot();

  /// Shows the model's modules as frames `nn.Module: Class_k` in everything recorded from the next
  /// warm-up on, without changing the model. Modules are recognised by the parameters and buffers
  /// that operators take, as the model is now. Consequently, modules without any (activations,
  /// pooling) have no frames; a module with submodules lasts from the first to the last operator of
  /// its submodules; of modules that share a weight, an operator on it is of the one whose class is
  /// named as the operator is, else of the first; and weights that are used outside of any forward
  /// count for their module. module_scope gives exact frames; both can be combined. The model need
  /// not stay alive, nor be owned by a pointer. Operators are asked for their inputs, which costs
  /// the same as `record_shapes`.
  void attach(const torch::nn::Module& model, const std::string& name = "model");
  /// A TorchScript model, frozen or not. Frames are the calls of its methods from C++; within
  /// these, TorchScript's interpreter says of each operator which part of the model it belongs to,
  /// so that activations have frames, too. What an optimisation has merged is of the model itself.
  /// Frames take the place of `Module Hierarchy`.
  void attach(const torch::jit::Module& model, const std::string& name = "model");
  template <typename Contained>
  void attach(const torch::nn::ModuleHolder<Contained>& model, const std::string& name = "model") {
    attach(*model, name);
  }
  template <typename Model>
  void attach(const std::shared_ptr<Model>& model, const std::string& name = "model") {
    if (model == nullptr) throw std::invalid_argument("attach() was given no model");
    attach(*model, name);
  }
  template <typename Given>
  requires(!attach_detail::IsModel<Given>) void attach(const Given& /*given*/,
                                                       const std::string& /*name*/ = "model") {
    static_assert(attach_detail::IsModel<Given>,
                  "attach() takes a torch::nn::Module, its holder, a shared_ptr to it, or a "
                  "torch::jit::Module");
  }

  /// Pauses or resumes recording within a cycle. For CUDA, waits for the GPUs as torch does (if
  /// `wait_for_device`), so that what was launched before a pause is recorded; CUPTI goes on
  /// tracing, and what the GPUs begin in the pause is left out.
  void toggle_collection_dynamic(bool enable, const std::vector<Activity>& activities);

  /// Adds a member to the file, as text or as JSON: of the cycle that is being prepared or
  /// recorded, otherwise of all cycles that come. The last value of a key wins, also over the
  /// profiler's own (`host_name`, `trace_id`, `record_shapes` and the like), as in torch. Members
  /// that readers depend on are refused with a warning: `traceEvents`, `schemaVersion`,
  /// `deviceProperties`, `displayTimeUnit`, `baseTimeNanoseconds`, `traceName`,
  /// `tbtrace_lost_records`, `tbtrace_unreadable_chunks`.
  void add_metadata(const std::string& key, std::string_view value);
  void add_metadata_json(const std::string& key, std::string_view json);

  /// Written as `distributedInfo` in the files of this cycle and of all later ones. Until it is
  /// called, RANK and WORLD_SIZE in the environment count.
  void set_distributed_info(const DistributedInfo& info);

  // Results: of the last cycle, or of all cycles with `acc_events`. Empty, with a warning, before
  // the first cycle ends. The first call builds the trace from the recording.

  OperatorSummary key_averages(const SummaryOptions& options = {});
  EventList events();

  /// The last cycle as a trace with all arguments of its events, as if it were read from its file,
  /// for any analysis: module_tree() of modules.h, memory_use() of memory.h, trace_summary() of
  /// summary.h and so on. Null, with a warning, if there is none. Does not change, and
  /// outlives the profiler if the caller keeps it.
  std::shared_ptr<const Trace> trace();

  /// Writes the last cycle; gzip if the path ends in `.gz`. Replaces an existing file, as torch
  /// does.
  Status export_chrome_trace(const std::string& path);
  /// Folded stacks by `self_cpu_time_total` or `self_cuda_time_total`. Fails for another metric,
  /// and without with_stack.
  Status export_stacks(const std::string& path, std::string_view metric = "self_cpu_time_total");

  /// Writes the last cycle as one page for the browser (views.h has more options). Replaces an
  /// existing file. In `on_trace_ready`, a page per window.
  Status export_report(const std::string& path);

  /// How much memory the last cycle's tensors used over time, by category (PARAMETER, ACTIVATION,
  /// GRADIENT and so on), by torch's rules. `*raw.json.gz`: a list of `[ns, action, bytes,
  /// category]`; other `.gz`, and anything but `.html`: `[times in us, bytes by category]`;
  /// `.html`: a page with a chart. Parameters are those of models given to attach(); without
  /// attach(), those that a whole training step reveals. docs/memory_timeline.md has the rules. An
  /// existing file is replaced. `device` is `cpu`, or `cuda:N` (docs/gpu_recording.md explains when
  /// GPU memory is recorded). Fails without record_shapes, profile_memory and with_stack, and for
  /// another device.
  Status export_memory_timeline(const std::string& path, std::string_view device = "cpu");

  /// Waits until everything that handlers export in the background is written. Returns the first
  /// failure since the last call.
  Status wait_for_exports();

  /// For handlers: writes the last cycle in the background.
  void export_in_background(const std::string& directory, const TensorboardOptions& options);

 private:
  class State;

  void end() noexcept;

  std::unique_ptr<State> state_;
};

}  // namespace tbtrace
