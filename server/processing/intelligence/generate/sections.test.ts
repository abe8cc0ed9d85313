import assert from "node:assert/strict";
import { test } from "node:test";
import { toLines } from "./lines.ts";
import { provenPoints, renderPoints } from "./points.ts";
import { keepProven, proveFromNotes, proveFromTranscript } from "./proofs.ts";
import { indexQuotes } from "./quotes.ts";
import { safeLine, saidIn } from "./sanitize.ts";
import {
  isEmptySection,
  proveSection,
  renderMarkdown,
  renderText,
  type SectionData,
  toStoredSection,
} from "./sections.ts";

const said = saidIn(
  "Have a look at https://port.example/contract or write to anna@port.example, says Booking.com",
);

const table: [name: string, data: SectionData, markdown: string, text: string][] = [
  [
    "text",
    { kind: "text", text: "### Head\n\nA **b** `c`\n\n* d" },
    "### Head\n\nA **b** `c`\n\n* d",
    "Head\n\nA b c\n\n- d",
  ],
  ["text, empty", { kind: "text", text: "" }, "", ""],
  [
    "bullets",
    { kind: "bullets", items: ["One *two*", "snake_case_name"] },
    "- One *two*\n- snake_case_name",
    "- One two\n- snake_case_name",
  ],
  ["bullets, empty", { kind: "bullets", items: [] }, "", ""],
  [
    "checklist",
    {
      kind: "checklist",
      items: [
        { text: "a", checked: true },
        { text: "b", checked: false },
      ],
    },
    "- [x] a\n- [ ] b",
    "[x] a\n[ ] b",
  ],
  ["checklist, empty", { kind: "checklist", items: [] }, "", ""],
  [
    "table",
    {
      kind: "table",
      columns: ["a|b", "c"],
      rows: [
        ["1", "2 \\| 3"],
        ["", "4"],
      ],
    },
    "| a\\|b | c |\n| --- | --- |\n| 1 | 2 \\\\\\| 3 |\n|  | 4 |",
    "a|b | c\n1 | 2 \\| 3\n | 4",
  ],
  ["table, empty", { kind: "table", columns: [], rows: [] }, "", ""],
  [
    "question-answer",
    {
      kind: "question-answer",
      items: [
        { question: "Why *now*?", answer: "So." },
        { question: "When?", answer: "" },
      ],
    },
    "**Why \\*now\\*?**\n\nSo.\n\n**When?**\n\n",
    "Q: Why now?\nA: So.\n\nQ: When?\nA: ",
  ],
  ["question-answer, empty", { kind: "question-answer", items: [] }, "", ""],
];
for (const [name, data, markdown, text] of table) {
  test(`rendering: ${name}`, () => {
    assert.equal(renderMarkdown(data), markdown);
    assert.equal(renderText(data), text);
    assert.equal(isEmptySection(data), name.endsWith("empty"));
  });
}

const lines = toLines(
  ["We paint the boat in May.", "It costs $5 million, said the yard.", "Who pays? The port pays."].map(
    (text, index) => ({ start: index * 1000, speaker: "A", text }),
  ),
);
const fromTranscript = {
  from: "transcript",
  prove: proveFromTranscript(indexQuotes(lines), said),
  said,
} as const;
const paint = { quote: "we paint the boat", line: 1 };
const cost = { quote: "It costs $5 million", line: 2 };
const lies = [
  { quote: "We sink the boat in May", line: 1 },
  { quote: "", line: 1 },
  { quote: "It costs 5 million", line: 2 },
  { quote: "It costs $6 million", line: 2 },
];
const shown = { heading: null, quote: "we paint the boat", start: 0 };

test("points: without the words of the transcript they are left out and counted, the others keep their heading", () => {
  const { kept, unproven, beyond } = provenPoints(
    [
      { heading: "### **The boat**", text: "- It is *painted*.", ...paint },
      ...lies.map((lie) => ({ heading: null, text: `Proven by ${JSON.stringify(lie)}.`, ...lie })),
      { heading: "Money", text: "Nobody said so.", quote: "nobody has said so", line: 1 },
      { heading: null, text: "It costs $5 million.", ...cost, line: 99 },
      { heading: null, text: "It costs 5 million?", quote: "said the yard", line: 2 },
      { heading: null, text: "it is painted", ...paint },
      { heading: null, text: " ", ...paint },
    ],
    fromTranscript.prove,
    said,
  );
  assert.deepEqual(kept, [
    { ...shown, heading: "The boat", text: "It is *painted*." },
    { heading: "Money", text: "It costs $5 million.", quote: "It costs $5 million", start: 1000 },
    { heading: "Money", text: "It costs 5 million?", quote: "said the yard", start: 1000 },
  ]);
  assert.deepEqual([unproven, beyond], [5, 0]);
  assert.equal(
    renderPoints(kept),
    "### The boat\n\n- It is *painted*.\n\n### Money\n\n- It costs $5 million.\n- It costs 5 million?",
  );
});

test("points from notes: they have the proof of the note they name; a note that doesn't exist proves nothing", () => {
  const proof = { quote: "we paint the boat", start: 0 };
  const prove = proveFromNotes([{ text: "A paints the boat.", proof }]);
  const numbers = [1, 0, 2, -1, 1.5, Number.NaN, 1e300];
  const { kept, unproven } = keepProven(
    numbers.map((note) => ({ note })),
    9,
    prove,
    () => ({ text: "It is painted." }),
  );
  assert.deepEqual(kept, [{ text: "It is painted.", ...proof }]);
  assert.equal(unproven, 6);
  assert.equal(prove(paint), null);
  assert.equal(fromTranscript.prove({ note: 1 }), null);
});

for (const [kind, answer, data, texts] of [
  [
    "text",
    (proofs: object[]) => ({
      items: proofs.map((proof) => ({ heading: "Boat", text: "Paint it", ...proof })),
    }),
    { text: "### Boat\n\n- Paint it" },
    ["Paint it"],
  ],
  [
    "bullets",
    (proofs: object[]) => ({ items: proofs.map((proof) => ({ text: "a\nb", ...proof })) }),
    { items: ["a b"] },
    ["a b"],
  ],
  [
    "checklist",
    (proofs: object[]) => ({ items: proofs.map((proof) => ({ text: "a", checked: true, ...proof })) }),
    { items: [{ text: "a", checked: true }] },
    ["a"],
  ],
  [
    "table",
    (proofs: object[]) => ({
      columns: ["x", "y"],
      rows: proofs.map((proof) => ({ cells: ["1", "2", "3"], ...proof })),
    }),
    { columns: ["x", "y"], rows: [["1", "2"]] },
    ["1 | 2"],
  ],
  [
    "question-answer",
    (proofs: object[]) => ({ items: proofs.map((proof) => ({ question: "Why?", answer: "So.", ...proof })) }),
    { items: [{ question: "Why?", answer: "So." }] },
    ["Why? So."],
  ],
] as const) {
  test(`section of ${kind}: what no words of the transcript prove is left out and counted`, () => {
    const section = proveSection(kind, answer([...lies, paint]), fromTranscript);
    assert.deepEqual(section.data, { kind, ...data });
    assert.equal(section.unproven, lies.length);
    const points = texts.map((text) => ({ ...shown, text, heading: kind === "text" ? "Boat" : null }));
    assert.deepEqual(toStoredSection("T", section).points, points);
    const none = proveSection(kind, answer(lies), fromTranscript);
    assert.ok(isEmptySection(none.data));
    assert.deepEqual([none.points, none.unproven], [[], lies.length]);
  });
}

test("section data: rows as wide as the table, nothing empty, bounded, and what is cut is counted", () => {
  const rows = [["1"], ["1", "2", "3"], ["", ""], []].map((cells) => ({ cells, ...paint }));
  const table = proveSection("table", { columns: ["a", "b"], rows }, fromTranscript);
  assert.deepEqual(table.data, {
    kind: "table",
    columns: ["a", "b"],
    rows: [
      ["1", ""],
      ["1", "2"],
    ],
  });
  assert.equal(table.unproven, 0);
  const headless = proveSection("table", { columns: [], rows }, fromTranscript);
  assert.deepEqual(headless.data, { kind: "table", columns: [], rows: [] });
  const wide = proveSection("table", { columns: Array.from({ length: 25 }, String), rows }, fromTranscript);
  assert.equal(wide.columnsBeyond, 5);
  const bullets = (texts: string[]) =>
    proveSection("bullets", { items: texts.map((text) => ({ text, ...paint })) }, fromTranscript);
  assert.deepEqual(bullets(["a\nb", " ", "<b></b>"]).data, { kind: "bullets", items: ["a b"] });
  const many = bullets(Array.from({ length: 1100 }, (_, index) => `${index} ${"x".repeat(5000)}`));
  assert.ok(many.data.kind === "bullets" && many.data.items.length === 200);
  assert.equal(many.data.items[0]?.length, 2000);
  assert.equal(many.beyond, 900);
  assert.throws(() => proveSection("checklist", { items: ["a"] }, fromTranscript));
  assert.throws(() => proveSection("bullets", { items: [{ text: "without a proof" }] }, fromTranscript));
});

for (const [input, expected] of [
  ["Plain **bold** _text_ with `code`", "Plain **bold** _text_ with `code`"],
  ["1 < 2 and a > b & c", "1 < 2 and a > b & c"],
  ["<script>alert(1)</script>Hi", "Hi"],
  ["<ScRiPt src=x>Hi</sCrIpT >", ""],
  ["<img src=x onerror=alert(1)>Hi", "Hi"],
  ["<scr<script>ipt>alert(1)</scr</script>ipt>", ""],
  ["a <b onclick=x()>b</b> <!-- c --> d", "a b d"],
  ["&lt;img src=x onerror=alert(1)&gt;Hi", "Hi"],
  ["&amp;lt;img src=x&amp;gt;Hi", "Hi"],
  ["\\<script>alert(1)", "\\alert(1)"],
  ["<img src=x onerror=alert(1)", "&lt;img src=x onerror=alert(1)"],
  ["![track](https://evil.example/p.png?d=secret)", "track"],
  ["![a][b]\n[b]: https://evil.example/x", "a [b] : [link removed]"],
  ["[click](https://evil.example/login)", "click ([link removed])"],
  ["[click](javascript:alert(1))", /^click( \(\[link removed\]\))?\)?$/],
  ["[click](javascript&#58;alert(1))", /^click( \(\[link removed\]\))?\)?$/],
  ["[click](/logout)", "click"],
  ["[a](b](https://evil.example/c)", /^\[?a\b/],
  ["[a][b] and [c]", "a and [c]"],
  ["> [x]: https://evil.example 'y'", ""],
  ["<https://evil.example/a>", "[link removed]"],
  ["see https://evil.example/a?q=1.", "see [link removed]."],
  ["see HTTPS://EVIL.example", "see [link removed]"],
  ["see www.evil.example/a", "see [link removed]"],
  ["see evil.com/a?data=secret now", "see [link removed] now"],
  ["see secret.evil.com", "see [link removed]"],
  ["mailto:eve@evil.example", "[link removed]"],
  ["ask eve@evil.example", "ask [link removed]"],
  ["data:text/html,hi", "[link removed]"],
  ["ftp://evil.example/a", "[link removed]"],
  ["h\u200bttps://evil.example", "[link removed]"],
  ["htt<b></b>ps://evil.example", "[link removed]"],
  ["see https://port.example/contract.", "see https://port.example/contract."],
  ["[draft](https://port.example/contract)", "draft (https://port.example/contract)"],
  ["ask anna@port.example at Booking.com", "ask anna@port.example at Booking.com"],
  ["https://port.example/contract?steal=1", "[link removed]"],
  ["Node.js, e.g. v1.2 at 10:30, etc. 3.5 and/or", "Node.js, e.g. v1.2 at 10:30, etc. 3.5 and/or"],
  ["a\u202eb\u0000c", /^ab ?c$/],
] as const) {
  test(`safe text: ${JSON.stringify(input)}`, () => {
    const safe = safeLine(input, said);
    if (expected instanceof RegExp) assert.match(safe, expected);
    else assert.equal(safe, expected);
    assert.doesNotMatch(safe, /<[a-z/!?]|\]\(|\]\[|\]:|!\[|evil|javascript:/i);
    assert.equal(safeLine(safe, said), safe, "it stays as it is");
  });
}

test("safe text: made of pieces at random, it never holds a tag, a link or an address", () => {
  const pieces = [
    "<",
    ">",
    "[",
    "]",
    "(",
    ")",
    "!",
    ":",
    "\\",
    "/",
    "img",
    "a",
    "script",
    "https://e.com",
    "javascript:",
    "&lt;",
    "&#60;",
    "&#x3c;",
    "\n",
    " ",
    "`",
    "]:",
    "](",
    "e.com/x",
    "<!--",
    "-->",
    "&amp;",
  ];
  let seed = 1;
  const random = (): number => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  for (let round = 0; round < 20_000; round += 1) {
    const text = Array.from(
      { length: 1 + Math.floor(random() * 14) },
      () => pieces[Math.floor(random() * pieces.length)],
    ).join("");
    const safe = safeLine(text, said);
    assert.doesNotMatch(safe, /<[a-z/!?]|\]\(|\]\[|\]:|!\[|https:|e\.com/i, JSON.stringify(text));
  }
});

test("safe text: it is one line, which is cut at its length", () => {
  assert.equal(safeLine("a\nb", said), "a b");
  assert.equal(safeLine("x".repeat(50), said, 10), `${"x".repeat(9)}…`);
});

test("safe text: hostile lengths take no time", () => {
  for (const text of [
    "[".repeat(100_000),
    "<a ".repeat(50_000),
    "![".repeat(50_000),
    "a.".repeat(50_000),
    "&#".repeat(50_000),
    "[a](".repeat(30_000),
    "<!--".repeat(30_000),
    "<script".repeat(20_000),
    "a@a.".repeat(30_000),
  ]) {
    const began = performance.now();
    safeLine(text, said, 25_000);
    assert.ok(performance.now() - began < 3000, `${text.slice(0, 10)} took ${performance.now() - began} ms`);
  }
});
