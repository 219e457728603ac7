import test from "node:test";
import assert from "node:assert/strict";
import { countOf, exactValue, formatJson, formatValue, framesOf, labelOf, meaningParts, shownUnit,
         unitOf } from "../parts/format.js";

/** With plain blanks, so that the expected texts can be read. */
const shown = (value, unit) => formatValue(value, unit).replace(/[\u202f\u00a0]/g, " ");

test("Times have the unit that fits", () => {
  assert.equal(shown(0, "ns"), "0 ns");
  assert.equal(shown(45, "ns"), "45 ns");
  assert.equal(shown(999, "ns"), "999 ns");
  assert.equal(shown(1500, "ns"), "1.50 \u00b5s");
  assert.equal(shown(12345678, "ns"), "12.3 ms");
  assert.equal(shown(999960, "ns"), "1.00 ms");
  assert.equal(shown(61e9, "ns"), "61.0 s");
  assert.equal(shown(4521e9, "ns"), "4 521 s");
  assert.equal(shown(-1500, "ns"), "\u22121.50 \u00b5s");
  assert.equal(shown(0.25, "ns"), "0.25 ns");
  assert.equal(shown(1500, "us"), "1.50 ms");
});

test("Bytes, rates and shares", () => {
  assert.equal(shown(512, "bytes"), "512 B");
  assert.equal(shown(1536, "bytes"), "1.50 KiB");
  assert.equal(shown(3 * 2 ** 30, "bytes"), "3.00 GiB");
  assert.equal(shown(-64, "bytes"), "\u221264 B");
  assert.equal(shown(1.234e12, "per_s"), "1.23 T/s");
  assert.equal(shown(12, "per_s"), "12 /s");
  assert.equal(shown(45.12, "percent"), "45.1 %");
  assert.equal(shown(0.4512, "share"), "45.1 %");
  assert.equal(shown(0, "share"), "0.0 %");
  assert.equal(shown(0.00001, "share"), "< 0.1 %");
});

test("Counts, flags, texts and missing values", () => {
  assert.equal(shown(1234567), "1 234 567");
  assert.equal(shown("18446744073709551615"), "18 446 744 073 709 551 615");
  assert.equal(shown(0.5), "0.50");
  assert.equal(shown(1234.5), "1 235");
  assert.equal(shown(null, "ns"), "\u2013");
  assert.equal(shown(true), "yes");
  assert.equal(shown("name"), "name");
  assert.equal(countOf(1, "row"), "1 row");
  assert.equal(countOf(2, "row"), "2 rows");
});

test("Exact values have all digits and their unit", () => {
  assert.equal(exactValue(12345678, "ns"), "12345678 ns");
  assert.equal(exactValue("9007199254740993", "bytes"), "9007199254740993 bytes");
  assert.equal(exactValue(0.123456789, "share"), "0.123456789");
  assert.equal(exactValue(null, "ns"), "");
  assert.equal(exactValue("name", ""), "name");
});

test("Names of columns are words", () => {
  assert.equal(labelOf("total_ns"), "total");
  assert.equal(labelOf("self_cpu_time_total_ns"), "self CPU time");
  assert.equal(labelOf("device_memory_usage_bytes"), "GPU memory");
  assert.equal(labelOf("self_device_time_total_ns"), "self GPU time");
  assert.equal(labelOf("device_type"), "device type");
  assert.equal(labelOf("cpu_op_ns"), "CPU operators");
  assert.equal(labelOf("unphased_ns"), "no phase");
  assert.equal(labelOf("share_percent"), "share %");
  assert.equal(labelOf("busy_share"), "busy share");
  assert.equal(labelOf("gpu"), "GPU");
  assert.equal(labelOf("bytes"), "bytes");
  assert.equal(labelOf("key"), "name");
  assert.equal(unitOf("peak_bytes"), "bytes");
  assert.equal(unitOf("count"), "");
  assert.equal(unitOf("bytes"), "bytes");
  assert.equal(unitOf("backward_macs"), "flop");
  assert.equal(unitOf("flops_per_byte"), "");
});

test("Operations have a prefix, and all digits in exact values", () => {
  assert.equal(shown(684654321, "flop"), "684.7 M");
  assert.equal(shown(999999999, "flop"), "1.0 G");
  assert.equal(shown(999, "flop"), "999");
  assert.equal(exactValue(684654321, "flop"), "684654321");
});

test("Meanings have no marks, and units as shown", () => {
  assert.deepEqual(meaningParts({ unit: "share", meaning: "`busy_ns` of `cuda:0`, 0 to 1" }),
                   ["", "busy", " of ", "cuda:0", ""]);
  assert.equal(shownUnit("share"), "%");
  assert.deepEqual(framesOf("[\"a\", \"b\"]"), ["a", "b"]);
  assert.equal(framesOf("[cut\u2026"), null);
});

test("Shapes are short, other JSON stays", () => {
  assert.equal(formatJson("[[1, 2], []]"), "[1, 2] []");
  assert.equal(formatJson("[128, 1, 1]"), "[128, 1, 1]");
  assert.equal(formatJson("{\"a\": 1}"), "{\"a\": 1}");
  assert.equal(formatJson("[cut\u2026"), "[cut\u2026");
});
