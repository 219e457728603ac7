#include "io/folder_lock.h"

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixtures/scratch_folder.h"
#include "fixtures/whole_file.h"

namespace tbtrace::io {
namespace {

using fixtures::ScratchFolder;
using testing::HasSubstr;

std::unique_ptr<FolderLock> locked(const std::string& folder) {
  Result<std::unique_ptr<FolderLock>> lock = FolderLock::try_lock(folder);
  EXPECT_TRUE(lock.ok()) << lock.status().message();
  return lock.ok() ? *std::move(lock) : nullptr;
}

TEST(FolderLock, IsForOneAtATime) {
  const ScratchFolder scratch;
  const std::string folder = scratch.path("folder");
  std::unique_ptr<FolderLock> first = locked(folder);
  EXPECT_NE(first, nullptr);
  EXPECT_EQ(locked(folder), nullptr);
  first.reset();
  EXPECT_NE(locked(folder), nullptr);
}

TEST(FolderLock, LeavesAnEmptyFolder) {
  const ScratchFolder scratch;
  locked(scratch.path("folder")).reset();
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path("folder")));
}

TEST(FolderLock, LeavesTheLockOfAFolderThatVanishedAndIsThereAgain) {
  const ScratchFolder scratch;
  const std::string folder = scratch.path("folder");
  std::unique_ptr<FolderLock> first = locked(folder);
  std::filesystem::remove_all(folder);
  const std::unique_ptr<FolderLock> second = locked(folder);
  ASSERT_NE(second, nullptr);
  first.reset();
  EXPECT_EQ(locked(folder), nullptr);
}

TEST(FolderLock, TheLockOfADeadProcessIsFree) {
  const ScratchFolder scratch;
  const pid_t child = ::fork();
  if (child == 0) {
    const std::unique_ptr<FolderLock> lock = locked(scratch.path("folder"));
    ::_exit(lock == nullptr ? 1 : 0);  // runs no destructor
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  EXPECT_TRUE(std::filesystem::exists(scratch.path("folder/.lock")));
  EXPECT_NE(locked(scratch.path("folder")), nullptr);
}

TEST(FolderLock, SaysWhyThereCanBeNone) {
  const ScratchFolder scratch;
  fixtures::write_whole_file(scratch.path("file"), "");
  for (const std::string& folder : {scratch.path("file"), scratch.path("none/folder")}) {
    const Result<std::unique_ptr<FolderLock>> lock = FolderLock::try_lock(folder);
    ASSERT_FALSE(lock.ok());
    EXPECT_EQ(lock.status().code(), StatusCode::unwritable_output);
    EXPECT_THAT(lock.status().message(), HasSubstr(folder));
  }
}

// The file goes with the lock, so that who waits may open one that is gone.
TEST(FolderLock, TwoNeverHaveItWhileFoldersComeAndGo) {
  const ScratchFolder scratch;
  const std::string folder = scratch.path("folder");
  std::atomic<int> holders = 0;
  std::atomic<int> most = 0;
  std::atomic<int> taken = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 2; ++thread) {
    threads.emplace_back([&] {
      for (int round = 0; round < 2000; ++round) {
        Result<std::unique_ptr<FolderLock>> lock = FolderLock::try_lock(folder);
        if (!lock.ok() || *lock == nullptr) continue;
        ++taken;
        const int now = ++holders;
        if (now > most) most = now;
        --holders;
        lock = std::unique_ptr<FolderLock>();
        ::rmdir(folder.c_str());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(taken, 0);
  EXPECT_EQ(most, 1);
}

}  // namespace
}  // namespace tbtrace::io
