// Compares every value of every table of the page with the command line's JSON, by the page's own modules.
//
// usage: node figures_test.mjs --tbtrace PATH [--expect N] FILE...
//
// Each table names the command that prints it. Fails with what differs; --expect: how many values are compared at
// least, so that a test that shrinks fails.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";

import { readDocument, unpackSection } from "../../../web/data/section.js";
import { recordsOf } from "../../../web/data/table.js";

const INPUTS = [];
let program = "tbtrace";
let expected = 0;
for (let at = 2; at < process.argv.length; at++) {
  if (process.argv[at] === "--tbtrace") program = process.argv[++at];
  else if (process.argv[at] === "--expect") expected = Number(process.argv[++at]);
  else INPUTS.push(process.argv[at]);
}

function run(args, mayFail = false) {
  try {
    return execFileSync(program, args, { encoding: "utf8", maxBuffer: 1 << 30, stdio: ["ignore", "pipe", "ignore"] });
  } catch (failure) {
    if (mayFail) return failure.stdout;
    throw failure;
  }
}

// What stands for a value in a comparison: numbers beyond 2^53 as the double that JSON.parse makes of them.
function comparable(value, column) {
  if (value === null || value === undefined) return null;
  if (column.type === "integer") return Number(value);
  return value;
}

// Whether a text or list of the page is the whole one, or its cut beginning.
function isSame(shown, whole) {
  if (isDeepStrictEqual(shown, whole)) return true;
  if (typeof shown !== "string" || !shown.endsWith("…")) return false;
  const begin = shown.slice(0, -1);
  if (typeof whole === "string") return whole.startsWith(begin);
  return JSON.stringify(whole).replaceAll(/\s/g, "").startsWith(begin.replaceAll(/\s/g, ""));
}

let compared = 0;

function compareRow(columns, shown, whole, where) {
  for (const column of columns) {
    if (!(column.key in whole)) continue;
    compared++;
    const value = comparable(shown[column.key], column);
    if (isSame(value, whole[column.key])) continue;
    // A column of lists: the command line has the list, the page its text.
    if (typeof value === "string" && isSame(tryJson(value), whole[column.key])) continue;
    if (typeof value === "string" && value === JSON.stringify(whole[column.key])) continue;
    throw new Error(`${where}: ${column.key} is ${JSON.stringify(value)}, not ${JSON.stringify(whole[column.key])}`);
  }
}

function tryJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function compareTable(table, input, where) {
  const [, ...args] = table.command.split(" ");
  const mayFail = args[0] === "check"; // which ends with 1 if it found anything
  const text = run([args[0], input, ...args.slice(1), "--format", "json", "--row-limit", "-1", "-q"], mayFail);
  const whole = JSON.parse(text);
  if (args[0] === "check") {
    // The page reads more arguments, and so may find more that cannot be read.
    whole.rows = whole.rows.filter((row) => row.id !== "argument_unreadable");
    const kept = recordsOf(table).filter((row) => row.id !== "argument_unreadable");
    if (whole.rows.length !== kept.length) throw new Error(`${where}: ${kept.length} rows, not ${whole.rows.length}`);
    kept.forEach((row, at) => compareRow(table.columns.filter((column) => column.key !== "input"), row, whole.rows[at],
                                         `${where}, row ${at}`));
    return;
  }
  if (table.empty !== null && table.columns.length === 0) return; // by what was not recorded
  if (whole.rows.length !== table.rows + table.left_out) {
    throw new Error(`${where}: ${table.rows} rows and ${table.left_out} more, not ${whole.rows.length}`);
  }
  for (const [name, value] of Object.entries(table.totals)) {
    if (!(name in (whole.totals ?? {}))) continue;
    compared++;
    if (!isDeepStrictEqual(Number(value), Number(whole.totals[name]))) {
      throw new Error(`${where}: total of ${name} is ${value}, not ${whole.totals[name]}`);
    }
  }
  const columns = table.columns.filter((column) => column.key !== "input");
  if (table.is_curve && table.left_out > 0) {
    const all = new Map(whole.rows.map((row) => [JSON.stringify([row.at_ns, row.device, row.allocated_bytes, row.process]), row]));
    for (const row of recordsOf(table)) {
      compareRow(columns, row, all.get(JSON.stringify([row.at_ns, row.device, row.allocated_bytes, row.process])) ?? {}, where);
    }
  } else {
    recordsOf(table).forEach((row, at) => compareRow(columns, row, whole.rows[at], `${where}, row ${at}`));
  }
}

function compareSummary(view, input, where) {
  const whole = JSON.parse(run(["summary", input, "--format", "json", "-q"]));
  for (const table of view.tables) {
    recordsOf(table).forEach((row, at) => {
      const columns = table.columns.filter((column) => column.key !== "input");
      compareRow(columns, row, whole[table.name][at], `${where} ${table.name} ${at}`);
    });
    if (table.rows !== whole[table.name].length) throw new Error(`${where}: ${table.name} has other rows`);
  }
}

function compareStacks(stacks, input, where) {
  const weights = { cpu: "self_cpu_time_total", device: "self_device_time_total", memory: "cpu_memory" };
  const folded = run(["flamegraph", input, "--format", "folded", "--weight", weights[stacks.name], "-q"]);
  const sum = folded.split("\n").filter(Boolean).reduce((all, line) => all + Number(line.slice(line.lastIndexOf(" "))), 0);
  const own = stacks.self.reduce((all, weight) => all + weight, 0);
  compared++;
  if (sum !== stacks.total || own !== stacks.total) throw new Error(`${where}: ${stacks.total}, ${own} and ${sum}`);
}

const folder = mkdtempSync(join(tmpdir(), "tbtrace-page-"));
try {
  for (const input of INPUTS) {
    const page = join(folder, "report.html");
    let html = "";
    // The plugin's figures are in a page only if they are named.
    for (const views of [[], ["--views", "plugin"]]) {
      run(["report", input, "-o", page, "--overwrite", "--limit", "20MB", "-q", ...views]);
      html += readFileSync(page, "utf8");
    }
    for (const [, id, data] of html.matchAll(/<script type="text\/plain" id="view-0-(\w+)">([^<]*)<\/script>/g)) {
      if (id === "timeline") continue;  // timeline_test.py
      const view = readDocument(await unpackSection(data), ["tbtrace.view/1"]);
      const where = `${input}: ${id}`;
      if (id === "summary") compareSummary(view, input, where);
      else for (const table of view.tables) compareTable(table, input, `${where} ${table.name}`);
      for (const stacks of view.stacks) compareStacks(stacks, input, `${where} ${stacks.name}`);
    }
  }
} finally {
  rmSync(folder, { recursive: true });
}
console.log(`${compared} values of ${INPUTS.length} traces are those of the command line`);
if (compared < expected) throw new Error(`fewer than ${expected}`);
