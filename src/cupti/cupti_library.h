// CUPTI's functions, from the copy that the program has or that is found beside it.
// A library is never unloaded: CUPTI keeps threads and callbacks for the life of the process. The
// table is immutable, so any thread may use it. What is not there is null; what must be there and
// is not is an error of opening.
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

  Answer (*get_version)(std::uint32_t*) = nullptr;
  Answer (*result_string)(Answer, const char**) = nullptr;
  Answer (*callback_name)(int domain, std::uint32_t number, const char**) = nullptr;
  Answer (*set_thread_id_type)(int) = nullptr;
  Answer (*set_attribute)(int, std::size_t*, void*) = nullptr;
  Answer (*register_timestamp)(std::uint64_t (*)()) = nullptr;
  Answer (*register_callbacks)(Requested, Completed) = nullptr;
  Answer (*enable)(Kind) = nullptr;
  Answer (*disable)(Kind) = nullptr;
  Answer (*flush_all)(std::uint32_t) = nullptr;
  Answer (*next_record)(std::uint8_t*, std::size_t, void**) = nullptr;
  Answer (*dropped_records)(void* context, std::uint32_t stream, std::size_t*) = nullptr;

  Answer (*enable_runtime_call)(std::uint32_t, std::uint8_t) = nullptr;  ///< null before CUDA 12.5
  Answer (*enable_driver_call)(std::uint32_t, std::uint8_t) = nullptr;   ///< null before CUDA 12.5
  Answer (*get_timestamp)(std::uint64_t*) = nullptr;                     ///< may be null
  Answer (*push_external_id)(int, std::uint64_t) = nullptr;              ///< may be null
  Answer (*pop_external_id)(int, std::uint64_t*) = nullptr;              ///< may be null
};

/// CUDA's major version that a CUPTI belongs to.
int cuda_major(std::uint32_t cupti_version);
/// `CUDA 13.0 (130001)`.
std::string cupti_version_text(std::uint32_t cupti_version);
/// As CUPTI names it: `CUPTI_ERROR_UNKNOWN`, with its number.
std::string answer_text(const CuptiLibrary& cupti, Answer answer);

/// Of `path`; without it, in this order, the copy that is mapped, the one that the environment's
/// TBTRACE_CUPTI names, and those that the system, LibTorch and CUDA's toolkit have.
Result<CuptiLibrary> open_cupti(const std::optional<std::string>& path = std::nullopt);

}  // namespace tbtrace::cupti
