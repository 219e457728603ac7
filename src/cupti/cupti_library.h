// CUPTI's functions, from the copy that the program has loaded, or else from the one that is found.
// Never unloaded, since CUPTI keeps threads and callbacks for the life of the process. Immutable,
// so any thread may use it. Opening fails if a required function is missing; optional ones are
// null.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <tbtrace/status.h>

#include "cupti/abi.h"

namespace tbtrace::cupti {

struct CuptiLibrary {
  using Requested = void (*)(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records);
  using Completed = void (*)(void* context, std::uint32_t stream, std::uint8_t* buffer,
                             std::size_t size, std::size_t valid);

  std::string path;
  std::uint32_t version = 0;  ///< CUPTI_API_VERSION: 18 is CUDA 11.8, 130001 is 13.0.1

  ResultCode (*get_version)(std::uint32_t*) = nullptr;
  ResultCode (*result_string)(ResultCode, const char**) = nullptr;
  ResultCode (*callback_name)(int domain, std::uint32_t number, const char**) = nullptr;
  ResultCode (*set_thread_id_type)(int) = nullptr;
  ResultCode (*set_attribute)(int, std::size_t*, void*) = nullptr;
  ResultCode (*register_timestamp)(std::uint64_t (*)()) = nullptr;
  ResultCode (*register_callbacks)(Requested, Completed) = nullptr;
  ResultCode (*enable)(ActivityKind) = nullptr;
  ResultCode (*disable)(ActivityKind) = nullptr;
  ResultCode (*flush_all)(std::uint32_t) = nullptr;
  ResultCode (*next_record)(std::uint8_t*, std::size_t, void**) = nullptr;
  ResultCode (*dropped_records)(void* context, std::uint32_t stream, std::size_t*) = nullptr;

  ResultCode (*enable_runtime_call)(std::uint32_t,
                                    std::uint8_t) = nullptr;  ///< null before CUDA 12.5
  ResultCode (*enable_driver_call)(std::uint32_t,
                                   std::uint8_t) = nullptr;         ///< null before CUDA 12.5
  ResultCode (*get_attribute)(int, std::size_t*, void*) = nullptr;  ///< may be null
  ResultCode (*get_timestamp)(std::uint64_t*) = nullptr;            ///< may be null
  ResultCode (*push_external_id)(int, std::uint64_t) = nullptr;     ///< may be null
  ResultCode (*pop_external_id)(int, std::uint64_t*) = nullptr;     ///< may be null

  // To detach CUPTI from the process; each may be null.
  using Callback = void (*)(void* user, int domain, std::uint32_t number, const void* data);
  ResultCode (*subscribe)(void** subscriber, Callback, void* user) = nullptr;
  ResultCode (*unsubscribe)(void* subscriber) = nullptr;
  ResultCode (*enable_domain)(std::uint32_t enable, void* subscriber, int domain) = nullptr;
  ResultCode (*finalize)() = nullptr;
};

/// CUDA's major version that a CUPTI belongs to.
int cuda_major(std::uint32_t cupti_version);
/// `CUDA 13.0 (130001)`.
std::string cupti_version_text(std::uint32_t cupti_version);
/// As CUPTI names it: `CUPTI_ERROR_UNKNOWN`, with its number.
std::string result_text(const CuptiLibrary& cupti, ResultCode result);

/// Of `path`; without it, in this order, the copy that is mapped, the one that the environment's
/// TBTRACE_CUPTI names, and those that the system, LibTorch and CUDA's toolkit have.
Result<CuptiLibrary> open_cupti(const std::optional<std::string>& path = std::nullopt);

}  // namespace tbtrace::cupti
