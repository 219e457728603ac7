// Which module contains which, as torch-tb-profiler finds it.
// Results are plain values.
// Source: kineto tb_plugin, profiler/module_op.py at 94979607^.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <tbtrace/trace.h>

namespace tbtrace::analyses {

/// Modules with equal keys share their figures.
struct PluginModuleKey {
  std::size_t name = 0;  ///< a number of PluginModuleNames
  std::int64_t id = 0;

  bool operator<(const PluginModuleKey& other) const {
    return std::tie(name, id) < std::tie(other.name, other.id);
  }
};

/// Names of modules, as numbers. Keeps a reference to the trace.
class PluginModuleNames {
 public:
  explicit PluginModuleNames(const Trace& trace);

  /// Whether the plugin takes the event for a module.
  bool is_module(EventId event) const;
  /// `event` is a module.
  PluginModuleKey key(EventId event);
  /// Without the type in front of it.
  std::string shown(std::size_t number) const;

  bool is_lightning() const { return lightning_; }
  std::string_view name(std::size_t number) const { return names_[number]; }

 private:
  std::size_t number(std::string name);

  const Trace& trace_;
  bool lightning_;
  std::vector<std::string> names_;
  std::map<std::string, std::size_t> numbers_;
  std::map<StringId, std::size_t> of_text_;
};

struct PluginHierarchy {
  struct Module {
    PluginModuleKey key;
    std::vector<std::size_t> children = {};
  };
  std::vector<Module> modules;
  std::vector<std::size_t> roots;  ///< outermost modules, each content once, by first event
};

/// nullopt if the plugin fails.
std::optional<PluginHierarchy> plugin_hierarchy(const Trace& trace, PluginModuleNames& names);

}  // namespace tbtrace::analyses
