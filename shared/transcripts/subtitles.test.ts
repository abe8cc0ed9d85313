import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { build } from "subsrt-ts";
import { stringifySync } from "subtitle";
import {
  describeUnread,
  parseSubtitles,
  readSubtitles,
  runAtOnce,
  TranscriptFileError,
} from "./subtitles.ts";
import { readTranscriptFile } from "./transcript-file.ts";

/** Speakers and texts of a file. */
const said = (file: string) => parseSubtitles(file).map(({ speaker_key, text }) => [speaker_key, text]);
const texts = (file: string) => parseSubtitles(file).map(({ text }) => text);
const times = (file: string) => parseSubtitles(file).map(({ start, end }) => [start, end]);
const unread = (file: string) => runAtOnce(readSubtitles(file)).unread;
/** A SubRip file with these texts, a second each. */
const srt = (...lines: string[]) =>
  lines
    .map((line, index) => `${index + 1}\n00:00:0${index},000 --> 00:00:0${index + 1},000\n${line}\n`)
    .join("\n");

test("WebVTT: header, comments, styles, names of cues and settings are no text", () => {
  const file = `\uFEFFWEBVTT - board\r\nKind: captions\r\n\r\nNOTE 00:01.000 is early\r\nand more\r\n\r\nSTYLE\r\n::cue { color: red }\r\n\r\nintro\r\n00:01.500 --> 01:00:02.250 align:start line:0\r\n<v.loud Ana &amp; Ben>One <b>two</b>\r\nthree &lt;3\r\n\r\nNOTE none\r\n\r\n00:00.000 --> 00:01.000\r\nBefore it all\r\n`;
  assert.deepEqual(parseSubtitles(file), [
    { speaker_key: "Speaker 1", start: 0, end: 1000, text: "Before it all" },
    { speaker_key: "Ana & Ben", start: 1500, end: 3_602_250, text: "One two three <3" },
  ]);
  assert.equal(unread(file).count, 0);
});

test("blank lines, lines of one space and CR CR LF in and between cues lose no words", () => {
  const first = "One.\n\nTwo.\n \nThree.";
  for (const file of [
    srt(first, "Next."),
    srt(`\n${first}\n\n`, "Next."),
    srt(first, "Next.").replaceAll("\n", "\r\r\n"),
    srt(first, "Next.").replaceAll("\n", "\r"),
    srt("One.\nTwo.\nThree.", "Next.").replace("\n\n2", "\n2"),
    srt("One.\nTwo.\nThree.", "Next.").replaceAll(/^\d\n/gm, "").replaceAll("\n\n", "\n"),
    srt(first, "Next.").replaceAll("\n", "\n\n"),
  ])
    assert.deepEqual(texts(file), ["One. Two. Three.", "Next."], JSON.stringify(file));
});

test("a number that is text stays text, also at the end of a cue", () => {
  assert.deepEqual(texts(srt("How many?", "42", "A\n2026")), ["How many?", "42", "A 2026"]);
  assert.deepEqual(texts("WEBVTT\n\n00:01.000 --> 00:02.000\n\nHello\n00:03.000 --> 00:04.000\n7\n"), [
    "Hello",
    "7",
  ]);
});

test("times are read in all common forms", () => {
  for (const [from, start] of [
    ["00:00:01,500", 1500],
    ["00:00:01.500", 1500],
    ["00:00:01:500", 1500],
    ["00:01:500", 1500],
    ["00:00:01", 1000],
    ["00:00:01,", 1000],
    ["00:00:01,5", 1500],
    ["00:00:01,50", 1500],
    ["00:00:01,5004", 1500],
    ["00:01.500", 1500],
    ["0:01,500", 1500],
    ["00: 00: 01, 500", 1500],
    ["-00:00:00,020", 0],
  ] as const)
    assert.deepEqual(times(`1\n${from} --> 00:00:09,000\nHi\n`), [[start, 9000]], from);
  assert.deepEqual(times("1\n00:00:01,000 -> 00:00:02,000\nHi\n"), [[1000, 2000]]);
  assert.deepEqual(times("1\n00:00:01,000 --> 00:00:02,000 X1:40 X2:600\nHi\n"), [[1000, 2000]]);
  assert.deepEqual(texts("00:00:01,000 --> 00:00:02,000 Hi there\n"), ["Hi there"]);
  assert.deepEqual(texts(srt("10:30 – 11:15 is lunch, 10:30 -> 11:15")), [
    "10:30 – 11:15 is lunch, 10:30 -> 11:15",
  ]);
});

test("a cue that can't be read is reported with its line, and the others are read", () => {
  const file = `${srt("Good.", "Bad.", "Good again.")}\n4\n00:00:0x,000 --> 00:00:09,000\nUnread\n\n5\n00:00:10,000 --> 00:00:11,000\nLast.\n`;
  const reading = runAtOnce(
    readSubtitles(file.replace("00:00:01,000 --> 00:00:02,000", "00:00:03,000 --> 00:00:02,000")),
  );
  assert.deepEqual(
    reading.segments.map(({ text }) => text),
    ["Good.", "Good again.", "Last."],
  );
  assert.deepEqual(
    reading.unread.first.map(({ line }) => line),
    [14, 6],
  );
  assert.match(describeUnread(reading.unread) ?? "", /^2 parts .*line 6 ends before it starts/);
  assert.deepEqual(unread(`Subtitles by me\n\n${srt("Hi")}`).first, [
    { line: 1, reason: "is text that belongs to no time" },
  ]);
  assert.throws(
    () => parseSubtitles("00:02.000 --> 00:01.000\nx"),
    /no subtitles .* line 1 ends before it starts/,
  );
  assert.throws(() => parseSubtitles("WEBVTT\n\nhello"), TranscriptFileError);
  assert.equal(unread(`${srt("Hi", "x".repeat(10_001))}`).count, 1);
});

test("only known tags are markup; references are those of HTML", () => {
  assert.deepEqual(
    texts(
      srt(
        '{\\an8}<i>latency</i> < 80 > 20, <font color="#fff">List<String></font> & <b>R&D</b><br>5 &lt; 6 &eacute; &nope; a&#0;',
      ),
    ),
    ["latency < 80 > 20, List<String> & R&D 5 < 6 é &nope; a&#0;"],
  );
  const vtt =
    "WEBVTT\n\n00:00.000 --> 00:01.000\n<c.yellow.bg>It&#39;s</c> <ruby>漢<rt>kan</rt></ruby> <lang en>x</lang> &#x2014;&nbsp;<unknown>";
  assert.deepEqual(texts(vtt), ["It's 漢kan x — <unknown>"]);
});

test("each voice of a cue becomes a segment; a voice ends with its cue", () => {
  const file =
    "WEBVTT\n\n00:00.000 --> 00:04.000\n<v Ada>Do you agree?</v>\n<v Bob>No, <00:02.000>never.</v>.\n\n00:04.000 --> 00:05.000\n(Applause)\n\n00:05.000 --> 00:06.000\n<v Speaker 1>Well</v>";
  assert.deepEqual(said(file), [
    ["Ada", "Do you agree?"],
    ["Bob", "No, never.."],
    ["Speaker 2", "(Applause)"],
    ["Speaker 1", "Well"],
  ]);
});

test("a name before a colon is a speaker only if the whole file shows it", () => {
  const nobody = "Speaker 1";
  assert.deepEqual(said(srt("Morning.", "Here is the plan: we ship.", "Fine?")), [
    [nobody, "Morning."],
    [nobody, "Here is the plan: we ship."],
    [nobody, "Fine?"],
  ]);
  assert.deepEqual(
    said(srt("Ana Lima: At 10:30 then.", "Yes.", "No.", "So.", "Bo: Once.", "Ana Lima:\nBye: now")),
    [
      ["Ana Lima", "At 10:30 then."],
      [nobody, "Yes."],
      [nobody, "No."],
      [nobody, "So."],
      [nobody, "Bo: Once."],
      ["Ana Lima", "Bye: now"],
    ],
  );
  assert.deepEqual(
    said(srt("Ana: Hi\nBo: Hello", "Bo: So", "one thing is clear: it works", "Right.", ">> Ana: Yes")),
    [
      ["Ana", "Hi"],
      ["Bo", "Hello"],
      ["Bo", "So"],
      [nobody, "one thing is clear: it works"],
      [nobody, "Right."],
      ["Ana", "Yes"],
    ],
  );
  assert.deepEqual(said(srt("安娜：你好", "安娜：再见")), [
    ["安娜", "你好"],
    ["安娜", "再见"],
  ]);
  assert.deepEqual(said(srt("The Right Honourable the Lord Mayor of the City of London: Hi")), [
    ["The Right Honourable the Lord Mayor of the City of London", "Hi"],
  ]);
});

test("rolling captions are rolled up once; what is said twice stays twice", () => {
  const cue = (at: number, text: string) => `00:0${at}.000 --> 00:0${at + 1}.000\n${text}\n`;
  assert.deepEqual(
    texts(["WEBVTT\n", cue(0, "a"), cue(1, "a\nb"), cue(2, "a\nb\nc"), cue(3, "b\nc\nc")].join("\n")),
    ["a", "b", "c", "c"],
  );
  assert.deepEqual(texts(srt("No.", "No.", "No.")), ["No.", "No.", "No."]);
  const youtube =
    "WEBVTT\n\n00:00.000 --> 00:02.000 align:start position:0%\n \nhi<00:00.500><c> all</c>\n\n00:02.000 --> 00:02.010\nhi all\n \n\n00:02.010 --> 00:04.000\nhi all\nso<00:02.500><c> we</c>\n";
  assert.deepEqual(
    parseSubtitles(youtube).map(({ text, words }) => [
      text,
      words?.map(({ text, start }) => `${text} ${start}`),
    ]),
    [
      ["hi all", ["hi 0", "all 500"]],
      ["so we", ["so 2010", "we 2500"]],
    ],
  );
});

test("SBV, TTML and SubStation Alpha are read by their content", () => {
  assert.deepEqual(
    parseSubtitles("0:00:01.000,0:00:02.500\nHello\nthere\n\n0:00:03.000,0:00:04.000\nBye[br]now\n"),
    [
      { speaker_key: "Speaker 1", start: 1000, end: 2500, text: "Hello there" },
      { speaker_key: "Speaker 1", start: 3000, end: 4000, text: "Bye now" },
    ],
  );
  const ttml = `<?xml version="1.0"?><!-- <p> --><tt xmlns="http://www.w3.org/ns/ttml" xmlns:ttp="u" ttp:frameRate="25" xmlns:ttm="v">
<head><metadata><ttm:agent xml:id="a1" type="person"><ttm:name type="full">Ada &amp; Co</ttm:name></ttm:agent></metadata></head>
<body><div begin="10s"><p begin="1s" dur="500ms" ttm:agent="a1">Hello,<br/>
   &lt;world&gt;</p><p begin="00:00:02:05" end="00:00:03.5"><span begin="0.1s" end="1s">One</span> <span begin="1s">two</span></p></div>
<div><p>no times</p><p begin="75t" end='100f'>late</p></div></body></tt>`;
  assert.deepEqual(
    parseSubtitles(ttml.replace("75t", "20s").replace("100f", "525f")).map((one) => Object.values(one)),
    [
      ["Ada & Co", 11_000, 11_500, "Hello, <world>"],
      ["Speaker 1", 12_300, 13_200, "One"],
      ["Speaker 1", 13_200, 13_500, "two"],
      ["Speaker 1", 20_000, 21_000, "late"],
    ],
  );
  assert.deepEqual(unread(ttml).first[0]?.line, 5);
  const ass = `[Script Info]\nTitle: x\n\n[Events]\nFormat: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\nComment: 0,0:00:00.00,0:00:09.00,D,,0,0,0,,never\nDialogue: 0,0:00:01.00,0:00:02.50,D,Ada,0,0,0,,{\\i1}Hello{\\i0}, you\\Nand me {\\p1}m 0 0{\\p0}!\nDialogue: 0,soon,0:00:02.50,D,,0,0,0,,x\n`;
  assert.deepEqual(parseSubtitles(ass), [
    { speaker_key: "Ada", start: 1000, end: 2500, text: "Hello, you and me !" },
  ]);
  assert.deepEqual(
    unread(ass).first.map(({ line }) => line),
    [8],
  );
});

test("what a text says doesn't decide the format of its file", () => {
  assert.deepEqual(texts(srt("Use <tt>ls</tt>", "Good.")), ["Use <tt>ls</tt>", "Good."]);
  assert.deepEqual(said(srt("Dialogue: yes, 1", "Dialogue: so")), [
    ["Dialogue", "yes, 1"],
    ["Dialogue", "so"],
  ]);
  assert.deepEqual(
    parseSubtitles("0:00:01,0:00:02\nFile --> Save\n\n0:00:03.5,0:00:04.000\nBye\n").map((one) =>
      Object.values(one),
    ),
    [
      ["Speaker 1", 1000, 2000, "File --> Save"],
      ["Speaker 1", 3500, 4000, "Bye"],
    ],
  );
});

test("the name of a cue after one without text is not read as text", () => {
  assert.deepEqual(texts("WEBVTT\n\na1\n00:01.000 --> 00:02.000\n\na2\n00:02.000 --> 00:03.000\nHi\n"), [
    "Hi",
  ]);
  // Numbered cues have no other names.
  assert.deepEqual(
    texts("WEBVTT\n\n1\n00:01.000 --> 00:02.000\nHello\n\nWorld\n00:02.000 --> 00:03.000\nHi\n"),
    ["Hello World", "Hi"],
  );
});

test("a paragraph of TTML whose beginning can't be read is reported, not put at the start", () => {
  const file =
    '<tt><body><p begin="soon" end="2s">Bad</p>\n<div end="x"><p begin="1s" end="2s">Worse</p></div><p begin="3s" end="4s">Good</p></body></tt>';
  assert.deepEqual([texts(file), unread(file).count], [["Good"], 2]);
});

test("files in other encodings are read, and the notes say which encoding was assumed", () => {
  const file = srt("Zoë: Grüße aus Köln");
  for (const bytes of [
    Buffer.from(`\uFEFF${file}`, "utf16le"),
    Buffer.from(file, "utf16le"),
    Buffer.from(file),
  ]) {
    const { segments, notes } = runAtOnce(readTranscriptFile(bytes));
    assert.deepEqual([segments[0]?.speaker_key, segments[0]?.text, notes], ["Zoë", "Grüße aus Köln", []]);
  }
  const { segments, notes } = runAtOnce(readTranscriptFile(Buffer.from(file, "latin1")));
  assert.deepEqual([segments[0]?.speaker_key, segments[0]?.text], ["Zoë", "Grüße aus Köln"]);
  assert.match(notes.join(), /read as windows-1252/);
  const mixed = Buffer.concat([Buffer.from(`${file}\n${file}\n`), Buffer.from(srt("Köln"), "latin1")]);
  assert.match(runAtOnce(readTranscriptFile(mixed)).notes.join(), /^Some lines are not UTF-8/);
  assert.deepEqual(parseSubtitles(Buffer.from(file, "latin1"))[0]?.text, "Grüße aus Köln");
});

test("numbers beside a comma or an arrow in the text of .sbv are no times", () => {
  const file =
    "0:00:00.000,0:00:01.000\n1 ,,0.\n\n0:00:01.000,0:00:02.000\n3.5,4.5 metres\n2.5 → 3.5 percent\n";
  assert.deepEqual(
    parseSubtitles(file).map(({ start, text }) => [start, text]),
    [
      [0, "1 ,,0."],
      [1000, "3.5,4.5 metres 2.5 → 3.5 percent"],
    ],
  );
});

/** Words of letters and punctuation that no format uses as markup, and at least one letter. */
const words = fc
  .tuple(
    fc.constantFrom("So", "é", "会議", "x < 3", "R&D", "1", "well,"),
    fc.stringMatching(/^[a-z0-9 ,.?!&<'"()-]{0,30}$/),
  )
  .map(([first, rest]) => `${first} ${rest}`.replaceAll(/\s+/g, " ").trim());
const cues = fc.array(
  fc.record({ gap: fc.nat(100_000), length: fc.integer({ min: 1, max: 90_000 }), text: words }),
  {
    minLength: 1,
    maxLength: 12,
  },
);

test("what the writers of other programs write comes back with the same words and times", () => {
  fc.assert(
    fc.property(cues, (list) => {
      let at = 0;
      const expected = list.map(({ gap, length, text }) => {
        const start = at + gap;
        at = start + length;
        return { start, end: at, text };
      });
      const nodes = expected.map((data) => ({ type: "cue" as const, data }));
      const captions = expected.map((one, index) => ({
        ...one,
        ...{ type: "caption" as const, index: index + 1, duration: one.end - one.start, content: one.text },
      }));
      for (const [name, file] of [
        ["subtitle srt", stringifySync(nodes, { format: "SRT" })],
        ["subtitle vtt", stringifySync(nodes, { format: "WebVTT" })],
        ["subsrt srt", build(captions, { format: "srt" })],
        ["subsrt vtt", build(captions, { format: "vtt" })],
        ["subsrt sbv", build(captions, { format: "sbv" })],
      ] as const)
        assert.deepEqual(
          parseSubtitles(file).map(({ start, end, text }) => ({ start, end, text })),
          expected,
          name,
        );
    }),
    { numRuns: 60 },
  );
});

test("any bytes end in a transcript or in an error that names the problem", () => {
  const part = fc.constantFrom(
    ...[
      "WEBVTT\n",
      "\n",
      "\r\r\n",
      "1\n",
      "00:00:01,000 --> 00:00:02,000\n",
      "0:1 --> 0:0\n",
      "--> ",
      "<v Ada>",
      "</v>",
    ],
    ...[
      "<tt><p begin='1s' end='2s'>",
      "</p>",
      "<!--",
      "<![CDATA[",
      "[Script Info]\n",
      "Dialogue: 0,0:00:01.00,",
      "{\\p1}",
    ],
    ...['{"segments":[', '{"text":"x","start":1,"end":null},', "]}", "&#xD800;", "Ada: hi\n", "\0", "ÿ"],
  );
  const file = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.array(fc.oneof(part, fc.string()), { maxLength: 40 }).map((parts) => Buffer.from(parts.join(""))),
  );
  fc.assert(
    fc.property(file, (bytes) => {
      try {
        const { segments, unread } = runAtOnce(readTranscriptFile(bytes));
        assert.ok(segments.length > 0);
        assert.ok(unread.count >= unread.first.length);
        for (const { start, end, text } of segments) {
          assert.ok(start >= 0 && end >= start && text.trim() !== "");
          assert.ok(!text.includes("\0"));
        }
      } catch (error) {
        assert.ok(error instanceof TranscriptFileError, String(error));
        assert.notEqual(error.message, "");
      }
    }),
    { numRuns: 400 },
  );
});

test("reading takes linear time, whatever is repeated", () => {
  const repeated = [
    "<",
    "<v ",
    "&",
    "{\\",
    "\r",
    " ",
    "1\n",
    "a: ",
    "-->",
    "00:00:01,000 --> ",
    "<p>",
    "<tt><a>",
    "<!--",
    '{"',
    "：",
    "WEBVTT\n\nNOTE\n\n",
    "Dialogue:,",
  ];
  for (const text of repeated)
    for (const head of [
      "",
      "WEBVTT\n\n00:01.000 --> 00:02.000\n",
      "<tt><p begin='1s'>",
      "[Script Info]\nDialogue: ",
    ]) {
      const file = `${head}${text.repeat(200_000 / text.length)}`;
      const began = performance.now();
      try {
        parseSubtitles(file);
      } catch (error) {
        assert.ok(error instanceof TranscriptFileError, String(error));
      }
      const took = performance.now() - began;
      // Quadratic steps would take minutes.
      assert.ok(took < 3000, `${JSON.stringify(head + text)}: ${took} ms`);
    }
});
