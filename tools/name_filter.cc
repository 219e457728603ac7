#include "name_filter.h"

#include <memory>

#include <re2/re2.h>

namespace tbtrace::tools {

Result<std::function<bool(std::string_view name)>> name_filter(const std::string& expression) {
  RE2::Options options;
  options.set_log_errors(false);
  const auto compiled = std::make_shared<const RE2>(expression, options);
  if (!compiled->ok()) return Status(StatusCode::invalid_argument, compiled->error());
  return std::function<bool(std::string_view)>([compiled](std::string_view name) {
    return compiled->Match(re2::StringPiece(name.data(), name.size()), 0, name.size(),
                           RE2::UNANCHORED, nullptr, 0);
  });
}

}  // namespace tbtrace::tools
