// The modules can be joined into one script, and none makes markup or code of a text.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const web = join(dirname(fileURLToPath(import.meta.url)), "..");
/** A path from the folder of another file, or else from the page's. */
const pathOf = (file, from) => relative(web, join(web, dirname(file), from));
const listOf = (name) => readFileSync(join(web, name), "utf8").split("\n").filter(Boolean).map((file) => pathOf(name, file));
const shared = listOf("modules.txt");
const ofRanks = listOf("modules_ranks.txt");
/** By page, the modules of its script in their order. */
const pages = new Map([["report", [...shared, ...ofRanks, ...listOf("modules_report.txt")]],
                       ["compare", [...shared, ...listOf("modules_compare.txt")]],
                       ["drop", listOf("modules_drop.txt")],
                       ["tab", [...shared, ...ofRanks, ...listOf("modules_tab.txt")]],
                       ["svg", listOf("../src/writers/flame/modules.txt")]]);
const modules = [...new Set([...pages.values()].flat())];
const texts = new Map(modules.map((name) => [name, readFileSync(join(web, name), "utf8")]));

/** Without comments. */
const codeOf = (name) => texts.get(name).replaceAll(/\/\*[^]*?\*\//g, "").replaceAll(/^ *\/\/.*$/gm, "");

test("the lists name every module once", () => {
  const folders = [".", "compare", "data", "drop", "flame", "parts", "ranks", "timeline", "views", "../src/writers/flame"];
  const files = folders.flatMap((folder) => readdirSync(join(web, folder))
    .filter((file) => file.endsWith(".js")).map((file) => join(folder, file)));
  assert.deepEqual([...modules].sort(), files.sort());
  for (const [page, list] of pages) assert.equal(new Set(list).size, list.length, page);
});

test("a module imports only what stands before it", () => {
  for (const list of pages.values()) {
    list.forEach((name, place) => {
      for (const [, from] of codeOf(name).matchAll(/from "(.*?)"/g)) {
        const used = pathOf(name, from);
        assert.ok(list.indexOf(used) >= 0 && list.indexOf(used) < place, `${name} imports ${used}`);
      }
    });
  }
});

test("imports and exports have the form that joining replaces", () => {
  for (const name of modules) {
    const left = codeOf(name).replaceAll(/^import \{[^}]*\} from "\.[^"]*";/gm, "")
      .replaceAll(/^export (function|async function|const|class) /gm, "$1 ");
    assert.ok(!/^\s*(import|export)\b/m.test(left), name);
    assert.ok(!/\bas\b.*\} from/.test(codeOf(name)), `${name} renames what it imports`);
  }
});

test("no module makes markup or code of a text", () => {
  const banned = /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|setAttribute\("style"/;
  for (const name of modules) assert.ok(!banned.test(codeOf(name)), name);
});

test("only the tab reaches for the network, at one place", () => {
  const reaching = modules.filter((name) => /fetch\(|XMLHttpRequest|WebSocket/.test(codeOf(name)));
  assert.deepEqual(reaching, ["data/http_source.js"]);
  assert.ok(!pages.get("report").includes("data/http_source.js"));
});
