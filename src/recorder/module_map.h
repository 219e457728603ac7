// Which modules a model has, and which of them each parameter and buffer belongs to.
// Owns its texts; modules and tensors are known by address only. Filled by one thread, then read by
// any. A module that is there twice counts where it was found first.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace tbtrace::recorder {

struct Module {
  std::string class_name;    ///< `Linear`
  std::uint32_t number = 0;  ///< of those of its class
  std::string path;          ///< `net.layer1.0`; empty: not of a known model
  std::int64_t parent = -1;  ///< a row of the same list
};

class ModuleMap {
 public:
  /// `type` is the mangled name of the class. A module comes after the one that it is a part of,
  /// whose path is its own up to the last dot.
  std::uint32_t add(const void* instance, const std::string& type, const std::string& path);
  /// `tensor` is the address of the storage of a parameter or buffer.
  void own(const void* tensor, std::uint32_t module) { owners_.try_emplace(tensor, module); }

  const std::vector<Module>& modules() const { return modules_; }
  std::optional<std::uint32_t> find(const void* instance) const { return find(rows_, instance); }
  std::optional<std::uint32_t> owner(const void* tensor) const { return find(owners_, tensor); }

 private:
  using Rows = std::unordered_map<const void*, std::uint32_t>;

  static std::optional<std::uint32_t> find(const Rows& rows, const void* key) {
    const auto found = rows.find(key);
    if (found == rows.end()) return std::nullopt;
    return found->second;
  }

  std::vector<Module> modules_;
  Rows rows_;  // by instance
  Rows owners_;
  std::unordered_map<std::string, std::uint32_t> by_path_;
  std::unordered_map<std::string, std::uint32_t> class_counts_;
};

/// How Python would name the class: without namespaces, and without the `Impl` that LibTorch's
/// modules end in.
std::string module_class(const std::string& type);

}  // namespace tbtrace::recorder
