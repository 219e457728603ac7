// The name of this machine, as gethostname(2) tells it.
// The result is owned. Any thread. Empty where the system does not say.
#pragma once

#include <string>

#include <unistd.h>

namespace tbtrace {

inline std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

}  // namespace tbtrace
