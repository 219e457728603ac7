#include "recorder/process/process_copies.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "recorder/process/process.h"

namespace tbtrace::recorder {
namespace {

namespace fs = std::filesystem;

/// Another file with the library of TBTRACE_PROCESS_COPY, which the loader takes for another one.
class Copy {
 public:
  explicit Copy(const char* name)
      : path_(fs::temp_directory_path() / (name + std::to_string(::getpid()) + ".so")) {
    fs::copy_file(TBTRACE_PROCESS_COPY, path_, fs::copy_options::overwrite_existing);
    handle_ = ::dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  ~Copy() { fs::remove(path_); }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;

  int says() const {
    auto* const says = reinterpret_cast<int (*)()>(::dlsym(handle_, "tbtrace_copy_says"));
    return says == nullptr ? -1 : says();
  }
  void close() { ::dlclose(handle_); }

  bool is_loaded() const {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
      if (line.find(path_.filename().string()) != std::string::npos) return true;
    }
    return false;
  }

 private:
  fs::path path_;
  void* handle_ = nullptr;
};

TEST(ProcessCopies, OnlyTheFirstRecords) {
  EXPECT_TRUE(is_only_copy());
  EXPECT_EQ(why_nothing_is_recorded(), "");
  const Copy second("tbtrace_second_");
  EXPECT_EQ(second.says(), 1);
  const Copy third("tbtrace_third_");
  EXPECT_EQ(third.says(), 1);
  EXPECT_EQ(why_nothing_is_recorded(), "") << "and goes on";
}

TEST(ProcessCopies, AreNotUnloadedOnceTheyWereUsed) {
  Copy unused("tbtrace_unused_");
  ASSERT_TRUE(unused.is_loaded());
  unused.close();
  EXPECT_FALSE(unused.is_loaded());
  Copy used("tbtrace_used_");
  static_cast<void>(used.says());
  used.close();
  EXPECT_TRUE(used.is_loaded());
}

}  // namespace
}  // namespace tbtrace::recorder
