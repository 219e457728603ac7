// The name of this machine, from gethostname(2).
// Any thread. Empty if the system call fails.
#pragma once

#include <string>

#include <unistd.h>

namespace tbtrace {

inline std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

}  // namespace tbtrace
