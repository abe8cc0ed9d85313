import assert from "node:assert/strict";
import { test } from "node:test";
import { parseScrape } from "./prometheus.ts";

const histogram = (...lines: string[]): string =>
  ["# HELP h help", "# TYPE h histogram", ...lines, ""].join("\n");

test("the parser reads metadata, labels with escapes, and histograms", () => {
  const scrape = parseScrape(
    [
      "# HELP a_total A \\\\ help\\nof two lines",
      "# TYPE a_total counter",
      'a_total{path="a\\"b\\\\c\\nd",other="ü"} 3',
      "# HELP h help",
      "# TYPE h histogram",
      'h_bucket{le="0.1"} 1',
      'h_bucket{le="+Inf"} 2',
      "h_sum 1.5e-1",
      "h_count 2",
      "",
    ].join("\n"),
  );
  assert.equal(scrape.families.get("a_total")?.help, "A \\ help\nof two lines");
  assert.equal(scrape.value("a_total", { other: "ü", path: 'a"b\\c\nd' }), 3);
  assert.equal(scrape.value("h_sum"), 0.15);
});

for (const [problem, text] of Object.entries({
  "must end with a line feed": "# HELP a A\n# TYPE a gauge\na 1",
  "without TYPE": "a 1\n",
  "without HELP": "# TYPE a gauge\na 1\n",
  "unknown type": "# HELP a A\n# TYPE a number\na 1\n",
  "second TYPE": "# HELP a A\n# TYPE a gauge\n# TYPE a gauge\na 1\n",
  "one group": "# HELP a A\n# TYPE a gauge\na 1\n# HELP b B\n# TYPE b gauge\n# HELP a A\n",
  "duplicate series": '# HELP a A\n# TYPE a gauge\na{x="1",y="2"} 1\na{y="2",x="1"} 2\n',
  "invalid value": "# HELP a A\n# TYPE a gauge\na one\n",
  "invalid metric name": "# HELP a A\n# TYPE a gauge\n1a 1\n",
  "invalid label": "# HELP a A\n# TYPE a gauge\na{x=1} 1\n",
  "a label twice": '# HELP a A\n# TYPE a gauge\na{x="1",x="2"} 1\n',
  "invalid escape": '# HELP a A\n# TYPE a gauge\na{x="\\t"} 1\n',
  "separated by commas": '# HELP a A\n# TYPE a gauge\na{x="1"y="2"} 1\n',
  "must be 0 or more": "# HELP a A\n# TYPE a counter\na -1\n",
  "last bucket must be": histogram('h_bucket{le="1"} 1', "h_sum 1", "h_count 1"),
  "must equal _count": histogram('h_bucket{le="+Inf"} 1', "h_sum 1", "h_count 2"),
  "increasing order": histogram(
    'h_bucket{le="2"} 1',
    'h_bucket{le="1"} 1',
    'h_bucket{le="+Inf"} 1',
    "h_sum 1",
    "h_count 1",
  ),
  "must be cumulative": histogram('h_bucket{le="1"} 2', 'h_bucket{le="+Inf"} 1', "h_sum 1", "h_count 1"),
  "needs _sum and _count": histogram('h_bucket{le="+Inf"} 1', "h_sum 1"),
})) {
  test(`the parser refuses a scrape: ${problem}`, () => {
    assert.throws(() => parseScrape(text), new RegExp(problem.replace(/[+]/g, "\\+")));
  });
}
