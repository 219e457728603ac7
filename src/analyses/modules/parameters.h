// How many parameters the modules of a trace have.
// Pure function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <tbtrace/modules.h>
#include <tbtrace/trace.h>

#include "analyses/modules/places.h"
#include "analyses/modules/work_places.h"

namespace tbtrace::analyses {

struct PlaceParameters {
  /// Elements of a place's own parameters; place 0 is outside of all modules. nullopt: unknown.
  std::vector<std::optional<std::uint64_t>> by_place;
  ParameterSource source = ParameterSource::none;
  std::optional<std::uint64_t> bytes = {};      ///< of all; nullopt: of unknown types
  std::optional<std::uint64_t> trainable = {};  ///< elements that got gradients
};

/// The first of these that the trace has:
///
///   - the number that the recorder noted with each frame (`Module parameters`)
///   - the shapes that gradients were added to: each parameter's gradient is added once per
///   backward
///     pass, so of each shape the most that any pass has; a pass begins where autograd's sequence
///     numbers go up
///   - the shapes of weights that operators took: of each shape the most that any call has
PlaceParameters parameters_by_place(const Trace& trace, const WorkPlaces& where,
                                    const ModulePlaces& modules, const CountsRange& counts);

}  // namespace tbtrace::analyses
