import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { readTable } from "./csv-table.ts";
import { readSubtitles } from "./disk.ts";
import { readDuration } from "./duration.ts";
import { ImportError, RecordingError } from "./errors.ts";
import { readOtterText } from "./otter-text.ts";

test("durations are read in every form of lists, and refused otherwise", () => {
  const hour = 3_600_000;
  for (const [text, unit, ms] of [
    ["3600", "seconds", hour],
    ["3600.0", "seconds", hour],
    ["60", "minutes", hour],
    ["0,5", "minutes", 30_000],
    ["1:00:00", "seconds", hour],
    ["60:00", "minutes", hour],
    ["01:00:00.500", "seconds", hour + 500],
    ["1h", "seconds", hour],
    ["60 min", "seconds", hour],
    ["1 hr 5 mins", "seconds", hour + 300_000],
    ["1 hour, 5 minutes and 2 seconds", "seconds", hour + 302_000],
    ["PT1H5M", "minutes", hour + 300_000],
    ["long", "seconds", null],
    ["-5", "seconds", null],
    ["5 x", "seconds", null],
    ["", "seconds", null],
    ["99999999999", "seconds", null],
    ["3,600", "seconds", null],
  ] as const)
    assert.equal(readDuration(text, unit), ms, text);
});

test("Otter's text is read in each of its layouts", () => {
  const expected = [
    ["Ada King", 0, "Hello. We meet at 10:30"],
    ["Bob", 65_000, "Hi."],
  ];
  for (const text of [
    "Ada King  0:00\nHello.\nWe meet at 10:30\n\nBob  1:05\nHi.\n\nTranscribed by https://otter.ai\n",
    "Ada King 0:00\nHello.\nWe meet at 10:30\n\nBob 1:05\nHi.\n",
    "Ada King (0:00)\r\nHello. We meet at 10:30\r\n\r\nBob (1:05)\r\nHi.",
    "Ada King\t00:00:00\rHello. We meet at 10:30\rBob\t00:01:05\rHi.",
    "0:00 Ada King\nHello.\nWe meet at 10:30\n\n1:05 Bob\nHi.",
    "Ada King - 0:00\nHello.\nWe meet at 10:30\n\n**Bob** [1:05]\nHi.",
    "Ada King (0:00): Hello. We meet at 10:30\nBob (1:05): Hi.",
    "[00:00] Ada King: Hello. We meet at 10:30\n[01:05] Bob: Hi.",
    "Ada King 0:00 - 1:05\nHello. We meet at 10:30\n\nBob 1:05 - 1:10\nHi.",
    "Ada King  00:00:00.000\nHello. We meet at 10:30\n\nBob  00:01:05.000\nHi.",
  ])
    assert.deepEqual(
      readOtterText("a.txt", text).entries.map(({ speaker, start, text }) => [speaker, start, text]),
      expected,
      text,
    );
  const long = `[0:00] Ada: ${"word ".repeat(200)}\n[0:05] Bob: No.`;
  assert.equal(readOtterText("a.txt", long).entries.length, 2);
  const titled = readOtterText("a.txt", "Board\n\nAda 0:00\nHello.\n\n0:10\nNobody's.");
  assert.equal(titled.unreadLines, 1);
  assert.throws(() => readOtterText("a.txt", "Hello.\nThere."), RecordingError);
});

test("a table comes back as it was written, whatever its cells, separator and line ends are", () => {
  const cell = fc.string({ maxLength: 12 }).filter((text) => text.trim() !== "");
  const row = fc.tuple(cell, cell, cell).map((cells) => [...cells]);
  fc.assert(
    fc.property(
      fc.array(row, { minLength: 1, maxLength: 5 }),
      fc.constantFrom(",", ";", "\t", "|"),
      fc.constantFrom("\n", "\r\n", "\r"),
      fc.constantFrom("", "sep"),
      (rows, separator, end, sep) => {
        const quoted = [["title", "start", "Notes, if any; or not"], ...rows]
          .map((cells) => cells.map((text) => `"${text.replaceAll('"', '""')}"`).join(separator) + end)
          .join("");
        const table = readTable(sep === "" ? quoted : `sep=${separator}${end}${quoted}`, ["title", "start"]);
        assert.deepEqual(
          table.rows.map(({ cells }) => cells),
          rows,
        );
      },
    ),
    { numRuns: 100 },
  );
});

test("any list and any text end in a result or a reason, in linear time", () => {
  const attempt = (read: () => unknown): void => {
    try {
      read();
    } catch (error) {
      assert.ok(error instanceof ImportError || error instanceof RecordingError, String(error));
    }
  };
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(..."ab0:19 \t,;|\"'\r\n([=".split("")) }), (text) => {
      attempt(() => readTable(text, ["title", "start"]));
      attempt(() => readOtterText("a.txt", text));
      attempt(() => readDuration(text, "seconds"));
    }),
    { numRuns: 200 },
  );
  // Of the processor, which other processes don't lengthen.
  const elapsed = (count: number): number => {
    const began = process.cpuUsage();
    for (const text of ['a,"b";\t\r', "Ada  0:00\nx\n", "0:00 Ada: x\n", " ", '"'])
      for (const read of [readTable, readOtterText] as const)
        attempt(() =>
          read === readTable ? readTable(text.repeat(count), []) : readOtterText("a", text.repeat(count)),
        );
    const { user, system } = process.cpuUsage(began);
    return (user + system) / 1000;
  };
  elapsed(1000);
  // Linear is 16 times as long, quadratic 256 times.
  assert.ok(elapsed(16_000) < 60 * elapsed(1000) + 500);
});

test("captions are read in their encoding, and those that can't be read are counted", async () => {
  const folder = mkdtempSync(join(tmpdir(), "parley-captions-"));
  try {
    const path = join(folder, "Call.srt");
    const text = "1\n00:00:01,000 --> 00:00:02,000\nZo\xeb: Hi\n\n2\n00:00:03,000 --> 00:00:02,000\nNo\n";
    writeFileSync(path, text, "latin1");
    assert.deepEqual(await readSubtitles(path), {
      entries: [{ participant_id: null, speaker: "Zoë", start: 1000, end: 2000, text: "Hi" }],
      unreadLines: 1,
    });
    const notes: string[] = [];
    await readSubtitles(path, { note: (note) => notes.push(note) });
    assert.equal(notes.length, 2);
    assert.match(notes[1] ?? "", /^Call\.srt: .*read as windows-1252/);
    writeFileSync(path, "nothing with a time");
    await assert.rejects(readSubtitles(path), /Call\.srt: This file has no subtitles/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
