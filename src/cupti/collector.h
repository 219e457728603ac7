// Records what the process's GPUs do: has CUPTI trace while somebody wants it, collects its records
// on a thread of its own, and makes rows of them for each window.
// Sessions and windows may be begun and ended by any thread; a collector must outlive both.
// Nothing is added to a call of CUDA but what CUPTI itself does. Where tracing is refused, a
// session does not begin, and its Status has one sentence with cause and remedy. CUPTI's state is
// the process's: process_collector() is the one to use.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <sys/types.h>

#include <tbtrace/status.h>

#include "cupti/calls.h"
#include "cupti/cupti_library.h"
#include "cupti/driver_library.h"
#include "cupti/record_stream.h"
#include "recorder/device_activity.h"

namespace tbtrace::cupti {

/// What is recorded besides kernels, copies, settings of memory, and calls.
struct SessionOptions {
  bool waits = false;         ///< of streams and of the program, and events
  bool overhead = false;      ///< of tracing itself
  bool markers = false;       ///< NVTX
  bool operator_ids = false;  ///< push_operator() and pop_operator() are used
  /// The end of a window waits for the devices, so that all work that was begun has its times.
  /// Otherwise what is not done some seconds after it is lost.
  bool wait_for_device = true;
};

struct CollectorSettings {
  BufferPool::Limits buffers = {};
  std::chrono::milliseconds flush_period{1000};
  /// How long a window waits for buffers that CUPTI does not give back.
  std::chrono::milliseconds patience{2000};
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

    /// What was asked for and is not recorded; empty: all is.
    const std::string& shortcoming() const { return shortcoming_; }

    /// Rows are kept from here on.
    void begin_window();
    /// Up to here. What it gives is there when the collector's thread is through with it; it
    /// always comes. Requires begin_window().
    recorder::PendingDeviceActivity end_window();

   private:
    friend class Collector;
    Session(Collector& collector, SessionOptions options)
        : collector_(collector), options_(options) {}

    Collector& collector_;
    const SessionOptions options_;
    bool is_begun_ = true;
    std::string shortcoming_;
    std::shared_ptr<WindowRows> window_;
  };

  Result<std::unique_ptr<Session>> begin(const SessionOptions& options);

  const CuptiLibrary& cupti() const { return cupti_; }
  const DriverLibrary& driver() const { return driver_; }
  std::size_t buffer_bytes() { return stream_.pool().bytes(); }

  /// Ends the thread; windows that are not finished get what there is. For the end of the program.
  void shut_down();

 private:
  using Clock = std::chrono::steady_clock;

  struct Ending {
    std::shared_ptr<WindowRows> window;
    std::uint64_t buffers = 0;  // that CUPTI had taken by its end
    Clock::time_point since;
    std::promise<std::shared_ptr<const recorder::DeviceActivity>> result;
  };

  // Of the sessions' threads.
  Status refused(const char* call, Answer answer) const;
  Status set_up();
  Status set_clock();
  Status start_what_is_wanted(std::string& shortcoming);
  void stop_unwanted();
  Answer set_calls(bool on);
  bool is_wanted(Kind kind) const;
  bool has_our_clock() const;
  void end(const Session& session);
  recorder::PendingDeviceActivity end_window(std::shared_ptr<WindowRows> window,
                                             const SessionOptions& options);

  // Of the collector's thread.
  void run();
  bool wait();
  void flush(std::uint32_t flag);
  bool finish_windows(bool is_last);
  void finish(Ending& ending, std::string problem);

  const CuptiLibrary cupti_;
  const DriverLibrary driver_;
  const CollectorSettings settings_;
  const pid_t process_;
  const Calls calls_;
  RecordStream stream_;

  std::mutex control_;  // what follows; held while CUPTI is told what to trace
  std::atomic<bool> is_set_up_ = false;
  bool calls_on_ = false;
  std::vector<Kind> on_;
  std::vector<const Session*> sessions_;

  std::mutex mutex_;  // what follows; never held while CUPTI is called
  std::condition_variable changed_;
  bool buffers_came_ = false;
  bool session_ended_ = false;
  bool is_ending_ = false;
  std::deque<Ending> endings_;
  std::thread thread_;

  Clock::time_point last_flush_;  // the thread's
};

/// The process's collector: made with the first call, ends with the program. The Status says why
/// there is none; it is found once.
Result<Collector*> process_collector();

/// What CUPTI notes of the calling thread's calls until pop_operator(): the ticks of the innermost
/// open range. Costs a call of CUPTI; for sessions with `operator_ids` only.
void push_operator(std::uint64_t begin_ticks);
void pop_operator();

}  // namespace tbtrace::cupti
