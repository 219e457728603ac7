// Documents that are generated from the verbs' descriptions at build time: a man page,
// docs/commands.md, shell completions.
// The same descriptions give the same bytes.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "command.h"

namespace tbtrace::tools {

/// In roff, for man(1).
std::string man_page(std::span<const Command> commands, std::string_view version);

/// docs/commands.md.
std::string command_reference(std::span<const Command> commands);

std::string bash_completion(std::span<const Command> commands);
std::string zsh_completion(std::span<const Command> commands);
std::string fish_completion(std::span<const Command> commands);

}  // namespace tbtrace::tools
