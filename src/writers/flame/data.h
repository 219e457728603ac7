// The frames of a flame graph as JSON, for the script of its SVG.
// Pure functions; any number of threads may call them.
// Any bytes are accepted as a name.
#pragma once

#include <string>
#include <string_view>

#include <tbtrace/flame_difference.h>

#include "writers/flame/layout.h"

namespace tbtrace::writers {

/// Appends one JSON object as the text of an XML element: markup in names is escaped, and what XML
/// cannot hold is replaced, as in append_xml_text().
///
///   unit     `ns` or `bytes`
///   texts    each different name once, in one text with a line for each; a backslash in a name is
///            `\\`, a line break `\n`; the first one is the root's
///   labels   by text, what to show of it from long to short: where each part begins, and how many
///            UTF-16 units are left out after it; an empty list for the whole text
///   colors   by text, six hexadecimal digits each
///   depths, frames, totals, selves
///            by box, in the order of the layout: its level, the number of its text, its weight
///            with and without that of the boxes on it; weights above 2^53 are texts
void append_flame_graph_data(std::string& xml, const FlameLayout& layout, std::string_view unit);

/// The same of a difference, whose nodes have the numbers of those of the layout. It has besides:
///
///   difference   `is_per_step`; `whole`; `palette`, six hexadecimal digits for each shade;
///                `shades`, a digit for each box; `sides`, by box: 0 both, 1 gone, 2 new; `bases`,
///                `news`, `base_selves`, `new_selves`, by box, in ns; `was`, by number of the box,
///                what the base calls it if that is another name
void append_difference_data(std::string& xml, const FlameLayout& layout,
                            const FlameDifference& difference);

/// `#rrggbb` of a box.
std::string box_color(const FlameBox& box);

}  // namespace tbtrace::writers
