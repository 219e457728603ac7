# LibTorch's libraries, from TBTRACE_TORCH_ROOT, without what its own package asks of CUDA's toolkit:
# a compiler for kernels and all of CUDA's libraries at link time. For machines that lack some of
# that; Torch_DIR names this folder then.
if(TARGET torch)
  return()
endif()
find_library(TORCH_LIBRARY torch PATHS ${TBTRACE_TORCH_ROOT}/lib NO_DEFAULT_PATH)
set(_torch_includes ${TBTRACE_TORCH_ROOT}/include ${TBTRACE_TORCH_ROOT}/include/torch/csrc/api/include)
file(GLOB _torch_cudas /usr/local/cuda ${TBTRACE_TORCH_ROOT}/../nvidia/cu[0-9]* ${TBTRACE_TORCH_ROOT}/../nvidia/cuda_runtime)
find_path(TORCH_CUDA_INCLUDE_DIR cuda_runtime_api.h
  HINTS $ENV{CUDA_HOME} ${_torch_cudas} PATH_SUFFIXES include targets/x86_64-linux/include)
find_library(TORCH_CUDART_LIBRARY NAMES cudart libcudart.so.13 libcudart.so.12
  HINTS $ENV{CUDA_HOME} ${_torch_cudas} PATH_SUFFIXES lib64 lib targets/x86_64-linux/lib)
if(TORCH_CUDA_INCLUDE_DIR)
  list(APPEND _torch_includes ${TORCH_CUDA_INCLUDE_DIR})
endif()
foreach(_torch_name c10 torch_cpu c10_cuda torch_cuda torch)
  set(_torch_file ${TBTRACE_TORCH_ROOT}/lib/lib${_torch_name}.so)
  if(EXISTS ${_torch_file})
    add_library(${_torch_name} SHARED IMPORTED)
    set_target_properties(${_torch_name} PROPERTIES
      IMPORTED_LOCATION ${_torch_file} INTERFACE_INCLUDE_DIRECTORIES "${_torch_includes}")
  endif()
endforeach()
if(TARGET torch_cuda AND TORCH_CUDART_LIBRARY)
  target_link_libraries(torch_cuda INTERFACE c10_cuda ${TORCH_CUDART_LIBRARY})
endif()
target_link_libraries(torch_cpu INTERFACE c10)
# One item each, so that nothing comes between: the linker would leave out what nothing names.
foreach(_torch_name torch_cpu torch_cuda)
  if(TARGET ${_torch_name})
    target_link_libraries(torch INTERFACE ${_torch_name}
      "-Wl,--push-state,--no-as-needed,${TBTRACE_TORCH_ROOT}/lib/lib${_torch_name}.so,--pop-state")
  endif()
endforeach()
set(Torch_FOUND TRUE)
