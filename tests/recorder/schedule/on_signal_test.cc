#include "recorder/schedule/on_signal.h"

#include <csignal>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recorder/process/messages.h"
#include "recorder/schedule/cycle.h"
#include "recorder/schedule/logged_target.h"

namespace tbtrace {
namespace {

/// Actions of the steps from `first` on; before step `at` the signal comes.
std::string actions(Schedule& schedule, std::int64_t first, std::int64_t steps, int signal = 0,
                    std::int64_t at = -1) {
  std::string letters;
  for (std::int64_t step = first; step < first + steps; ++step) {
    if (step == at) ::raise(signal);
    letters += "NWRSD"[static_cast<int>(schedule(step))];
  }
  return letters;
}

TEST(OnSignal, TheNextStepBeginsACycle) {
  Schedule schedule = on_signal(SIGUSR1, {.warmup = 1, .active = 3});
  EXPECT_EQ(actions(schedule, 0, 4), "NNNN");
  EXPECT_EQ(actions(schedule, 4, 8, SIGUSR1, 6), "NNWRRSNN");
  EXPECT_EQ(actions(schedule, 12, 6, SIGUSR1, 12), "WRRSNN");
}

TEST(OnSignal, SignalsDuringACycleAskForNothingElse) {
  Schedule schedule = on_signal(SIGUSR2, {.warmup = 1, .active = 2});
  EXPECT_EQ(actions(schedule, 0, 2, SIGUSR2, 0), "WR");
  EXPECT_EQ(actions(schedule, 2, 3, SIGUSR2, 2), "SNN");
  ::raise(SIGUSR2);
  ::raise(SIGUSR2);
  EXPECT_EQ(actions(schedule, 5, 5), "WRSNN");
}

TEST(OnSignal, SignalsOfTheTimeBeforeCountForNothing) {
  const Schedule first = on_signal(SIGUSR1);  // and from now on it ends no process
  ::raise(SIGUSR1);
  Schedule later = on_signal(SIGUSR1);
  EXPECT_EQ(actions(later, 0, 2), "NN");
}

TEST(OnSignal, OfTwoSchedulesEachRecords) {
  Schedule one = on_signal(SIGUSR1, {.active = 1});
  Schedule other = on_signal(SIGUSR2, {.active = 1});
  Schedule copy = one;
  EXPECT_EQ(actions(one, 0, 3, SIGUSR1, 0), "WSN");
  EXPECT_EQ(actions(copy, 0, 3), "WSN");
  EXPECT_EQ(actions(other, 0, 3), "NNN");
}

int plain_calls = 0;
int detailed_calls = 0;

TEST(OnSignal, TheHandlerThatStoodThereIsCalledToo) {
  struct sigaction plain = {};
  plain.sa_handler = [](int) { ++plain_calls; };
  ::sigaction(SIGRTMIN, &plain, nullptr);
  struct sigaction detailed = {};
  detailed.sa_sigaction = [](int, siginfo_t* info, void*) {
    if (info != nullptr && info->si_pid == ::getpid()) ++detailed_calls;
  };
  detailed.sa_flags = SA_SIGINFO;
  ::sigaction(SIGRTMIN + 1, &detailed, nullptr);
  for (const int signal : {SIGRTMIN, SIGRTMIN + 1}) {
    Schedule schedule = on_signal(signal);
    static_cast<void>(on_signal(signal));  // again: its own handler is none that stood there
    EXPECT_EQ(actions(schedule, 0, 2, signal, 1), "NW");
  }
  EXPECT_EQ(plain_calls, 1);
  EXPECT_EQ(detailed_calls, 1);
}

TEST(OnSignal, AForkedChildBeginsAtItsFirstStep) {
  Schedule schedule = on_signal(SIGUSR1, {.warmup = 1, .active = 2});
  EXPECT_EQ(actions(schedule, 10, 1, SIGUSR1, 10), "W");
  const pid_t child = ::fork();
  if (child == 0) ::_exit(actions(schedule, 0, 3, SIGUSR1, 1) == "NWR" ? 0 : 1);
  int ended = 1;
  ::waitpid(child, &ended, 0);
  EXPECT_EQ(ended, 0);
}

TEST(OnSignal, RefusesWhatEndsProgramsAndWrongNumbers) {
  for (const int signal : {SIGTERM, SIGINT, SIGKILL, SIGSEGV, SIGCHLD, 0, -1, 1000}) {
    EXPECT_THROW(static_cast<void>(on_signal(signal)), std::invalid_argument) << signal;
  }
  EXPECT_THROW(static_cast<void>(on_signal(SIGUSR1, {.warmup = -1})), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(on_signal(SIGUSR1, {.active = 0})), std::invalid_argument);
}

TEST(OnSignal, IsKnownAmongSchedules) {
  EXPECT_TRUE(recorder::waits_for_signal(on_signal(SIGUSR1)));
  EXPECT_FALSE(recorder::waits_for_signal(schedule({.warmup = 1, .active = 1})));
  EXPECT_FALSE(recorder::waits_for_signal({}));
}

TEST(OnSignal, DrivesACycle) {
  recorder::LoggedTarget target;
  recorder::Cycle cycle(on_signal(SIGUSR1, {.warmup = 1, .active = 1}), false, target);
  EXPECT_TRUE(cycle.start().ok());
  EXPECT_TRUE(cycle.step().ok());
  EXPECT_EQ(target.taken(), "o0 c0 o1");
  ::raise(SIGUSR1);
  for (int step = 0; step < 3; ++step) EXPECT_TRUE(cycle.step().ok());
  EXPECT_EQ(target.taken(), "c1 n p o2 c2 s o3 c3 x r4 o4");
  EXPECT_TRUE(cycle.stop().ok());
}

}  // namespace
}  // namespace tbtrace
