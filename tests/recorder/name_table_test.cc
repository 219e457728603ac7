#include "recorder/name_table.h"

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
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
  std::set<const Name*> found;
  for (const std::string& name : unusual_names()) {
    const Name* const in_table = table.find(name);
    EXPECT_TRUE(in_table->text == name) << name.substr(0, 20);
    found.insert(in_table);
  }
  EXPECT_EQ(found.size(), unusual_names().size());
}

TEST(NameTable, TheSameBytesGiveTheSameAddress) {
  NameTable table;
  std::vector<const Name*> first;
  for (const std::string& name : unusual_names()) first.push_back(table.find(name));
  std::vector<const Name*> second;
  for (const std::string& name : unusual_names()) second.push_back(table.find(name));
  EXPECT_EQ(first, second);
}

TEST(NameTable, DoesNotKeepTheCallersBytes) {
  NameTable table;
  std::string mine = "aten::add";
  const Name* const name = table.find(mine);
  mine[0] = 'X';
  EXPECT_EQ(name->text, "aten::add");
  EXPECT_NE(table.find(mine), name);
  EXPECT_EQ(table.find("aten::add"), name);
}

TEST(NameTable, GrowingKeepsAddressesAndTexts) {
  constexpr std::size_t kMany = 20'000;
  NameTable table;
  std::vector<const Name*> names;
  std::set<const Name*> different;
  for (std::size_t at = 0; at < kMany; ++at) {
    names.push_back(table.find("operator " + std::to_string(at)));
    different.insert(names.back());
  }
  EXPECT_EQ(different.size(), kMany);
  std::size_t moved = 0;
  std::size_t changed = 0;
  for (std::size_t at = 0; at < kMany; ++at) {
    const std::string text = "operator " + std::to_string(at);
    if (names[at]->text != text) ++changed;
    if (table.find(text) != names[at]) ++moved;
  }
  EXPECT_EQ(changed, 0U);
  EXPECT_EQ(moved, 0U);
}

TEST(NameTable, CollectivesAreNamedEachForItself) {
  NameTable table;
  const Name* const plain = table.find("record_param_comms");
  const Name* const first = table.add("record_param_comms", {.name = "allreduce"});
  const Name* const second = table.add("record_param_comms", {.name = "broadcast"});
  EXPECT_EQ(table.find("record_param_comms"), plain);
  EXPECT_EQ(plain->collective, nullptr);
  EXPECT_EQ(first->text, "record_param_comms");
  EXPECT_EQ(first->collective->name, "allreduce");
  EXPECT_EQ(second->collective->name, "broadcast");
}

TEST(NameTable, TablesShareNothing) {
  NameTable one;
  NameTable other;
  EXPECT_NE(one.find("a"), other.find("a"));
}

}  // namespace
}  // namespace tbtrace::recorder
