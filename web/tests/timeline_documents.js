// Timelines for tests, written by an encoder of their own: value by value, byte by byte.

/** Numbers that look random and are the same each time. */
export function randomNumbers(seed) {
  let state = seed >>> 0 || 1;
  return (below) => {
    state ^= state << 13; state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5; state >>>= 0;
    return state % below;
  };
}

/** Bytes of one column, and its description. Values are BigInt or Number. */
export function encodedColumn(name, values, { delta = "none", signed = false, planes, tracks = [] } = {}) {
  const starts = new Set();
  let place = 0;
  for (const count of tracks) {
    starts.add(place);
    place += count;
  }
  let before = 0n;
  const stored = values.map((value, i) => {
    if (delta === "track" && starts.has(i)) before = 0n;
    let part = BigInt(value);
    if (delta !== "none") {
      part -= before;
      before = BigInt(value);
    }
    if (signed) part = part >= 0n ? part * 2n : -part * 2n - 1n;
    if (part < 0n) throw new Error(`${name} needs a sign`);
    return part;
  });
  let most = stored.reduce((most, value) => value > most ? value : most, 0n);
  let needed = 0;
  for (; most > 0n; most >>= 8n) needed++;
  planes ??= needed;
  const bytes = [];
  for (let plane = 0; plane < planes; plane++) {
    for (const value of stored) bytes.push(Number((value >> BigInt(8 * plane)) & 255n));
  }
  return { column: { name, count: values.length, planes, delta, signed }, bytes };
}

/** The line of each range of a track as the format says: one below the lowest that is open. */
export function rowsOf(ranges) {
  const rows = [];
  ranges.forEach((range, i) => {
    let row = 0;
    for (let other = 0; other < i; other++) {
      if (ranges[other].start + ranges[other].duration > range.start) {
        row = Math.max(row, rows[other] + 1);
      }
    }
    rows.push(row);
  });
  return rows;
}

/**
 * A document of tracks with ranges {start, duration, name, category}; flows are pairs of ranges
 * [track, place, track, place]. In the order of the format: by start, then the longer first.
 */
export function timelineDocument(tracks, { unit = 1, origin = 0, flows = {}, more = {} } = {}) {
  const sorted = tracks.map((track) => [...track.ranges].sort((a, b) =>
    a.start - b.start || b.duration - a.duration));
  const counts = sorted.map((ranges) => ranges.length);
  const all = sorted.flat();
  const names = [];
  const numbers = all.map((range) => {
    const key = `${range.category ?? "cpu_op"}\n${range.name}`;
    if (!names.includes(key)) names.push(key);
    return names.indexOf(key);
  });
  const categories = [...new Set(names.map((key) => key.split("\n")[0]))];
  const rows = sorted.map(rowsOf);
  const columns = [
    encodedColumn("start", all.map((range) => (range.start - origin) / unit), { delta: "track", tracks: counts }),
    encodedColumn("duration", all.map((range) => range.duration / unit)),
    encodedColumn("name", numbers),
    encodedColumn("row", rows.flat()),
  ];
  for (const [kind, pairs] of Object.entries(flows)) {
    const places = pairs.map(([from, to]) => [all.indexOf(from), all.indexOf(to)])
      .sort((a, b) => a[0] - b[0]);
    columns.push(encodedColumn(`${kind}.from`, places.map(([from]) => from), { delta: "previous" }),
                 encodedColumn(`${kind}.to`, places.map(([, to]) => to), { delta: "previous", signed: true }));
  }
  columns.push(...more.columns ?? []);
  const ends = all.map((range) => range.start + range.duration);
  return {
    schema: "tbtrace.timeline/1", view: "timeline", title: "Timeline", about: "", unit_ns: unit,
    origin_ns: origin, from_ns: Math.min(...all.map((range) => range.start)), to_ns: Math.max(...ends),
    window_ns: Math.max(...ends), part: null, ranges: all.length, left_out: 0, left_out_ns: 0,
    arguments_left_out: false, names_cut: 0,
    tracks: tracks.map((track, i) => ({
      name: track.name ?? `thread ${i}`, process: "python (1)", kind: track.kind ?? "thread",
      device: null, ranges: counts[i], rows: Math.max(0, ...rows[i].map((row) => row + 1)),
    })),
    names: names.map((key) => key.split("\n")[1]),
    categories: names.map((key) => categories.indexOf(key.split("\n")[0])),
    category_list: categories.map((name) => ({ name, kind: name })),
    steps: [], counters: [], flows: Object.entries(flows).map(([kind, pairs]) => ({ kind, count: pairs.length })),
    arguments: [], notes: [], empty: null, ...more.header,
    columns: columns.map(({ column }) => column),
    bytes: Uint8Array.from(columns.flatMap(({ bytes }) => bytes)),
  };
}

/** Tracks of ranges that are nested, cross each other, touch, and have no length. */
export function randomTracks(random, { tracks = 3, ranges = 60, long = 400 } = {}) {
  return Array.from({ length: tracks }, (_, track) => ({
    kind: track % 2 ? "stream" : "thread",
    ranges: Array.from({ length: random(ranges) + (track === 0 ? 1 : 0) }, () => ({
      start: random(long), duration: [0, random(4), random(40), random(long)][random(4)],
      name: `name ${random(9)}`, category: ["cpu_op", "kernel"][track % 2],
    })),
  }));
}
