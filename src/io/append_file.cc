#include "io/append_file.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

#include "io/remedies.h"

namespace tbtrace::io {
namespace {

Status append_failure(const std::string& what) {
  return {StatusCode::unwritable_output,
          what + ": " + std::strerror(errno) + "; " + std::string(kChooseWritablePlace)};
}

class DescriptorFile final : public AppendFile {
 public:
  DescriptorFile(int descriptor, std::string path)
      : descriptor_(descriptor), path_(std::move(path)) {}
  DescriptorFile(const DescriptorFile&) = delete;
  DescriptorFile& operator=(const DescriptorFile&) = delete;
  ~DescriptorFile() override { ::close(descriptor_); }

  Written append(std::string_view bytes) override {
    std::size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t written = ::write(descriptor_, bytes.data() + done, bytes.size() - done);
      if (written >= 0) {
        done += static_cast<std::size_t>(written);
      } else if (errno != EINTR) {
        return {done, append_failure("cannot write " + path_)};
      }
    }
    return {done, {}};
  }

 private:
  int descriptor_;
  std::string path_;
};

}  // namespace

Result<std::unique_ptr<AppendFile>> create_append_file(const std::string& path) {
  constexpr mode_t kMode = 0666;  // before the umask
  const int descriptor =
      ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, kMode);
  if (descriptor < 0) return append_failure("cannot create " + path);
  return std::unique_ptr<AppendFile>(std::make_unique<DescriptorFile>(descriptor, path));
}

}  // namespace tbtrace::io
