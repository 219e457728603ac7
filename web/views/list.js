// The views that draw more than tables. All others are drawn by tablesOf().
import { renderSummary } from "./summary.js";
import { renderGpu } from "./gpu.js";
import { renderChecks } from "./checks.js";
import { renderFlameGraph } from "./flame_graph.js";
import { renderMemory } from "./memory.js";
import { renderFlops } from "./flops.js";
import { renderSteps } from "./steps.js";
import { renderOperators } from "./operators.js";
import { renderKernels } from "./kernels.js";
import { renderLines } from "./lines.js";
import { renderModel } from "./model.js";
import { renderTimeline } from "./timeline.js";
import { tablesOf } from "../parts/sections.js";

/**
 * @typedef {(view: import("../data/source.js").View, page: import("../data/source.js").Page)
 *   => HTMLElement} Renderer
 */

/**
 * @param {string} name of a view
 * @returns {Renderer}
 */
export function rendererOf(name) {
  switch (name) {
    case "summary": return renderSummary;
    case "gpu": return renderGpu;
    case "checks": return renderChecks;
    case "flame_graph": return renderFlameGraph;
    case "memory": return renderMemory;
    case "flops": return renderFlops;
    case "steps": return renderSteps;
    case "operators": return renderOperators;
    case "kernels": return renderKernels;
    case "lines": return renderLines;
    case "model": return renderModel;
    case "timeline": return renderTimeline;
    default: return tablesOf;
  }
}
