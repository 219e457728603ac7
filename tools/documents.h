// What is made from the descriptions of verbs at build time: a man page, docs/commands.md,
// completions for shells.
// Pure functions; the same descriptions give the same bytes.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "command.h"

namespace tbtrace::tools {

/// For man(1), as roff.
std::string man_page(std::span<const Command> commands, std::string_view version);

/// docs/commands.md.
std::string command_reference(std::span<const Command> commands);

std::string bash_completion(std::span<const Command> commands);
std::string zsh_completion(std::span<const Command> commands);
std::string fish_completion(std::span<const Command> commands);

}  // namespace tbtrace::tools
