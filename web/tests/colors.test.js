// Colours of categories that stand side by side differ, also as colour-blind people see them, in both themes.
//
// Simulation: Machado, Oliveira, Fernandes, "A physiologically-based model for simulation of color vision deficiency",
// 2009, severity 1, in linear RGB. Distance: Euclidean in OKLab (Ottosson, 2020); about 0.02 is just noticeable.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const styles = readFileSync(new URL("../style.css", import.meta.url), "utf8");
const darkAt = styles.indexOf(":root[data-theme=\"dark\"]");
const themes = { light: styles.slice(0, darkAt), dark: styles.slice(darkAt) };
const colorOf = (theme, name) => {
  const pattern = new RegExp(`--${name}: (#[0-9a-f]{6});`);
  return (pattern.exec(themes[theme]) ?? pattern.exec(styles))[1];
};

const eyes = {
  usual: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
  tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
};
const linear = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255)
  .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
const seen = (eye, hex) => eyes[eye].map((row) => Math.max(0, Math.min(1, row.reduce((sum, part, at) => sum + part * linear(hex)[at], 0))));
function lab([r, g, b]) {
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s, 1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
          0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s];
}
const distance = (eye, one, other) => {
  const [a, b] = [one, other].map((hex) => lab(seen(eye, hex)));
  return Math.hypot(...a.map((part, at) => part - b[at]));
};
const contrast = (one, other) => {
  const [low, high] = [one, other].map((hex) => linear(hex)).map(([r, g, b]) => 0.2126 * r + 0.7152 * g + 0.0722 * b).sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
};

/** Each with each other one. */
const together = {
  "what a device does": ["kernel", "communication", "memcpy"],
  "what a host does": ["op", "python", "module", "runtime", "data"],
  "phases of a step": ["forward", "backward", "optimizer", "data"],
};
/** Each with the next one: parts of a rank's step, as they are stacked. */
const stacked = ["computation", "communication", "backward", "op", "runtime", "memory", "optimizer"];

test("the simulation leaves grey as it is, and makes red and green alike", () => {
  for (const eye of Object.keys(eyes)) assert.ok(distance(eye, "#808080", "#808080") === 0 && Math.hypot(...lab(seen(eye, "#808080")).slice(1)) < 0.01, eye);
  assert.ok(distance("usual", "#c04040", "#407a20") > 0.2);
  assert.ok(distance("deuteranopia", "#c04040", "#407a20") < 0.5 * distance("usual", "#c04040", "#407a20"));
});

test("categories that stand side by side differ for all eyes", () => {
  for (const theme of Object.keys(themes)) {
    for (const eye of Object.keys(eyes)) {
      for (const [what, names] of Object.entries(together)) {
        names.forEach((one, at) => names.slice(at + 1).forEach((other) => {
          const away = distance(eye, colorOf(theme, one), colorOf(theme, other));
          assert.ok(away >= 0.06, `${what}, ${theme}, ${eye}: ${one} and ${other} are ${away.toFixed(3)} apart`);
        }));
      }
      stacked.slice(1).forEach((other, at) => {
        const away = distance(eye, colorOf(theme, stacked[at]), colorOf(theme, other));
        assert.ok(away >= 0.06, `parts of a step, ${theme}, ${eye}: ${stacked[at]} and ${other} are ${away.toFixed(3)} apart`);
      });
    }
  }
});

test("texts on them can be read", () => {
  for (const theme of Object.keys(themes)) {
    for (const name of new Set([...Object.values(together).flat(), ...stacked])) {
      const ratio = contrast(colorOf(theme, name), colorOf(theme, "on-fill"));
      assert.ok(ratio >= 4.5, `${theme}, ${name}: ${ratio.toFixed(2)}`);
    }
  }
});
