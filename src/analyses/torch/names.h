// Names as torch.profiler shows them: without overload, demangled, and with one name for all steps.
// Owns the resulting names; made for one Trace. Not synchronised.
// Source: torch/autograd/profiler_util.py (_filter_name, _rewrite_name) and profiler_kineto.cpp.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/trace.h>

#include "base/string_pool.h"

namespace tbtrace::analyses {

/// A number in a TorchNames; 0 is the empty text.
using NameId = std::uint32_t;

struct TorchName {
  NameId name = 0;
  NameId overload = 0;
  bool is_left_out = false;  ///< torch does not list events with this name
  bool is_memory = false;    ///< `[memory]`
  bool is_out_of_memory = false;
};

class TorchNames {
 public:
  explicit TorchNames(const Trace& trace);

  /// `overloads`: the name may have the form `aten::add.Tensor`, which occurs for operators only.
  const TorchName& get(StringId name, bool overloads) {
    std::vector<Known>& known = overloads ? operator_ : plain_;
    if (index(name) < known.size() && known[index(name)].known) return known[index(name)].name;
    return learn(known, name, overloads);
  }

  /// The same for a name for which get() was called before. Changes nothing, so that several
  /// threads may call it.
  const TorchName& known(StringId name, bool overloads) const {
    const std::vector<Known>& known = overloads ? operator_ : plain_;
    assert(index(name) < known.size() && known[index(name)].known);
    return known[index(name)].name;
  }

  /// The same for a name that is not in the trace.
  TorchName make(std::string_view raw, bool overloads);

  NameId intern(std::string_view text) { return pool_.intern(text); }
  std::string_view text(NameId id) const { return pool_[id]; }

 private:
  struct Known {
    TorchName name;
    bool known = false;
  };

  const TorchName& learn(std::vector<Known>& known, StringId name, bool overloads);

  const Trace& trace_;
  StringPool pool_;
  std::vector<Known> plain_;     // by StringId
  std::vector<Known> operator_;  // by StringId
  std::size_t demangled_bytes_ = 0;
};

}  // namespace tbtrace::analyses
