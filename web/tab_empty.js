// The tab without a trace: what to do about it.
import { h } from "./parts/dom.js";
import { shellWord } from "./data/table_export.js";
import { problemList } from "./tab_dialogs.js";

/**
 * @param {string} text of several lines
 * @returns {HTMLElement}
 */
function sample(text) {
  return h("pre", { class: "code sample", tabindex: 0 }, text);
}

/**
 * @param {string} logdir
 * @param {import("./data/runs.js").RunProblem[]} problems of the log directory
 * @returns {HTMLElement}
 */
export function emptyPage(logdir, problems) {
  return h("div", { class: "empty-page" },
    h("h1", null, "No trace yet"),
    h("p", null, "The log directory ", h("code", null, logdir), " has no trace of PyTorch's profiler. " +
      "This page shows the first one as soon as it is written. There are three ways to get one."),
    problems.length ? h("div", { class: "notes" }, problemList(problems)) : null,
    h("h2", null, "Record a Python program"),
    sample("from torch.profiler import profile, schedule, tensorboard_trace_handler\n\n" +
      "with profile(\n    schedule=schedule(wait=1, warmup=1, active=3),\n" +
      `    on_trace_ready=tensorboard_trace_handler(${JSON.stringify(logdir)}),\n` +
      "    record_shapes=True, profile_memory=True, with_stack=True,\n) as profiler:\n" +
      "    for batch in batches:\n        train(batch)\n        profiler.step()"),
    h("h2", null, "Record a C++ program"),
    sample("#include <tbtrace/profiler.h>\n\n" +
      "tbtrace::Profiler profiler({\n    .schedule = tbtrace::schedule({.wait = 1, .warmup = 1, .active = 3}),\n" +
      `    .on_trace_ready = tbtrace::tensorboard_trace_handler(${JSON.stringify(logdir)}),\n});\n` +
      "auto recording = profiler.record();\nfor (const auto& batch : batches) {\n  train(batch);\n  profiler.step();\n}"),
    h("h2", null, "Take traces that you have"),
    sample(`tbtrace convert TRACE_OR_FOLDER -o ${shellWord(logdir)}`));
}
