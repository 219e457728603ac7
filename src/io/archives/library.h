// libarchive's functions that inputs need. The library is opened at run time, so that programs
// neither link it nor carry the libraries that it needs. Its functions are declared here, because
// its headers are not needed for anything else.
// Never unloaded. Immutable, so any thread may use it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <sys/types.h>

#include <tbtrace/status.h>

namespace tbtrace::io {

/// Values and types of archive.h and archive_entry.h, which are part of libarchive.so.13's ABI.
inline constexpr int kArchiveEnd = 1;
inline constexpr int kArchiveOk = 0;
inline constexpr int kArchiveWarning = -20;
inline constexpr mode_t kArchiveFile = 0100000;  // a regular file

/// Each function is there.
struct ArchiveLibrary {
  using Read = ssize_t(void* archive, void* client, const void** buffer);
  using Seek = std::int64_t(void* archive, void* client, std::int64_t offset, int whence);

  void* (*read_new)() = nullptr;
  int (*read_free)(void* archive) = nullptr;
  int (*support_filter_xz)(void* archive) = nullptr;
  int (*support_filter_bzip2)(void* archive) = nullptr;
  int (*support_format_raw)(void* archive) = nullptr;
  int (*support_format_empty)(void* archive) = nullptr;
  int (*support_format_tar)(void* archive) = nullptr;
  int (*support_format_zip)(void* archive) = nullptr;
  int (*set_read_callback)(void* archive, Read* read) = nullptr;
  int (*set_seek_callback)(void* archive, Seek* seek) = nullptr;
  int (*set_callback_data)(void* archive, void* client) = nullptr;
  int (*open)(void* archive) = nullptr;
  int (*next_header)(void* archive, void** entry) = nullptr;
  int (*data_block)(void* archive, const void** data, std::size_t* size,
                    std::int64_t* offset) = nullptr;
  const char* (*error_string)(void* archive) = nullptr;
  const char* (*pathname)(void* entry) = nullptr;
  const char* (*pathname_utf8)(void* entry) = nullptr;
  mode_t (*filetype)(void* entry) = nullptr;
  const char* (*hardlink)(void* entry) = nullptr;
  int (*is_data_encrypted)(void* entry) = nullptr;
};

/// Opens a library by its file name. Fails with the code out_of_memory, or with a sentence that
/// says how to install it.
Result<ArchiveLibrary> open_libarchive(const std::string& name);

/// libarchive.so.13, opened by the first call that succeeds.
Result<const ArchiveLibrary*> libarchive();

}  // namespace tbtrace::io
