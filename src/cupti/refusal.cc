#include "cupti/refusal.h"

namespace tbtrace::cupti {

namespace {

std::string_view meaning(ResultCode result) {
  switch (result) {
    case results::kInsufficientPrivileges:
    case results::kVirtualizedPrivileges:
      return "the driver does not let this user trace; start the program as root or the container "
             "with --cap-add=SYS_ADMIN, or have the administrator load NVIDIA's kernel module with "
             "NVreg_RestrictProfilingToAdminUsers=0";
    case results::kOtherSubscriber:
      return "another tool traces this process already; start it without Nsight, cuda-gdb, "
             "compute-sanitizer or another profiler";
    case results::kMigDevice:
      return "this GPU is split (MIG), and its driver does not trace such parts; use a whole GPU, "
             "or a newer driver";
    case results::kVirtualizedDevice:
      return "this GPU is virtual, and its host does not allow tracing; have profiling enabled for "
             "the vGPU, or use a whole GPU";
    case results::kConfidentialComputing:
      return "this GPU is in confidential computing mode, in which nothing can be traced; switch "
             "it to developer tools mode";
    case results::kWslDevice:
      return "this driver does not trace under WSL; update Windows' NVIDIA driver";
    case results::kNotInitialized:
    case results::kUnknown:
      return "CUPTI and the driver do not work together; see that nvidia-smi works, and that the "
             "driver is at least as new as the CUDA that the program uses";
    default:
      return "see that no other profiler is active in the process, and that the driver is at least "
             "as new as the CUDA that the program uses";
  }
}

}  // namespace

std::string refusal(const CuptiLibrary& cupti, std::string_view call, ResultCode result) {
  return std::string(meaning(result)) + " [" + std::string(call) + ": " +
         result_text(cupti, result) + "]";
}

Status check_versions(const CuptiLibrary& cupti, const DriverLibrary& driver) {
  if (cuda_major(cupti.version) <= driver.version() / 1000) return {};
  return {StatusCode::check_failed,
          "NVIDIA's driver is for CUDA " + cuda_version_text(driver.version()) +
              " and older, and the CUPTI in use (" + cupti.path + ") is that of " +
              cupti_version_text(cupti.version) +
              "; update the driver, or use a LibTorch built for an older CUDA"};
}

}  // namespace tbtrace::cupti
