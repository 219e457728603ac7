// Which inputs an operator may change in place: found by its name and the types of its inputs, as
// torch's memory profiler does it, since recordings have no overload's name.
// Asks whoever knows schemas once a name. For one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "recorder/memory/observed_inputs.h"

namespace tbtrace::recorder {

struct SchemaArgument {
  enum class Type : std::uint8_t {
    tensor,
    tensor_list,
    boolean,
    integer,
    real,
    complex,
    number,  ///< any of the four before
    anything,
    other,  ///< what recordings have no value of
  };

  Type type = Type::other;
  bool is_optional = false;
  bool is_written = false;
};

/// The arguments of one overload.
using Schema = std::vector<SchemaArgument>;

class OperatorSchemas {
 public:
  /// All overloads of an operator `name::space`; none if there is no such operator.
  using Find = std::function<std::vector<Schema>(const std::string& name)>;

  explicit OperatorSchemas(Find find) : find_(std::move(find)) {}

  /// Of each input whether an overload that fits writes to it; nullopt if none fits.
  std::optional<std::vector<bool>> written(std::string_view name,
                                           std::span<const ObservedInput> inputs);

 private:
  Find find_;
  std::unordered_map<std::string, std::vector<Schema>> known_;
};

}  // namespace tbtrace::recorder
