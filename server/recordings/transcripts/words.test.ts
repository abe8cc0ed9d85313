import assert from "node:assert/strict";
import { test } from "node:test";
import { parseSubtitles } from "../../../shared/transcripts/subtitles.ts";
import { makeUser } from "../../../test/support/factories.ts";
import { isFullRun } from "../../../test/support/full.ts";
import { ProblemError } from "../../platform/http/errors/problem.ts";
import { startTranscription } from "../../processing/transcription/test/transcription.ts";
import { dataTools } from "../recordings/test/recordings.ts";
import { readSegments } from "./supply.ts";

const { app, workspace, makeRecording } = await startTranscription();
const { manage } = dataTools(app);
const { token } = workspace;

interface Word {
  readonly text: string;
  readonly start: number | null;
  readonly end: number | null;
}
interface Segment {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly words: readonly Word[];
}

const webvtt = `WEBVTT

1
00:00:01.000 --> 00:00:04.000
<v Ada Lovelace>We <00:00:01.500>meet <00:00:02.000>in <00:00:02.200>hambug <00:00:03.000>to<00:00:03.200>day.</v>

2
00:00:05.000 --> 00:00:06.000
<v Grace>Nobody timed this.</v>

3
00:00:07.000 --> 00:00:09.000
<v Grace><00:00:07.500>Fish &amp; <00:00:08.000>two words</v>
`;

const supply = (id: string, version: number, body: object) =>
  manage("PUT", `/recordings/${id}/transcript`, token, { transcript_version: version, ...body });
const view = async (id: string): Promise<{ transcript_version: number; segments: Segment[] }> =>
  (await manage("GET", `/recordings/${id}/transcript?words=true`, token)).body;
const wordsOf = async (id: string, index: number): Promise<string[]> =>
  (await view(id)).segments[index]?.words.map(({ text, start, end }) => `${text} ${start}-${end}`) ?? [];

test("WebVTT with word timestamps: each word has its time; a correction and its undo keep them", async () => {
  const id = await makeRecording();
  assert.equal((await supply(id, 0, { webvtt })).status, 200);
  const spoken = ["We 1000-1500", "meet 1500-2000", "in 2000-2200", "hambug 2200-3000", "today. 3000-4000"];
  assert.deepEqual(await wordsOf(id, 0), spoken);
  assert.deepEqual(await wordsOf(id, 1), []);
  assert.deepEqual(await wordsOf(id, 2), [], "which of two words was spoken when is not known");

  const correct = (version: number, text: string) =>
    manage("POST", `/recordings/${id}/transcript/corrections`, token, {
      transcript_version: version,
      segments: [{ index: 0, text }],
    });
  await correct(1, "We shall meet in Hamburg today.");
  assert.deepEqual(await wordsOf(id, 0), [
    "We 1000-1500",
    "shall null-null",
    "meet 1500-2000",
    "in 2000-2200",
    "Hamburg 2200-3000",
    "today. 3000-4000",
  ]);
  await manage("POST", `/recordings/${id}/transcript/undo`, token, { transcript_version: 2 });
  assert.deepEqual(await wordsOf(id, 0), spoken);

  const plain = (await manage("GET", `/recordings/${id}/transcript`, token)).body;
  assert.deepEqual(
    plain.segments.filter((segment: object) => "words" in segment),
    [],
    "words are shown on request",
  );
  const { segments, ...head } = await view(id);
  const { segments: plainSegments, ...plainHead } = plain;
  assert.deepEqual(head, plainHead);
  assert.deepEqual(
    segments.map(({ words: _, ...segment }) => segment),
    plainSegments,
  );
});

test("words of a JSON transcript: their times count, also where text differs in case; impossible ones do not", async () => {
  const id = await makeRecording();
  const { status } = await supply(id, 0, {
    segments: [
      {
        speaker: "Ada",
        start: 1000,
        end: 3000,
        text: "So, we meet again here.",
        words: [
          { text: "so", start: 1000, end: 1200 },
          { text: "we", start: 1100, end: 1300 },
          { text: "meet", start: 1300, end: 1500 },
          { text: "again", start: 900, end: 1600 },
          { text: "here", start: 2900, end: 3100 },
        ],
      },
    ],
  });
  assert.equal(status, 200);
  assert.deepEqual(await wordsOf(id, 0), [
    "So, 1000-1200",
    "we null-null",
    "meet 1300-1500",
    "again null-null",
    "here. null-null",
  ]);
});

test("word cues: timestamps increase within each cue, and supplying them again gives the same words", async () => {
  const id = await makeRecording();
  await supply(id, 0, { webvtt });
  const { text, headers } = await fetchCues(id, token);
  assert.match(headers.get("content-type") ?? "", /^text\/vtt/);
  assert.match(text, /<v Ada Lovelace>We <00:00:01\.500>meet <00:00:02\.000>in /);
  assert.match(text, /<v Grace>Nobody timed this\.<\/v>/);
  const before = (await view(id)).segments.map(({ words }) => words.filter(({ start }) => start !== null));
  const copy = await makeRecording();
  await supply(copy, 0, { webvtt: text });
  const after = (await view(copy)).segments.map(({ words }) => words.filter(({ start }) => start !== null));
  assert.deepEqual(after, before);
  const stranger = await makeUser(app.db, workspace, { email: "stranger@example.com" });
  assert.equal((await fetchCues(id, stranger.token)).status, 404);
});

async function fetchCues(id: string, by: string) {
  const response = await fetch(`${app.url}/_/api/v1/recordings/${id}/transcript/words.vtt`, {
    headers: { authorization: `Bearer ${by}` },
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** The longest turn of the event loop until `stop`, in ms of processor time, which other processes don't lengthen. */
function measureTurns(): { stop: () => number } {
  let longest = 0;
  let last = process.threadCpuUsage();
  const measure = () => {
    const { user, system } = process.threadCpuUsage(last);
    longest = Math.max(longest, (user + system) / 1000);
    last = process.threadCpuUsage();
  };
  const timer = setInterval(measure, 1);
  return {
    stop() {
      clearInterval(timer);
      measure();
      return longest;
    },
  };
}

test("hostile subtitles are read without keeping other requests waiting, and refused", async () => {
  const cue = "\n\n00:00.000 --> 00:09.000\n";
  const files = {
    "blank lines": `WEBVTT${"\n".repeat(9_000_000)}`,
    "returns in one line": `WEBVTT${"\r".repeat(9_000_000)}`,
    "one block": `WEBVTT${cue}${"<00:00:01.000>a ".repeat(550_000)}`,
    "blocks without cues": `WEBVTT${"\n\nNOTE x".repeat(300_000)}`,
  };
  for (const [name, webvtt] of Object.entries(files)) {
    const turns = measureTurns();
    await assert.rejects(readSegments({ webvtt }), ProblemError, name);
    const longest = turns.stop();
    assert.ok(longest < 200, `${name}: ${Math.round(longest)} ms`);
  }
});

test("an empty voice tag names nobody, and a time beyond any recording is reported", async () => {
  const [, second] = parseSubtitles(
    "WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ada>One\n\n00:02.000 --> 00:03.000\n<v  >Two",
  );
  assert.equal(second?.speaker_key, "Speaker 1");
  assert.throws(
    () => parseSubtitles("WEBVTT\n\n00:01.000 --> 999:00:00.000\nOne"),
    /line 3 is later than a recording can be long/,
  );
});

test("subtitles that can be read in part are supplied, and the response lists the rest", async () => {
  const id = await makeRecording();
  const file =
    "1\n00:00:01,000 --> 00:00:02,000\nAda: One.\n\n2\n00:00:03,000 --> 00:00:02,000\nAda: Two.\n\n3\n00:00:0x --> 00:00:04\nNo\n";
  const { status, body } = await supply(id, 0, { webvtt: file });
  assert.deepEqual([status, body.segments_changed, body.unread.count], [200, 1, 2]);
  assert.deepEqual(body.unread.first.at(-1), { line: 6, reason: "ends before it starts" });
  const all = await supply(id, 1, { webvtt: "0:00:01.000,0:00:02.000\nFrom YouTube\n" });
  assert.deepEqual(all.body.unread, { count: 0, first: [] });
});

test("a transcript has either segments or webvtt, and webvtt has cues", async () => {
  const id = await makeRecording();
  for (const body of [{}, { webvtt, segments: [{ speaker: "A", start: 0, end: 1, text: "x" }] }]) {
    const { status, body: problem } = await supply(id, 0, body);
    assert.equal(status, 400);
    assert.match(JSON.stringify(problem), /must have either segments or webvtt/);
  }
  const { status, body: problem } = await supply(id, 0, { webvtt: "WEBVTT\n\nno times" });
  assert.equal(status, 400);
  assert.match(JSON.stringify(problem), /\/webvtt.*no subtitles/);
});

/** Numbers that look random, the same in each run. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** How many random edits are made. */
const edits = isFullRun ? 200 : 60;

test(`${edits} random edits and undos: words never overlap, never leave their segment, and unchanged ones keep their times`, async () => {
  const random = randomNumbers(7);
  const vocabulary = ["so", "we", "meet", "the", "the", "Harbour,", "opens", "at", "nine", "nine", "again."];
  const pick = (): string => vocabulary[random(vocabulary.length)] as string;
  const spoken = Array.from({ length: 6 }, (_, index) => {
    const words = Array.from({ length: 5 + random(20) }, (_, n) => {
      const start = index * 500 + n * 20 + random(8);
      return { text: pick(), start, end: start + random(12) };
    });
    return {
      speaker: "Ada",
      start: index * 500,
      end: index * 500 + 500,
      text: words.map(({ text }) => text).join(" "),
      words,
    };
  });
  const id = await makeRecording();
  assert.equal((await supply(id, 0, { segments: spoken })).status, 200);
  const known = spoken.map(({ words }) => new Set(words.flatMap(({ start, end }) => [start, end])));
  let version = 1;
  let undos = 0;
  for (let round = 0; round < edits; round++) {
    const { segments } = await view(id);
    const index = random(segments.length);
    const words = (segments[index]?.text ?? "").split(" ");
    const at = random(words.length + 1);
    const count = random(3);
    words.splice(at, count, ...Array.from({ length: random(3) }, pick));
    const isUndo = round % 4 === 3;
    const { status, body } = isUndo
      ? await manage("POST", `/recordings/${id}/transcript/undo`, token, { transcript_version: version })
      : await manage("POST", `/recordings/${id}/transcript/corrections`, token, {
          transcript_version: version,
          segments: [{ index, text: words.join(" ") }],
        });
    assert.equal(status, 200, JSON.stringify(body));
    version = body.transcript_version;
    if (isUndo) undos += 1;
    const after = (await view(id)).segments;
    for (const [number, segment] of after.entries()) checkWords(segment, known[number] ?? new Set());
    if (segments[index]?.text === after[index]?.text) assert.deepEqual(after[index], segments[index]);
  }
  assert.equal(undos, edits / 4);
  // Undone completely, every word has its own time again.
  for (;;) {
    const { status, body } = await manage("POST", `/recordings/${id}/transcript/undo`, token, {
      transcript_version: version,
    });
    if (status !== 200) break;
    version = body.transcript_version;
  }
  const last = (await view(id)).segments.map(({ words }) => words);
  assert.deepEqual(
    last,
    spoken.map(({ words }) => words),
  );
});

/** @param known the times at which words of the segment were spoken. */
function checkWords(segment: Segment, known: ReadonlySet<number>): void {
  assert.deepEqual(
    segment.words.map(({ text }) => text),
    segment.text.match(/\S+/g) ?? [],
  );
  let earliest = segment.start;
  for (const { start, end } of segment.words) {
    if (start === null || end === null) continue;
    assert.ok(start >= earliest && end >= start && end <= segment.end, `${earliest} ${start}-${end}`);
    assert.ok(known.has(start) && known.has(end), `nothing was spoken from ${start} to ${end}`);
    earliest = end;
  }
}
