#include "io/archives/archive.h"

#include <algorithm>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/utf8.h"
#include "io/archives/stream.h"
#include "io/failures.h"

namespace tbtrace::io {
namespace {

constexpr std::size_t kLongestName = 512;

bool is_printable(std::string_view character) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(character[at]); };
  if (character.size() == 1) return byte(0) >= 0x20 && byte(0) != 0x7f && character != "\\";
  return byte(0) != 0xc2 || byte(1) >= 0xa0;  // C1: U+0080 to U+009F
}

/// `a/rank0#2.json`: before the endings, which say what the file is.
std::string numbered(const std::string& path, int number) {
  const std::size_t slash = path.rfind('/');
  const std::size_t begin = slash == std::string::npos ? 0 : slash + 1;
  std::string name = path;
  return name.insert(std::min(path.find('.', begin + 1), path.size()),
                     "#" + std::to_string(number));
}

/// One pass through the files of an archive.
class Members {
 public:
  static Result<std::unique_ptr<Members>> open(Unpacked archive) {
    Result<std::unique_ptr<ArchiveStream>> stream =
        ArchiveStream::open(std::move(archive.source), archive.archive);
    if (!stream.ok()) return stream.status();
    return std::unique_ptr<Members>(new Members(*std::move(stream)));
  }

  /// The name of the next file; nullopt at the end.
  Result<std::optional<std::string>> next() {
    for (;;) {
      ArchiveStream::Entry entry;
      const Result<bool> any = stream_->next(entry);
      if (!any.ok()) return any.status();
      if (!*any) return std::optional<std::string>();
      if (++entries_ > kMostEntries) {
        return read_failure("has more than 100,000 entries; unpack it first");
      }
      if (!entry.is_file) continue;
      const std::string path = safe_member_path(entry.path);
      std::string name = path;
      while (!names_.insert(name).second) name = numbered(path, ++times_[path] + 1);
      return std::optional(std::move(name));
    }
  }

  ArchiveStream& stream() { return *stream_; }

 private:
  explicit Members(std::unique_ptr<ArchiveStream> stream) : stream_(std::move(stream)) {}

  std::unique_ptr<ArchiveStream> stream_;
  int entries_ = 0;
  std::unordered_set<std::string> names_;
  std::unordered_map<std::string, int> times_;  // by path, where one occurs several times
};

/// The file that a pass has come to.
class MemberSource final : public ByteSource {
 public:
  explicit MemberSource(std::shared_ptr<Members> members) : members_(std::move(members)) {}

  Result<std::size_t> read(std::span<char> buffer) override {
    if (!end_.ok()) return end_;
    Result<std::size_t> got = members_->stream().read(buffer);
    if (!got.ok()) end_ = got.status();
    return got;
  }
  std::uint64_t position() const override { return members_->stream().source().position(); }
  std::uint64_t total() const override { return members_->stream().source().total(); }

 private:
  std::shared_ptr<Members> members_;
  Status end_;
};

Status too_deep() {
  static_assert(kMostArchives == 3);
  return read_failure("is an archive in three others; unpack it first");
}

Status visit(Unpacked archive, const std::string& prefix, int depth, const MemberVisitor& visitor) {
  Result<std::unique_ptr<Members>> opened = Members::open(std::move(archive));
  if (!opened.ok()) return opened.status();
  const std::shared_ptr<Members> members = *std::move(opened);
  for (;;) {
    const Result<std::optional<std::string>> next = members->next();
    if (!next.ok()) return next.status();
    if (!next->has_value()) return {};
    const std::string name = prefix + **next;
    if (!visitor.wants(name)) continue;
    Result<Unpacked> content = unpacked(std::make_unique<MemberSource>(members));
    if (!content.ok()) {
      visitor.take(name, content.status());
    } else if (content->archive == PackedKind::none) {
      visitor.take(name, std::move(content->source));
    } else if (depth == kMostArchives) {
      visitor.take(name, too_deep());
    } else if (Status inner = visit(*std::move(content), name + "/", depth + 1, visitor);
               !inner.ok()) {
      visitor.take(name, std::move(inner));
    }
  }
}

}  // namespace

std::string safe_member_path(std::string_view path) {
  std::string safe;
  while (!path.empty()) {
    std::string_view part = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(part.size() + 1, path.size()));
    if (part.empty() || part == ".") continue;
    if (!safe.empty()) safe += '/';
    if (part == "..") part = "__";
    while (!part.empty()) {
      const std::size_t size = utf8_character_size(part);
      const std::string_view character = part.substr(0, std::max<std::size_t>(size, 1));
      part.remove_prefix(character.size());
      safe += size == 0 || !is_printable(character) ? std::string_view("_") : character;
    }
  }
  // The end has what the file is.
  if (safe.size() > kLongestName) {
    std::size_t cut = safe.size() - kLongestName;
    while ((static_cast<unsigned char>(safe[cut]) & 0xc0) == 0x80 || safe[cut] == '/') ++cut;
    safe.erase(0, cut);
  }
  return safe.empty() ? "unnamed" : safe;
}

Status visit_members(Unpacked archive, const MemberVisitor& visitor) {
  return visit(std::move(archive), "", 1, visitor);
}

Result<std::unique_ptr<ByteSource>> open_member(Unpacked archive, std::string_view name) {
  for (int depth = 1;; ++depth) {
    if (archive.archive == PackedKind::none) return read_failure("is not in the archive");
    if (depth > kMostArchives) return too_deep();
    Result<std::unique_ptr<Members>> opened = Members::open(std::move(archive));
    if (!opened.ok()) return opened.status();
    const std::shared_ptr<Members> members = *std::move(opened);
    for (;;) {
      const Result<std::optional<std::string>> next = members->next();
      if (!next.ok()) return next.status();
      if (!next->has_value()) {
        return read_failure(
            "there is no such file in the archive; name the archive to find all "
            "traces in it");
      }
      const std::string& found = **next;
      if (name == found) {
        return std::unique_ptr<ByteSource>(std::make_unique<MemberSource>(members));
      }
      if (!name.starts_with(found + "/")) continue;
      name.remove_prefix(found.size() + 1);
      break;
    }
    Result<Unpacked> inner = unpacked(std::make_unique<MemberSource>(members));
    if (!inner.ok()) return inner.status();
    archive = *std::move(inner);
  }
}

}  // namespace tbtrace::io
