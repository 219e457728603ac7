# Where a LibTorch lies that came as one folder: pip's torch/, the unpacked zip, or the prefix of a package manager. Used by
# tbtrace's own build and by find_package(tbtrace).

# tbtrace_libtorch_folders(VARIABLE): those that PyTorch's documentation names to CMake: in CMAKE_PREFIX_PATH, as the folder
# or as its share/cmake (torch.utils.cmake_prefix_path), in Torch_ROOT, and in Torch_DIR. In that order.
function(tbtrace_libtorch_folders variable)
  set(candidates ${CMAKE_PREFIX_PATH} ${Torch_ROOT})
  foreach(name CMAKE_PREFIX_PATH Torch_ROOT)
    string(REPLACE ":" ";" folders "$ENV{${name}}")
    list(APPEND candidates ${folders})
  endforeach()
  if(Torch_DIR)
    list(APPEND candidates ${Torch_DIR}/../../..)
  endif()
  set(found)
  foreach(candidate IN LISTS candidates)
    foreach(folder ${candidate} ${candidate}/../..)
      if(EXISTS ${folder}/lib/libtorch.so AND EXISTS ${folder}/share/cmake/Torch/TorchConfig.cmake)
        get_filename_component(folder ${folder} ABSOLUTE)
        list(APPEND found ${folder})
      endif()
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES found)
  set(${variable} ${found} PARENT_SCOPE)
endfunction()

# Keeps what else lies in such a folder from being found, in this scope: LibTorch brings headers and the compiler of an old
# protobuf, the zip also its library. A prefix that holds more than LibTorch, such as Conda's or /usr, is searched.
macro(tbtrace_ignore_libtorch)
  tbtrace_libtorch_folders(_tbtrace_folders)
  foreach(_tbtrace_folder ${_tbtrace_folders} ${TBTRACE_TORCH_ROOT})
    if(NOT EXISTS ${_tbtrace_folder}/conda-meta AND NOT _tbtrace_folder IN_LIST CMAKE_SYSTEM_PREFIX_PATH)
      list(APPEND CMAKE_IGNORE_PATH ${_tbtrace_folder}/bin ${_tbtrace_folder}/include ${_tbtrace_folder}/lib)
    endif()
  endforeach()
  unset(_tbtrace_folders)
endmacro()
