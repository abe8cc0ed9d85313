import assert from "node:assert/strict";
import { test } from "node:test";
import { noChromium } from "../test/support/chromium.ts";
import { type FigureGroup, figureGroups, measureAll } from "./figures/index.ts";
import { readOptions } from "./options.ts";
import { figure, ratioFigure, table } from "./report.ts";
import { testSizes } from "./sizes.ts";

test("every figure of the bench runs on next to no data", async () => {
  // The web figures need a browser, which npm has for Linux x64 only.
  const only = new Set<FigureGroup>(figureGroups.filter((group) => group !== "web" || noChromium === false));
  const figures = await measureAll({ sizes: testSizes, only, folder: null });
  const names = figures.map(({ name }) => name);
  assert.deepEqual(names.length, new Set(names).size, "two figures have the same name");
  assert.ok(figures.length > 60, `${figures.length} figures`);
  for (const { name, ratio, baseline } of figures)
    if (baseline !== null) assert.ok(ratio !== null && Number.isFinite(ratio), `${name}: ${ratio}`);
});

test("the table names figure, measured value, baseline, ratio and target", () => {
  const compared = { subject: 2, baseline: 4, ratio: 0.5, min: 0.4, max: 0.6 };
  const text = table([
    ratioFigure("list", "/s", compared, { min: 0.8 }),
    figure("start", 2.5, "2.5 s", " s", { max: 10 }),
  ]);
  assert.deepEqual(
    text.split("\n").map((line) => line.trim().split(/ {2,}/)),
    [
      ["figure", "measured", "baseline", "ratio", "target"],
      ["------", "--------", "--------", "-----", "-------", "------"],
      ["list", "2.00/s", "4.00/s", "0.50", ">= 0.8", "MISSED"],
      ["start", "2.5 s", "-", "-", "<= 10 s", "ok"],
    ],
  );
});

test("the options: --quick is smaller, and a wrong group or number is refused", () => {
  const quick = readOptions(["--quick", "--only", "list,web"]);
  assert.ok(quick !== "help");
  assert.deepEqual([quick.sizes.recordings, [...quick.only]], [50_000, ["list", "web"]]);
  assert.throws(() => readOptions(["--only", "lists"]), /--only takes some of/);
  assert.throws(() => readOptions(["--rounds", "0"]), /whole number of at least 1/);
});
