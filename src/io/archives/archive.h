// The members of tar and zip archives: their names, and reading one of them.
// A member's name in paths, `traces.tar.gz/rank0.json`, is its path in the archive, made safe: no
// `..`, no control characters, no bytes that are not UTF-8. If several members have one name, all
// but the first get a number (`rank0#2.json`). An archive in an archive is like a folder in it.
// Links, devices and folders are not members. Nothing is ever written under such a name.
// An archive is read from its start for each member, because a compressed one has no other way.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "io/archives/unpacked.h"
#include "io/source.h"

namespace tbtrace::io {

/// How deep archives may be in archives.
inline constexpr int kMostArchives = 3;
/// How many entries an archive may have.
inline constexpr int kMostEntries = 100'000;

/// A path in an archive as a path that can be shown and given back.
std::string safe_member_path(std::string_view path);

/// What to do with the members of an archive.
struct MemberVisitor {
  /// Whether a member is looked at.
  std::function<bool(std::string_view name)> wants;
  /// Takes a member that is not an archive, with its content, inflated; or why it cannot be read.
  std::function<void(const std::string& name, Result<std::unique_ptr<ByteSource>> content)> take;
};

/// Goes through all members, in their order. Fails if the archive is damaged or not one that real
/// programs make; the members before that were taken.
Status visit_members(Unpacked archive, const MemberVisitor& visitor);

/// The content of a member, as it is in the archive.
Result<std::unique_ptr<ByteSource>> open_member(Unpacked archive, std::string_view name);

}  // namespace tbtrace::io
