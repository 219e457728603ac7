# Finds LibTorch and gives the target `torch`, from TBTRACE_TORCH_ROOT (pip's torch/ folder, or the
# zip) or, if that is empty, from the system. Sets LibTorch_FOUND, LibTorch_VERSION and
# LibTorch_CUDA.
#
# torch's own package is used, but not its TORCH_LIBRARIES: with two LibTorchs on a machine they name
# the c10 of the other one.
if(TBTRACE_TORCH_ROOT)
  list(PREPEND CMAKE_PREFIX_PATH "${TBTRACE_TORCH_ROOT}")
  set(_tbtrace_torch_place PATHS "${TBTRACE_TORCH_ROOT}" NO_DEFAULT_PATH)
endif()
find_package(Torch CONFIG QUIET ${_tbtrace_torch_place})
unset(_tbtrace_torch_place)
if(TARGET caffe2::mkl)
  # The wheel's names folders of the machine that it was built on.
  set_target_properties(caffe2::mkl PROPERTIES INTERFACE_LINK_DIRECTORIES "")
endif()
set(LibTorch_VERSION ${Torch_VERSION})
set(LibTorch_CUDA OFF)
if(TARGET c10_cuda)
  set(LibTorch_CUDA ON)
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibTorch REQUIRED_VARS TORCH_LIBRARY VERSION_VAR LibTorch_VERSION)
