#include "analyses/attribution/runtime_calls.h"

#include <algorithm>
#include <array>
#include <span>

#include "trace/links.h"

namespace tbtrace::analyses {
namespace {

bool has_any(std::string_view text, std::span<const std::string_view> parts) {
  return std::ranges::any_of(
      parts, [&](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

// Sources: CUDA's and HIP's runtime and driver APIs; urEnqueue..., urQueueFinish and urUSM... of
// oneAPI's Unified Runtime, zeCommandList... and zeMem... of Level Zero; aclrt... of Ascend's CANN.
constexpr auto kWaits = std::to_array<std::string_view>(
    {"ynchronize", "QueueFinish", "urEventWait", "piEventsWait", "clFinish", "clWaitForEvents"});
constexpr auto kCopies =
    std::to_array<std::string_view>({"Memcpy", "MemoryCopy", "MemBufferRead", "MemBufferWrite",
                                     "MemBufferCopy", "EnqueueReadBuffer", "EnqueueWriteBuffer"});
constexpr auto kAllocations = std::to_array<std::string_view>(
    {"Malloc", "MemAlloc", "Free", "MemCreate", "MemMap", "MemUnmap", "MemRelease", "HostAlloc",
     "HostRegister", "HostUnregister", "MemSetAccess", "MemAddressReserve", "DeviceAlloc",
     "SharedAlloc", "MemPoolTrim"});
constexpr auto kSetup = std::to_array<std::string_view>(
    {"StreamCreate",  "ModuleLoad",  "ModuleCreate", "LibraryLoad",      "LinkCreate",
     "LinkComplete",  "LinkAddData", "CtxCreate",    "CtxRetain",        "ContextCreate",
     "CreateContext", "QueueCreate", "CreateStream", "GraphInstantiate", "ProgramBuild",
     "ProgramCreate", "ProgramLink", "BinaryLoad",   "cuInit",           "hipInit",
     "zeInit",        "aclInit"});

}  // namespace

RuntimeCall runtime_call(std::string_view name) {
  if (has_any(name, kWaits)) return RuntimeCall::wait;
  if (has_any(name, kCopies)) return RuntimeCall::copy;
  if (has_any(name, kSetup)) return RuntimeCall::setup;
  if (has_any(name, kAllocations)) return RuntimeCall::allocation;
  return RuntimeCall::other;
}

std::vector<EventId> blocking_launches(const Trace& trace) {
  const Events& events = trace.events();
  std::size_t all = 0;
  std::vector<EventId> blocking;
  for (const DeviceLink& link : links_of(trace).placed_work()) {
    if (link.launch == EventId::none || trace.kind(link.activity) != EventKind::kernel) continue;
    ++all;
    if (events.end_ns(link.activity) <= events.end_ns(link.launch)) blocking.push_back(link.launch);
  }
  if (blocking.size() < all - all / 10) return {};
  std::ranges::sort(blocking);
  return blocking;
}

bool is_garbage_collection(std::string_view name) {
  constexpr auto kNames =
      std::to_array<std::string_view>({"Python GC", "gc.collect", "<built-in function collect>",
                                       "<built-in method collect of module gc"});
  return has_any(name, kNames);
}

}  // namespace tbtrace::analyses
