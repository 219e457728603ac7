#include "io/archives/library.h"

#include <atomic>
#include <memory>
#include <type_traits>

#include <dlfcn.h>

#include "base/available_memory.h"
#include "io/failures.h"

namespace tbtrace::io {
namespace {

constexpr const char* kName = "libarchive.so.13";
constexpr std::size_t kMemory = std::size_t{64} << 20;  // more than its libraries take

Status missing(const std::string& problem) {
  return read_failure(problem + "; install libarchive (on Debian `apt-get install libarchive13`)");
}

}  // namespace

Result<ArchiveLibrary> open_libarchive(const std::string& name) {
  if (is_static_program()) {
    return read_failure("this tbtrace is linked statically, so it cannot load " + name +
                        "; use the Python package or a build from source");
  }
  if (!is_there_memory(kMemory)) return out_of_memory();
  void* const handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const error = ::dlerror();
    const std::string why = error == nullptr ? "unknown error" : error;
    // Other threads may have taken the memory.
    if (!is_there_memory(kMemory)) return out_of_memory();
    // Errors begin with the path of the file that has them, with a bare name if no folder has it.
    if (why.starts_with(name + ":")) return missing(name + " is not on this machine");
    return missing(name + " cannot be loaded (" + why + ")");
  }
  ArchiveLibrary library;
  std::string missing_function;
  const auto required = [&](auto& function, const char* function_name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(::dlsym(handle, function_name));
    if (function == nullptr && missing_function.empty()) missing_function = function_name;
  };
  required(library.read_new, "archive_read_new");
  required(library.read_free, "archive_read_free");
  required(library.support_filter_xz, "archive_read_support_filter_xz");
  required(library.support_filter_bzip2, "archive_read_support_filter_bzip2");
  required(library.support_format_raw, "archive_read_support_format_raw");
  required(library.support_format_empty, "archive_read_support_format_empty");
  required(library.support_format_tar, "archive_read_support_format_tar");
  required(library.support_format_zip, "archive_read_support_format_zip");
  required(library.set_read_callback, "archive_read_set_read_callback");
  required(library.set_seek_callback, "archive_read_set_seek_callback");
  required(library.set_callback_data, "archive_read_set_callback_data");
  required(library.open, "archive_read_open1");
  required(library.next_header, "archive_read_next_header");
  required(library.data_block, "archive_read_data_block");
  required(library.error_string, "archive_error_string");
  required(library.pathname, "archive_entry_pathname");
  required(library.pathname_utf8, "archive_entry_pathname_utf8");
  required(library.filetype, "archive_entry_filetype");
  required(library.hardlink, "archive_entry_hardlink");
  required(library.is_data_encrypted, "archive_entry_is_data_encrypted");
  if (!missing_function.empty()) {
    return missing(name + " on this machine has no function " + missing_function);
  }
  return library;
}

Result<const ArchiveLibrary*> libarchive() {
  static std::atomic<const ArchiveLibrary*> opened = nullptr;  // never deleted: see the header
  if (const ArchiveLibrary* const library = opened.load()) return library;
  const Result<ArchiveLibrary> found = open_libarchive(kName);
  if (!found.ok()) return found.status();
  auto made = std::make_unique<const ArchiveLibrary>(*found);
  const ArchiveLibrary* first = nullptr;  // of another thread
  if (opened.compare_exchange_strong(first, made.get())) first = made.release();
  return first;
}

}  // namespace tbtrace::io
