#include "cupti/loaded_library.h"

#include <cstddef>

#include <dlfcn.h>
#include <link.h>

namespace tbtrace::cupti {

namespace {

/// Python's wheels put a hash into the names of libraries that they bring along.
bool is_named(std::string_view path, std::string_view name) {
  const std::string_view file = path.substr(path.rfind('/') + 1);
  if (file.starts_with(name)) return file.size() == name.size() || file[name.size()] == '.';
  const std::string_view stem = name.substr(0, name.find('.'));
  return file.size() > stem.size() && file.starts_with(stem) && file[stem.size()] == '-' &&
         file.find(name.substr(stem.size())) != std::string_view::npos;
}

}  // namespace

std::string mapped_path(std::string_view name) {
  struct Search {
    std::string_view name;
    std::string path;
  } search{name, {}};
  ::dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* data) {
        auto& looking = *static_cast<Search*>(data);
        if (object->dlpi_name == nullptr || !is_named(object->dlpi_name, looking.name)) return 0;
        looking.path = object->dlpi_name;
        return 1;
      },
      &search);
  return search.path;
}

std::string mapped_folder(std::string_view name) {
  const std::string path = mapped_path(name);
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

std::string path_of(const void* function) {
  Dl_info found = {};
  if (::dladdr(function, &found) == 0 || found.dli_fname == nullptr) return {};
  return found.dli_fname;
}

}  // namespace tbtrace::cupti
