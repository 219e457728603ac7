#include "io/archives/input.h"

#include <cerrno>
#include <span>
#include <utility>

#include <sys/stat.h>

#include "io/archives/archive.h"

namespace tbtrace::io {
namespace {

class FailedSource final : public ByteSource {
 public:
  explicit FailedSource(Status failure) : failure_(std::move(failure)) {}

  Result<std::size_t> read(std::span<char>) override { return failure_; }
  std::uint64_t position() const override { return 0; }
  std::uint64_t total() const override { return 0; }

 private:
  Status failure_;
};

Result<std::unique_ptr<ByteSource>> member_of(std::unique_ptr<ByteSource> file,
                                              const std::string& member) {
  Result<Unpacked> archive = unpacked(std::move(file));
  if (!archive.ok()) return archive.status();
  return open_member(*std::move(archive), member);
}

class ArchivedInput final : public Rereadable {
 public:
  ArchivedInput(std::unique_ptr<Rereadable> archive, std::string member)
      : archive_(std::move(archive)), member_(std::move(member)) {}

  std::unique_ptr<ByteSource> source() const override {
    Result<std::unique_ptr<ByteSource>> found = member_of(archive_->source(), member_);
    if (found.ok()) return *std::move(found);
    return std::make_unique<FailedSource>(found.status());
  }

  bool has_changed() const override { return archive_->has_changed(); }

 private:
  std::unique_ptr<Rereadable> archive_;
  std::string member_;
};

}  // namespace

std::optional<MemberPath> member_path(const std::string& path) {
  struct stat info = {};
  if (path == "-" || ::stat(path.c_str(), &info) == 0 || errno != ENOTDIR) return std::nullopt;
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    std::string folder = path.substr(0, slash);
    if (::stat(folder.c_str(), &info) != 0) return std::nullopt;
    if (S_ISREG(info.st_mode)) return MemberPath{std::move(folder), path.substr(slash + 1)};
  }
  return std::nullopt;
}

Result<std::unique_ptr<ByteSource>> open_input(const std::string& path) {
  if (path == "-") return standard_input();
  const std::optional<MemberPath> in_archive = member_path(path);
  if (!in_archive) return open_file(path);
  Result<std::unique_ptr<ByteSource>> file = open_file(in_archive->archive);
  if (!file.ok()) return file.status();
  return member_of(*std::move(file), in_archive->member);
}

Result<std::unique_ptr<Rereadable>> open_rereadable(const std::string& path) {
  std::optional<MemberPath> in_archive = member_path(path);
  if (!in_archive) return Rereadable::open(path);
  Result<std::unique_ptr<Rereadable>> file = Rereadable::open(in_archive->archive);
  if (!file.ok()) return file.status();
  return std::unique_ptr<Rereadable>(
      std::make_unique<ArchivedInput>(*std::move(file), std::move(in_archive->member)));
}

}  // namespace tbtrace::io
