// Records what the process's GPUs do: CUPTI traces while a session lives, a thread collects its
// records, and each window gets rows of them.
// Sessions and windows may be begun and ended by any thread; a collector must outlive both. Without
// sessions and unfinished windows there is no thread, nothing is flushed, nothing is switched on,
// and CUPTI's settings are those from before. If tracing is refused, a session does not begin, and
// its Status has one sentence with cause and remedy.
// CUPTI's state belongs to the process: use process_collector().
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <sys/types.h>

#include <tbtrace/status.h>

#include "cupti/calls.h"
#include "cupti/cupti_library.h"
#include "cupti/detachment.h"
#include "cupti/driver_library.h"
#include "cupti/record_stream.h"
#include "cupti/tracing.h"
#include "recorder/log/device_journal.h"
#include "recorder/log/device_trace.h"

namespace tbtrace::cupti {

struct SessionOptions {
  Extras extras = {};
  /// The end of a window waits for the devices, so that everything launched has its times.
  /// Otherwise what has not finished after `patience` is lost.
  bool wait_for_device = true;
  /// How long a window waits for buffers that CUPTI holds back, since their kernels still run.
  std::chrono::milliseconds patience{2000};
  std::size_t most_buffer_bytes = 0;  ///< for records; 0: the collector's own limit
  /// Only keeps CUPTI attached and tracing. It has no windows.
  bool is_idle = false;
  /// Detaches CUPTI from the process once no session is left.
  bool detach_at_end = false;
};

struct CollectorSettings {
  BufferPool::Limits buffers = {};
  std::chrono::milliseconds flush_period{1000};
  /// Starts a thread; tests replace it. May throw std::system_error.
  std::function<std::thread(std::function<void()>)> start_thread = {};
};

class Collector {
 public:
  Collector(CuptiLibrary cupti, DriverLibrary driver, CollectorSettings settings = {});
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;
  /// Finishes all windows. No session may be left.
  ~Collector();

  /// While one lives, CUPTI traces.
  class Session {
   public:
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    /// What was asked for and is not recorded; empty: everything is.
    const std::string& shortcoming() const { return shortcoming_; }

    /// Rows are kept from here on, and where there is a journal, in it as well.
    void begin_window(std::shared_ptr<recorder::DeviceJournal> journal = nullptr);
    /// What the GPUs begin from here on is left out, until resume_window(). Like the end of the
    /// window, both wait for the devices if the session does. Require begin_window().
    void pause_window();
    void resume_window();
    bool is_paused() const { return is_paused_; }
    /// Up to here. The result is ready when the collector's thread is done with the window, and
    /// always becomes ready. Requires begin_window().
    recorder::PendingDeviceTrace end_window();
    /// What is wrong with the window that ended last, without the shortcoming. Ready no later than
    /// its activity, whose `problem` is both.
    std::shared_future<std::string> problem() const { return problem_; }

   private:
    friend class Collector;
    Session(Collector& collector, SessionOptions options)
        : collector_(collector), options_(options) {}

    Collector& collector_;
    const SessionOptions options_;
    bool is_begun_ = true;
    bool is_paused_ = false;
    std::string shortcoming_;
    std::shared_ptr<WindowActivity> window_;
    std::shared_future<std::string> problem_;
  };

  Result<std::unique_ptr<Session>> begin(const SessionOptions& options);
  /// Whether begin() would succeed, for programs that only want to know: another profiler that is
  /// recording is not disturbed, and no thread is started.
  Status check();

  const CuptiLibrary& cupti() const { return cupti_; }
  const DriverLibrary& driver() const { return driver_; }
  std::size_t buffer_bytes() { return stream_.pool().bytes(); }

  /// Ends the thread; unfinished windows get what there is. For the end of the program. May be
  /// called on several threads, and while others begin and end windows.
  void shut_down();

 private:
  using Clock = std::chrono::steady_clock;

  struct EndedWindow {
    std::shared_ptr<WindowActivity> rows;
    const Session* session = nullptr;  // only to be compared
    std::uint64_t buffers = 0;         // that CUPTI had taken by its end
    Clock::time_point give_up_at;
    bool is_taken_over = false;  // by another profiler
    std::string shortcoming;     // of the session
    std::promise<std::shared_ptr<const recorder::DeviceTrace>> result;
    std::promise<std::string> problem;
  };

  // For the threads of sessions.
  Status start_thread();
  Extras wanted() const;
  void apply_buffer_limit();
  void end(const Session& session);
  recorder::PendingDeviceTrace end_window(Session& session);
  bool hand_over(EndedWindow& window);

  // For the collector's thread.
  void run();
  bool wait();
  bool rest();
  void flush(std::uint32_t flag);
  bool finish_windows(bool is_last);
  static void give_up(EndedWindow& window) noexcept;
  bool others_record(const EndedWindow& window);
  void finish(EndedWindow& window, std::string problem);
  /// What does not depend on what devices did.
  void describe(recorder::DeviceTrace& trace) const;

  void detach_now();

  const CuptiLibrary cupti_;
  const DriverLibrary driver_;
  const CollectorSettings settings_;
  const std::uint64_t forks_;  // fork_count() of the process it belongs to
  const Calls calls_;
  RecordStream stream_;

  std::mutex control_;  // what follows; held while CUPTI is told what to trace
  Tracing tracing_;
  std::vector<const Session*> sessions_;
  bool detaches_ = false;  // once nothing is recorded
  Detachment detachment_;

  std::mutex mutex_;  // what follows; never held while CUPTI is called
  std::condition_variable changed_;
  bool buffers_came_ = false;
  bool session_ended_ = false;
  bool is_ending_ = false;
  bool is_running_ = false;                // the thread, until it is about to return
  std::vector<const Session*> recording_;  // sessions_ without idle ones
  std::deque<EndedWindow> ended_;
  std::thread thread_;

  // The thread's.
  Clock::time_point last_flush_;
  bool may_rest_ = false;       // a session has ended since rest()
  std::uint64_t given_up_ = 0;  // buffers with numbers up to this are not waited for
};

/// The process's collector: made with the first call that succeeds, and never destroyed, since
/// CUPTI may call back while the program ends. If there is none, the Status says why; the next call
/// tries again. Any thread.
Result<Collector*> process_collector();

/// Ends the thread of the process's collector, if there is one. For the end of the program.
void shut_down_process_collector() noexcept;

/// Gives CUPTI the ticks of the calling thread's innermost open range, until pop_operator(). Each
/// costs a CUPTI call; for sessions with `operator_ids` only. Nothing without a collector.
void push_operator(std::uint64_t begin_ticks);
void pop_operator();

}  // namespace tbtrace::cupti
