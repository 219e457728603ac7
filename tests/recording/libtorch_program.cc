// Runs for argv[1] milliseconds.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

int main(int, char** words) {
  std::puts("runs");
  std::fflush(stdout);
  std::this_thread::sleep_for(std::chrono::milliseconds(std::atoi(words[1])));
}
