#include "analyses/attribution/idle_threads.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "analyses/attribution/forward_operators.h"
#include "symbols/names/code_place.h"

namespace tbtrace::analyses {
namespace {

struct WaitingFile {
  std::string_view file;  // the end of its path
  std::vector<std::string_view> functions;
};

/// Python's functions that wait in a call of C, which is not a frame of its own if it began before
/// the recording.
const std::vector<WaitingFile>& waiting_files() {
  static const std::vector<WaitingFile> kFiles = {
      {"asyncio/windows_events.py", {"_poll", "select"}},
      {"concurrent/futures/_base.py", {"as_completed", "exception", "result", "wait"}},
      {"concurrent/futures/process.py", {"wait_result_broken_or_wakeup"}},
      {"concurrent/futures/thread.py", {"_worker"}},
      {"multiprocessing/connection.py",
       {"_exhaustive_wait", "_poll", "_recv", "_recv_bytes", "accept", "poll", "recv", "recv_bytes",
        "wait"}},
      {"multiprocessing/managers.py", {"accepter", "serve_forever"}},
      {"multiprocessing/pool.py",
       {"_handle_results", "_handle_tasks", "_handle_workers", "_wait_for_updates", "get", "wait",
        "worker"}},
      {"multiprocessing/popen_fork.py", {"poll", "wait"}},
      {"multiprocessing/process.py", {"join"}},
      {"multiprocessing/queues.py", {"_feed", "get"}},
      {"multiprocessing/synchronize.py", {"__enter__", "wait", "wait_for"}},
      {"queue.py", {"get", "put", "join"}},
      {"selectors.py", {"select"}},
      {"signal.py", {"sigwait"}},
      {"socket.py", {"accept", "readinto"}},
      {"socketserver.py", {"serve_forever"}},
      {"ssl.py", {"read", "recv", "recv_into"}},
      {"subprocess.py", {"_communicate", "_readerthread", "_try_wait", "_wait", "wait"}},
      {"threading.py",
       {"_wait_for_tstate_lock", "acquire", "join", "wait", "wait_for", "__enter__"}},
      {"zmq/sugar/poll.py", {"poll"}}};
  return kFiles;
}

/// Functions of C, by what Python prints of them: `<built-in function sleep>`, `<built-in method
/// sleep of module object at 0x7f20>`.
struct WaitingBuiltin {
  std::string_view function;
  std::vector<std::string_view> types;  // of the object; empty: any
};

const std::vector<WaitingBuiltin>& waiting_builtins() {
  static const std::vector<std::string_view> kLocks = {"_thread.RLock", "_thread.lock",
                                                       "_multiprocessing.SemLock", "SemLock"};
  static const std::vector<WaitingBuiltin> kFunctions = {
      {"acquire", kLocks},
      {"__enter__", kLocks},
      {"get", {"_queue.SimpleQueue"}},
      {"join", {"_thread._ThreadHandle"}},
      {"poll", {"select.epoll", "select.poll", "select.devpoll", "_zmq", "zmq"}},
      {"control", {"select.kqueue"}},
      {"accept", {"_socket.socket"}},
      {"recv", {"_socket.socket"}},
      {"recv_into", {"_socket.socket"}},
      {"recvfrom", {"_socket.socket"}},
      {"sleep", {"module"}},
      {"select", {"module"}},
      {"waitpid", {"module"}},
      {"wait4", {"module"}},
      {"waitid", {"module"}},
      {"sigwait", {"module"}},
      {"sigtimedwait", {"module"}},
      {"pause", {"module"}},
      {"read", {"module"}},
      {"WaitForSingleObject", {"module"}},
      {"WaitForMultipleObjects", {"module"}},
      {"GetQueuedCompletionStatus", {"module"}}};
  return kFunctions;
}

bool waits_in_c(std::string_view name) {
  constexpr std::string_view kMethod = "<built-in method ";
  constexpr std::string_view kFunction = "<built-in function ";
  std::string_view type = "module";
  if (name.starts_with(kFunction)) {
    name.remove_prefix(kFunction.size());
    if (name.ends_with('>')) name.remove_suffix(1);
  } else if (name.starts_with(kMethod)) {
    name.remove_prefix(kMethod.size());
    const std::size_t of = name.find(" of ");
    if (of == std::string_view::npos) return false;
    type = name.substr(of + 4);
    type = type.substr(0, type.find(" object"));
    name = name.substr(0, of);
  } else {
    return false;
  }
  return std::ranges::any_of(waiting_builtins(), [&](const WaitingBuiltin& waiting) {
    return waiting.function == name &&
           std::ranges::find(waiting.types, type) != waiting.types.end();
  });
}

/// Whether a path is a file of the standard library, not one of the same name in a package.
bool is_file(std::string_view path, std::string_view file) {
  if (path == file) return true;
  if (!path.ends_with(file)) return false;
  path.remove_suffix(file.size());
  if (!path.ends_with('/')) return false;
  path.remove_suffix(1);
  // `lib/python3.11`, `Python311\Lib`
  const std::string_view folder = path.substr(path.rfind('/') + 1);
  return folder.starts_with("python3") || folder == "Lib" ||
         file.find('/') != std::string_view::npos;
}

bool names_script(std::string_view frame) { return code_place(frame).function == "<module>"; }

/// A frame that lasts this share of its process's time was there all the time.
constexpr double kWhole = 0.99;

}  // namespace

bool is_wait(std::string_view frame) {
  if (frame.starts_with('<')) return waits_in_c(frame);
  const CodePlace place = code_place(frame);
  if (place.function.empty()) return false;
  std::string path(place.file);
  std::ranges::replace(path, '\\', '/');
  return std::ranges::any_of(waiting_files(), [&](const WaitingFile& waiting) {
    return std::ranges::find(waiting.functions, place.function) != waiting.functions.end() &&
           is_file(path, waiting.file);
  });
}

IdleThreads::IdleThreads(const Trace& trace) : trace_(trace), is_busy_(trace.tracks().size()) {
  const CallTree& tree = call_tree_of(trace);
  find_threads(tree);
  find_stuck(tree);
}

void IdleThreads::find_threads(const CallTree& tree) {
  // What is known about a thread, the best evidence last.
  enum Evidence : std::uint8_t { kNone, kOperators, kScript, kSteps };
  std::vector<Evidence> evidence(trace_.tracks().size(), kNone);
  const auto add = [&](EventId range, Evidence more) {
    Evidence& known = evidence[index(trace_.events().track(range))];
    known = std::max(known, more);
  };
  for (const Step& step : trace_.steps()) {
    if (step.event != EventId::none) add(step.event, kSteps);
  }
  for (const EventId range : tree.ranges()) {
    if (trace_.kind(range) == EventKind::cpu_op) {
      add(range, kOperators);
      if (is_backward(trace_, range)) is_busy_[index(trace_.events().track(range))] = true;
    } else if (trace_.events().is_python_frame(range) && names_script(trace_.name(range)) &&
               tree.parent(range) == EventId::none) {
      add(range, kScript);
    }
  }
  std::map<std::pair<std::int64_t, StringId>, Evidence> best;  // by process
  const auto process_of = [&](std::size_t track) {
    const TrackKey& process = trace_.tracks()[track].process;
    return std::pair(process.number, process.text);
  };
  for (std::size_t track = 0; track < evidence.size(); ++track) {
    Evidence& most = best.try_emplace(process_of(track), kNone).first->second;
    most = std::max(most, evidence[track]);
  }
  for (std::size_t track = 0; track < evidence.size(); ++track) {
    if (evidence[track] == best[process_of(track)]) is_busy_[track] = true;
  }
}

void IdleThreads::find_stuck(const CallTree& tree) {
  struct Span {
    std::int64_t first_ns = INT64_MAX;
    std::int64_t last_ns = INT64_MIN;
  };
  const Events& events = trace_.events();
  std::map<std::pair<std::int64_t, StringId>, Span> spans;  // by process
  const auto span_of = [&](EventId range) -> Span& {
    const TrackKey& process = trace_.track(events.track(range)).process;
    return spans[{process.number, process.text}];
  };
  std::vector<EventId> leaves;  // of idle threads
  std::vector<bool> has_inner(events.size());
  for (const EventId range : tree.ranges()) {
    Span& span = span_of(range);
    span.first_ns = std::min(span.first_ns, events.start_ns(range));
    span.last_ns = std::max(span.last_ns, events.end_ns(range));
    if (tree.parent(range) != EventId::none) has_inner[index(tree.parent(range))] = true;
    const bool is_idle = !is_busy_[index(events.track(range))];
    const bool is_function = events.is_python_frame(range) && !events.is_module(range);
    if (is_idle && is_function) leaves.push_back(range);
  }
  for (const EventId range : leaves) {
    if (has_inner[index(range)]) continue;
    // Frames of the first moment begin one after the other.
    const Span span = span_of(range);
    const double share = static_cast<double>(events.duration_ns(range)) /
                         (static_cast<double>(span.last_ns) - static_cast<double>(span.first_ns));
    if (share >= kWhole) stuck_.push_back(range);
  }
  std::ranges::sort(stuck_);
}

bool IdleThreads::waits(EventId range) const {
  if (!trace_.events().is_python_frame(range)) return false;
  return is_wait(trace_.name(range)) || std::ranges::binary_search(stuck_, range);
}

}  // namespace tbtrace::analyses
