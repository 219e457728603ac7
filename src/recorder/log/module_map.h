// Which modules a model has, and which of them each parameter and buffer belongs to.
// Owns its texts; modules and tensors are known by address only, and whoever fills the map keeps
// addresses from being used again. Filled by one thread, then read by any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tbtrace::recorder {

struct Module {
  std::string class_name;    ///< `Linear`
  std::uint32_t number = 0;  ///< of those of its class
  std::string path;          ///< `net.layer1.0`; empty: not of a known model
  std::int64_t parent = -1;  ///< a row of the same list
  /// Elements of its own parameters, without those that an earlier module has as well; -1: not of a
  /// known model.
  std::int64_t parameters = -1;
};

/// A parameter or buffer.
struct ModuleTensor {
  std::uint32_t module;  ///< a row of modules
  const char* begin;     ///< of its bytes
  const char* end;
  std::uint32_t number = 0;  ///< among the map's, from 1 on
};

class ModuleMap;
namespace journal {
/// Without the tensors themselves, which only their process can find.
std::string bytes_of(const ModuleMap& map);
/// Nothing where the bytes are not those of a map.
std::optional<ModuleMap> module_map_of(std::string_view bytes);
}  // namespace journal

class ModuleMap {
 public:
  static constexpr std::int64_t kNone = -1;

  /// The row of the module, a new one unless there is one of this class at this address. `type` is
  /// the mangled name of the class.
  std::uint32_t add(const void* instance, const std::string& type, const std::string& path,
                    std::int64_t parent = kNone);
  /// Likewise of a TorchScript module, known by its object; the class has no other name.
  std::uint32_t add_script(const void* object, const std::string& class_name,
                           const std::string& path, std::int64_t parent = kNone);
  void set_parameters(std::uint32_t module, std::int64_t elements) {
    modules_[module].parameters = elements;
  }
  /// `storage` is the memory that the tensor is in, alone or with others.
  void own(const void* storage, const ModuleTensor& tensor);

  /// The row of the module that runs the operator on the tensor. Of those that share it, as a
  /// decoder shares the weight of an embedding: the first whose class is named as the operator,
  /// else the first that is not an embedding, which calls its own operator only.
  std::uint32_t module_of(std::uint64_t tensor_number, std::string_view op) const;

  bool has_scripts() const { return !scripts_.empty(); }
  /// The row of the TorchScript module; kNone: not a known one.
  std::int64_t script(const void* object) const {
    const auto found = scripts_.find(object);
    return found == scripts_.end() ? kNone : static_cast<std::int64_t>(found->second);
  }
  /// The row of the part of a module that is called `name` there, a new one unless there is one:
  /// models that were frozen have not their parts any more.
  std::uint32_t part(std::uint32_t module, const std::string& name, const std::string& class_name);

  const std::vector<Module>& modules() const { return modules_; }
  std::size_t tensors() const { return modules_of_tensors_.size(); }  ///< numbers are 1 to it
  /// The tensor of a module that is in the storage, at this address where there are several; null
  /// if there is none. Of tensors that are the same, the first that was added.
  const ModuleTensor* tensor(const void* storage, const void* address) const;

 private:
  friend std::string journal::bytes_of(const ModuleMap& map);
  friend std::optional<ModuleMap> journal::module_map_of(std::string_view bytes);

  std::uint32_t add_module(Module module);

  std::vector<Module> modules_;
  std::map<std::pair<std::int64_t, std::string>, std::uint32_t> parts_;  // by module and name in it
  std::unordered_map<const void*, std::uint32_t> scripts_;
  std::map<std::pair<const void*, std::string>, std::uint32_t> rows_;
  std::unordered_map<std::string, std::uint32_t> class_counts_;
  std::unordered_map<const void*, std::deque<ModuleTensor>> tensors_;     // addresses stay
  std::map<std::pair<const char*, const char*>, std::uint32_t> numbers_;  // of the first, by bytes
  std::vector<std::uint32_t> modules_of_tensors_;
  /// Of tensors that several modules have, by number: the modules after the first.
  std::map<std::uint64_t, std::vector<std::uint32_t>> sharers_;
};

/// How Python would name the class: without namespaces, and without the `Impl` that LibTorch's
/// modules end in.
std::string module_class(const std::string& type);

}  // namespace tbtrace::recorder
