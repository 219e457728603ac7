#include "recorder/log/name_table.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace tbtrace::recorder {
namespace {

using namespace std::string_view_literals;

std::vector<std::string> unusual_names() {
  std::vector<std::string> names;
  names.emplace_back();
  names.emplace_back("\0"sv);
  names.emplace_back("\0\0"sv);
  names.emplace_back("a\0"sv);
  names.emplace_back("a\0b"sv);
  names.emplace_back("a"sv);
  names.emplace_back("\"\\\n\r\t\x7f");
  names.emplace_back("\xff\xfe\xc0\x80");
  names.emplace_back(1'000'000, 'x');
  names.emplace_back(1'000'000, '\0');
  names.push_back(std::string(999'999, 'x') + 'y');
  return names;
}

TEST(NameTable, AnyBytesAreAName) {
  NameTable table;
  std::set<NameNumber> found;
  for (const std::string& name : unusual_names()) {
    const NameNumber in_table = table.find(name);
    EXPECT_TRUE(table[in_table].text == name) << name.substr(0, 20);
    found.insert(in_table);
  }
  EXPECT_EQ(found.size(), unusual_names().size());
}

TEST(NameTable, TheSameBytesGiveTheSameNumber) {
  NameTable table;
  std::vector<NameNumber> first;
  for (const std::string& name : unusual_names()) first.push_back(table.find(name));
  std::vector<NameNumber> second;
  for (const std::string& name : unusual_names()) second.push_back(table.find(name));
  EXPECT_EQ(first, second);
}

TEST(NameTable, DoesNotKeepTheCallersBytes) {
  NameTable table;
  std::string mine = "aten::add";
  const NameNumber name = table.find(mine);
  mine[0] = 'X';
  EXPECT_EQ(table[name].text, "aten::add");
  EXPECT_NE(table.find(mine), name);
  EXPECT_EQ(table.find("aten::add"), name);
}

TEST(NameTable, GrowingKeepsAddressesAndTexts) {
  constexpr std::size_t kMany = 20'000;
  NameTable table;
  std::vector<NameNumber> names;
  std::vector<const Name*> addresses;
  std::set<NameNumber> different;
  for (std::size_t at = 0; at < kMany; ++at) {
    names.push_back(table.find("operator " + std::to_string(at)));
    addresses.push_back(&table[names.back()]);
    different.insert(names.back());
  }
  EXPECT_EQ(different.size(), kMany);
  std::size_t moved = 0;
  std::size_t changed = 0;
  for (std::size_t at = 0; at < kMany; ++at) {
    const std::string text = "operator " + std::to_string(at);
    if (table[names[at]].text != text || table.find(text) != names[at]) ++changed;
    if (&table[names[at]] != addresses[at]) ++moved;
  }
  EXPECT_EQ(changed, 0U);
  EXPECT_EQ(moved, 0U);
}

TEST(NameTable, CollectivesAreNamedEachForItself) {
  NameTable table;
  const NameNumber plain = table.find("record_param_comms");
  const NameNumber first = table.add("record_param_comms", {.name = "allreduce"});
  const NameNumber second = table.add("record_param_comms", {.name = "broadcast"});
  EXPECT_EQ(table.find("record_param_comms"), plain);
  EXPECT_EQ(table[plain].collective, nullptr);
  EXPECT_EQ(table[first].text, "record_param_comms");
  EXPECT_EQ(table[first].collective->name, "allreduce");
  EXPECT_EQ(table[second].collective->name, "broadcast");
}

TEST(NameTable, OverloadsAreNamesOfTheirOwn) {
  NameTable table;
  const NameNumber tensor = table.find("aten::add", "Tensor");
  const NameNumber scalar = table.find("aten::add", "Scalar");
  const NameNumber neither = table.find("aten::add");
  EXPECT_EQ((std::set{tensor, scalar, neither}.size()), 3U);
  EXPECT_EQ(table.find("aten::add", "Tensor"), tensor);
  EXPECT_EQ(table[scalar].text, "aten::add");
  EXPECT_EQ(table[scalar].overload, "Scalar");
  EXPECT_EQ(table[neither].overload, "");
}

TEST(NameTable, TablesShareNothing) {
  NameTable one;
  NameTable other;
  EXPECT_NE(&one[one.find("a")], &other[other.find("a")]);
}

TEST(NameTable, NamesMayBeReadWhileOthersAreAdded) {
  NameTable table;
  constexpr std::uint32_t kMany = 20'000;
  std::atomic<std::uint32_t> added = 0;
  std::jthread writer([&] {
    for (std::uint32_t at = 1; at <= kMany; ++at) {
      table.find(std::to_string(at));
      added.store(at, std::memory_order_release);
    }
  });
  std::size_t wrong = 0;
  for (std::uint32_t seen = 0; seen < kMany;) {
    seen = added.load(std::memory_order_acquire);
    for (std::uint32_t at = 1; at <= seen; at += 97) {
      if (table[static_cast<NameNumber>(at)].text != std::to_string(at)) ++wrong;
    }
  }
  EXPECT_EQ(wrong, 0U);
}

}  // namespace
}  // namespace tbtrace::recorder
