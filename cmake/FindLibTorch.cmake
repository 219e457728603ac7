# Finds LibTorch in TBTRACE_TORCH_ROOT (pip's torch/ folder, or the zip) or, if that is empty, in a folder
# that CMake was told of as PyTorch's documentation does it, in CMAKE_PREFIX_PATH, or where torch's own CMake
# package is found. Makes LibTorch::LibTorch and, of a LibTorch for CUDA, LibTorch::c10_cuda,
# LibTorch::torch_cuda and, if CUDA's headers are there, LibTorch::cudart; sets LibTorch_FOUND,
# LibTorch_VERSION, LibTorch_LIBRARY, LibTorch_ROOT_FOLDER (empty: the system's), and LibTorch_CUDA if all of
# these are there.
#
# In a folder torch's own package is not used: of a LibTorch for CUDA it asks for a whole toolkit with
# its compiler, and with two LibTorchs on a machine it finds the c10 of the other one.
include(${CMAKE_CURRENT_LIST_DIR}/TbtraceLibTorchFolders.cmake)
set(LibTorch_ROOT_FOLDER "${TBTRACE_TORCH_ROOT}")
if(NOT LibTorch_ROOT_FOLDER)
  tbtrace_libtorch_folders(_tbtrace_folders)
  if(_tbtrace_folders)
    list(GET _tbtrace_folders 0 LibTorch_ROOT_FOLDER)
  elseif(_tbtrace_torch_at_build)  # in find_package(tbtrace)
    set(LibTorch_ROOT_FOLDER ${_tbtrace_torch_at_build})
  endif()
  unset(_tbtrace_folders)
endif()

include(FindPackageHandleStandardArgs)

# The first word in quotes that follows what EXPRESSION matches in a file.
function(_tbtrace_quoted_in file expression variable)
  set(${variable} "" PARENT_SCOPE)
  if(EXISTS ${file})
    file(READ ${file} text)
    if(text MATCHES "${expression}[ \n]*\"([^\"]*)\"")
      set(${variable} "${CMAKE_MATCH_1}" PARENT_SCOPE)
    endif()
  endif()
endfunction()

# Makes LibTorch::cudart of pip's packages beside torch (its wheel does not ask for nvidia-cuda-crt,
# which has one of the headers), or of CUDA's toolkit: what compiles with CUDA's headers needs no more.
function(_tbtrace_add_cuda_runtime)
  file(GLOB folders ${LibTorch_ROOT_FOLDER}/../nvidia/*)
  find_path(_tbtrace_cudart_include cuda_runtime.h
    PATHS ${folders} PATH_SUFFIXES include NO_CACHE NO_DEFAULT_PATH)
  find_path(_tbtrace_cuda_crt_include crt/host_config.h
    PATHS ${folders} PATH_SUFFIXES include NO_CACHE NO_DEFAULT_PATH)
  find_library(_tbtrace_cudart NAMES libcudart.so.13 libcudart.so.12 libcudart.so.11.0
    PATHS ${folders} PATH_SUFFIXES lib NO_CACHE NO_DEFAULT_PATH)
  if(_tbtrace_cudart_include AND _tbtrace_cuda_crt_include AND _tbtrace_cudart)
    add_library(LibTorch::cudart SHARED IMPORTED)
    set_target_properties(LibTorch::cudart PROPERTIES IMPORTED_LOCATION ${_tbtrace_cudart}
      INTERFACE_INCLUDE_DIRECTORIES "${_tbtrace_cudart_include};${_tbtrace_cuda_crt_include}")
    return()
  endif()
  find_package(CUDAToolkit QUIET)
  if(TARGET CUDA::cudart)
    add_library(LibTorch::cudart INTERFACE IMPORTED)
    target_link_libraries(LibTorch::cudart INTERFACE CUDA::cudart)
  endif()
endfunction()

# LibTorch as it lies in a folder.
function(_tbtrace_add_torch_of_folder)
  set(root ${LibTorch_ROOT_FOLDER})
  foreach(name c10 torch_cpu torch c10_cuda torch_cuda)
    if(EXISTS ${root}/lib/lib${name}.so)
      add_library(LibTorch::${name} SHARED IMPORTED)
      set_target_properties(LibTorch::${name} PROPERTIES IMPORTED_LOCATION ${root}/lib/lib${name}.so
        INTERFACE_INCLUDE_DIRECTORIES "${root}/include;${root}/include/torch/csrc/api/include")
    endif()
  endforeach()
  _tbtrace_quoted_in(${root}/share/cmake/Torch/TorchConfig.cmake "set\\(TORCH_CXX_FLAGS" flags)
  _tbtrace_quoted_in(${root}/share/cmake/Caffe2/Caffe2Targets.cmake
    "set_target_properties\\(torch_cpu PROPERTIES[ \n]*INTERFACE_COMPILE_DEFINITIONS" definitions)
  add_library(LibTorch::LibTorch INTERFACE IMPORTED)
  target_compile_options(LibTorch::LibTorch INTERFACE ${flags})
  target_compile_definitions(LibTorch::LibTorch INTERFACE ${definitions})
  # Nothing names kernels of CUDA, which torch brings: the linker would leave it out. One item, so that
  # nothing comes between.
  target_link_libraries(LibTorch::LibTorch INTERFACE
    "-Wl,--push-state,--no-as-needed,${LibTorch_LIBRARY},--pop-state"
    LibTorch::torch LibTorch::torch_cpu LibTorch::c10)
  if(TARGET LibTorch::c10_cuda)
    _tbtrace_add_cuda_runtime()
  endif()
endfunction()

# LibTorch as torch's own package finds it.
function(_tbtrace_add_torch_of_package)
  add_library(LibTorch::LibTorch INTERFACE IMPORTED)
  target_link_libraries(LibTorch::LibTorch INTERFACE torch)
  get_target_property(definitions torch_cpu INTERFACE_COMPILE_DEFINITIONS)
  if(definitions)
    target_compile_definitions(LibTorch::LibTorch INTERFACE ${definitions})
  endif()
  if(TARGET c10_cuda AND TARGET torch_cuda)
    foreach(name c10_cuda torch_cuda)
      add_library(LibTorch::${name} INTERFACE IMPORTED)
      target_link_libraries(LibTorch::${name} INTERFACE ${name})
    endforeach()
    add_library(LibTorch::cudart INTERFACE IMPORTED)
    foreach(runtime torch::cudart CUDA::cudart)
      if(TARGET ${runtime})
        target_link_libraries(LibTorch::cudart INTERFACE ${runtime})
      endif()
    endforeach()
  endif()
endfunction()

if(LibTorch_ROOT_FOLDER)
  set(LibTorch_LIBRARY ${LibTorch_ROOT_FOLDER}/lib/libtorch.so)
  if(NOT EXISTS ${LibTorch_LIBRARY})
    set(LibTorch_LIBRARY LibTorch_LIBRARY-NOTFOUND)
  endif()
  _tbtrace_quoted_in(${LibTorch_ROOT_FOLDER}/share/cmake/Torch/TorchConfigVersion.cmake "set\\(PACKAGE_VERSION"
    LibTorch_VERSION)
else()
  find_package(Torch CONFIG QUIET)
  set(LibTorch_LIBRARY ${TORCH_LIBRARY})
  set(LibTorch_VERSION ${Torch_VERSION})
endif()
find_package_handle_standard_args(LibTorch REQUIRED_VARS LibTorch_LIBRARY LibTorch_VERSION
  VERSION_VAR LibTorch_VERSION)
if(LibTorch_FOUND AND NOT TARGET LibTorch::LibTorch)
  if(LibTorch_ROOT_FOLDER)
    _tbtrace_add_torch_of_folder()
  else()
    _tbtrace_add_torch_of_package()
  endif()
  if(TARGET LibTorch::cudart)
    target_link_libraries(LibTorch::c10_cuda INTERFACE LibTorch::cudart)
    target_link_libraries(LibTorch::torch_cuda INTERFACE LibTorch::LibTorch LibTorch::c10_cuda)
  endif()
endif()
set(LibTorch_CUDA OFF)
if(TARGET LibTorch::cudart)
  set(LibTorch_CUDA ON)
endif()
