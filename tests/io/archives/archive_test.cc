#include "io/archives/archive.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/archive_bytes.h"
#include "fixtures/drained.h"
#include "fixtures/gzip_member.h"
#include "fixtures/scratch_folder.h"
#include "fixtures/whole_file.h"
#include "io/archives/input.h"
#include "io/archives/library.h"
#include "io/archives/stream.h"
#include "io/archives/unpacked.h"

namespace tbtrace::io {
namespace {

using fixtures::drain;
using fixtures::gzip_member;
using fixtures::tar_archive;
using fixtures::zip_archive;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Unpacked archive_in(std::string_view bytes) {
  Result<Unpacked> content = unpacked(memory_source(bytes));
  EXPECT_TRUE(content.ok()) << content.status().message();
  return *std::move(content);
}

struct Visited {
  std::vector<std::string> members;  // `name=content` or `name: why not`
  Status status;
};

Visited visited(std::string_view bytes) {
  Visited visited;
  const MemberVisitor visitor = {
      .wants = [](std::string_view) { return true; },
      .take =
          [&](const std::string& name, Result<std::unique_ptr<ByteSource>> content) {
            if (!content.ok()) {
              visited.members.push_back(name + ": " + content.status().message());
              return;
            }
            const fixtures::Drained drained = drain(**content);
            visited.members.push_back(
                name + (drained.end.ok() ? "=" + drained.text : ": " + drained.end.message()));
          }};
  visited.status = visit_members(archive_in(bytes), visitor);
  return visited;
}

TEST(Archive, MembersOfTarAndZipAreRead) {
  const auto expected = ElementsAre("a.json=one", "deep/b.json=two");
  EXPECT_THAT(visited(tar_archive({{"./a.json", "one"}, {"deep/b.json", "two"}})).members,
              expected);
  EXPECT_THAT(
      visited(gzip_member(tar_archive({{"a.json", "one"}, {"deep//b.json", "two"}}))).members,
      expected);
  EXPECT_THAT(visited(zip_archive({{"a.json", "one"}, {"deep/b.json", "two"}})).members, expected);
  EXPECT_THAT(
      visited(gzip_member(zip_archive({{"a.json", "one"}, {"deep/b.json", "two"}}))).members,
      expected)
      << "without seeking";
  EXPECT_THAT(visited(zip_archive({})).members, IsEmpty());
}

TEST(Archive, NamesAreMadeSafe) {
  EXPECT_THAT(visited(tar_archive({{"/etc/a.json", "1"},
                                   {"../../b.json", "2"},
                                   {"c\n\x1b[31m.json", "3"},
                                   {"\xff\xfe.json", "4"}}))
                  .members,
              ElementsAre("etc/a.json=1", "__/__/b.json=2", "c__[31m.json=3", "__.json=4"));
  EXPECT_EQ(safe_member_path(""), "unnamed");
  EXPECT_EQ(safe_member_path("././/"), "unnamed");
  EXPECT_EQ(safe_member_path("a\\..\\b"), "a_.._b");
  const std::string kept = safe_member_path(std::string(5000, 'x') + "\u00fc.json");
  EXPECT_EQ(kept.size(), 512U);
  EXPECT_TRUE(kept.ends_with("x\u00fc.json"));
}

TEST(Archive, EqualNamesGetNumbers) {
  EXPECT_THAT(visited(tar_archive({{"a/r.pt.trace.json", "1"},
                                   {"a/r#2.pt.trace.json", "2"},
                                   {"./a/r.pt.trace.json", "3"},
                                   {"noend", "4"},
                                   {"noend", "5"}}))
                  .members,
              ElementsAre("a/r.pt.trace.json=1", "a/r#2.pt.trace.json=2", "a/r#3.pt.trace.json=3",
                          "noend=4", "noend#2=5"));
}

TEST(Archive, LinksDevicesAndFoldersAreNotMembers) {
  EXPECT_THAT(visited(tar_archive({{"a.json", "1"},
                                   {"hard.json", "", '1', "a.json"},
                                   {"soft.json", "", '2', "/etc/passwd"},
                                   {"device.json", "", '3'},
                                   {"pipe.json", "", '6'},
                                   {"folder.json/", "", '5'}}))
                  .members,
              ElementsAre("a.json=1"));
}

TEST(Archive, ArchivesInArchivesAreLikeFolders) {
  std::string inner = tar_archive({{"r.json", "1"}});
  EXPECT_THAT(visited(zip_archive({{"in.tar.gz", gzip_member(inner)}, {"s.json", "2"}})).members,
              ElementsAre("in.tar.gz/r.json=1", "s.json=2"));
  for (int depth = 0; depth < 4; ++depth) inner = zip_archive({{"z.zip", inner}});
  EXPECT_THAT(visited(inner).members,
              ElementsAre("z.zip/z.zip/z.zip: is an archive in three others; unpack it first"));
}

TEST(Archive, WhatIsBeforeDamageIsRead) {
  const std::string whole = tar_archive({{"a.json", "1"}, {"b.json", std::string(3000, 'b')}});
  const Visited cut = visited(std::string_view(whole).substr(0, 2000));
  ASSERT_EQ(cut.members.size(), 2U);
  EXPECT_EQ(cut.members[0], "a.json=1");
  EXPECT_THAT(cut.members[1], HasSubstr("b.json: is a tar archive that is damaged ("));
  EXPECT_FALSE(cut.status.ok());
}

TEST(Archive, EncryptedMembersAreSaid) {
  EXPECT_THAT(visited(zip_archive({{"a.json", "secret text", true}})).members,
              ElementsAre("a.json: is encrypted; unpack the archive with its password first"));
}

/// A source that says that it has a few bytes.
class Small final : public ByteSource {
 public:
  Result<std::size_t> read(std::span<char>) override { return std::size_t{0}; }
  std::uint64_t position() const override { return 100; }
  std::uint64_t total() const override { return 0; }
};

TEST(InflationLimit, EndsWhatNoRealArchiveHolds) {
  const Small source;
  InflationLimit limit;
  constexpr std::uint64_t kFree = std::uint64_t{4} << 30;
  EXPECT_TRUE(limit.add(kFree, source).ok());
  EXPECT_TRUE(limit.add(99'999, source).ok());
  const Status more = limit.add(1000, source);
  EXPECT_EQ(more.code(), StatusCode::unreadable_input);
  EXPECT_THAT(more.message(), HasSubstr("unpack it first if you trust it"));
}

TEST(PackedKind, IsKnownByTheFirstBytes) {
  EXPECT_EQ(packed_kind(tar_archive({{"a", "b"}})), PackedKind::tar);
  EXPECT_EQ(packed_kind(zip_archive({{"a", "b"}})), PackedKind::zip);
  EXPECT_EQ(packed_kind(zip_archive({})), PackedKind::zip);
  EXPECT_EQ(packed_kind("BZh91AY&SY...."), PackedKind::bzip2);
  for (const std::string& other :
       {std::string(), std::string("BZh is a text"), std::string(1024, '\0'), std::string("PK"),
        std::string(600, ' '), "{\"traceEvents\": [" + std::string(600, '0')}) {
    EXPECT_EQ(packed_kind(other), PackedKind::none);
  }
}

TEST(Libarchive, MissingLibrarySaysWhatToInstall) {
  const Result<ArchiveLibrary> none = open_libarchive("libtbtrace_nothing.so.2");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.status().message(),
            "libtbtrace_nothing.so.2 is not on this machine; install libarchive (on Debian "
            "`apt-get install libarchive13`)");
  EXPECT_THAT(open_libarchive("libc.so.6").status().message(),
              HasSubstr("libc.so.6 on this machine has no function archive_"));
}

TEST(Inputs, MembersOfArchivesHavePathsBelowThem) {
  const fixtures::ScratchFolder folder;
  const std::string archive = folder.path("ranks.tar.gz");
  fixtures::write_whole_file(archive, gzip_member(tar_archive({{"d/r.json", "the text"}})));
  const auto text_of = [](const std::string& path) {
    Result<std::unique_ptr<ByteSource>> source = open_input(path);
    return source.ok() ? drain(**source).text : source.status().message();
  };
  EXPECT_EQ(text_of(archive + "/d/r.json"), "the text");
  EXPECT_THAT(text_of(archive + "/d/s.json"), HasSubstr("no such file in the archive"));
  EXPECT_THAT(text_of(archive + "/d/r.json/x"), HasSubstr("is not in the archive"));
  EXPECT_THAT(text_of(folder.path("none.tar/r.json")), HasSubstr("cannot open: No such file"));
  EXPECT_FALSE(member_path(archive));
  EXPECT_FALSE(member_path("-"));

  const Result<std::unique_ptr<Rereadable>> again = open_rereadable(archive + "/d/r.json");
  ASSERT_TRUE(again.ok());
  for (int time = 0; time < 2; ++time) EXPECT_EQ(drain(*(*again)->source()).text, "the text");
  EXPECT_FALSE((*again)->has_changed());
  fixtures::write_whole_file(archive, "{}");
  EXPECT_TRUE((*again)->has_changed());
  EXPECT_FALSE(drain(*(*again)->source()).end.ok());
}

}  // namespace
}  // namespace tbtrace::io
