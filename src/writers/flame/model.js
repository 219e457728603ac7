// The data of an SVG's flame graph, as the model of the page. Texts of frames are hostile: they are only ever compared and
// set as text.
import { stackModel } from "../../../web/data/stacks.js";

// `text`: see data.h.
export function read_picture(text) {
  const data = JSON.parse(text);
  const texts = data.texts.split("\n").map((line, which) => {
    const name = line.replace(/\\[\\n]/g, (escape) => escape === "\\n" ? "\n" : "\\");
    const parts = data.labels[which];
    const labels = parts.length === 0 ? [name] : [];
    for (let part = 0; part < parts.length; part += 2) {
      labels.push(name.slice(parts[part], name.length - parts[part + 1]));
    }
    return { name, labels, color: "#" + data.colors.slice(6 * which, 6 * which + 6),
             is_ascii: /^[\x20-\x7e]*$/.test(name) };
  });
  const path = [];
  const parent = data.depths.map((depth, frame) => {
    path[depth] = frame;
    return depth === 0 ? 0 : frame - path[depth - 1];
  });
  const stacks = { texts: [], frame: data.frames, parent, self: data.selves.map(Number) };
  // Totals and selves are numbers, or texts where a number would not be exact.
  return { unit: data.unit, texts, names: texts.map((one) => one.name), totals: data.totals, selves: data.selves,
           difference: read_difference(data.difference),
           model: stackModel(stacks, "given", Float64Array.from(data.totals, Number)) };
}

// What a picture of a difference has by frame; null for others.
function read_difference(data) {
  if (data === undefined) return null;
  return {
    whole: data.whole, of_whole: data.is_per_step ? " of the step" : " of the total",
    palette: data.palette.match(/.{6}/g).map((color) => "#" + color),
    shades: data.shades, sides: data.sides, was: data.was,
    bases: data.bases.map(Number), news: data.news.map(Number),
    base_selves: data.base_selves.map(Number), new_selves: data.new_selves.map(Number),
  };
}

// What the matching frames took on both sides, those inside matching frames not counted again.
export function difference_of_matches(model, difference, matches) {
  const sum = { base: 0, now: 0 };
  for (let frame = 1; frame < model.size;) {
    if (matches[frame] === 0) {
      ++frame;
      continue;
    }
    sum.base += difference.bases[frame];
    sum.now += difference.news[frame];
    frame = model.end[frame];
  }
  return sum;
}
