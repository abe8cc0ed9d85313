import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { call } from "../../../test/support/app.ts";
import {
  cutShort,
  flood,
  type ModelBehaviour,
  minutes,
  refuse,
  say,
  sayJson,
  seenLines,
} from "../../../test/support/model-server.ts";
import { startIntelligence } from "./test/intelligence.ts";

const t = await startIntelligence();
const { model, manage, workspace } = t;

beforeEach(() => model.reset());

/** A meeting with a line every 20 seconds; every fifth minute another subject begins. */
function meeting(minutesLong: number) {
  const segments = Array.from({ length: minutesLong * 3 }, (_, index) => ({
    speaker_key: "a",
    start: index * 20_000,
    end: (index + 1) * 20_000,
    text: index % 15 === 0 ? `Next: subject number ${index / 15 + 1}` : `We talk about detail ${index} here.`,
  }));
  return { transcript: { language: "en", segments } };
}

interface Chapter {
  readonly title: string;
  readonly start: number;
  readonly quote: string;
}

async function chaptersOf(id: string, token?: string): Promise<Chapter[]> {
  const { status, body, text } = await manage("GET", `/recordings/${id}/chapters`, undefined, token);
  assert.equal(status, 200, text);
  return body.chapters;
}

const put = (id: string, chapters: unknown, token?: string) =>
  manage("PUT", `/recordings/${id}/chapters`, { chapters }, token);

/** Returns this for requests for chapters, and for all others what a working model does. */
const withChapters =
  (behaviour: ModelBehaviour): ModelBehaviour =>
  (request, response) =>
    (request.wanted.includes("chapters") ? behaviour : minutes)(request, response);

test("a transcript of ten minutes has chapters, each with its quote; a shorter one has none and costs no request", async () => {
  const id = await t.make(meeting(10));
  await t.done(id);
  assert.deepEqual(await chaptersOf(id), [
    { title: "subject number 1", start: 0, quote: "Next: subject number 1" },
    { title: "subject number 2", start: 300_000, quote: "Next: subject number 2" },
  ]);
  model.reset();
  const short = await t.make(meeting(9));
  await t.done(short);
  assert.deepEqual(await chaptersOf(short), []);
  assert.ok(model.requests.every(({ wanted }) => !wanted.includes("chapters")));
});

test("a model that lies: chapters whose quote is not in their passage, or outside of the recording, are left out and counted", async () => {
  model.otherwise(
    withChapters((request, response) => {
      const lines = seenLines(request.user);
      const quoteOf = (number: number): string => lines.find((line) => line.number === number)?.text ?? "";
      return sayJson({
        chapters: [
          { title: "Too late", line: 9999, quote: quoteOf(31) },
          { title: "Last", line: 25, quote: quoteOf(27) },
          { title: "Not said", line: 5, quote: "Nobody ever said these words" },
          { title: "Of a later passage", line: 3, quote: quoteOf(28) },
          { title: "Of an earlier passage", line: 20, quote: quoteOf(2) },
          { title: "Too close to the first", line: 2, quote: quoteOf(2) },
          { title: `<b>First</b> [go](https://evil.example) ${"x".repeat(100)}`, line: 1, quote: quoteOf(1) },
        ],
      })(request, response);
    }),
  );
  const id = await t.make(meeting(10));
  const run = await t.done(id);
  const found = await chaptersOf(id);
  assert.deepEqual(
    found.map(({ start }) => start),
    [0, 480_000],
  );
  assert.ok(found.every(({ title }) => title.length <= 80));
  assert.doesNotMatch(JSON.stringify(found), /<b>|evil\.example/);
  assert.match(run.message, /4 chapters without proof were left out/);

  const often = await t.make(meeting(10));
  model.otherwise(
    withChapters((request, response) => {
      const [line] = seenLines(request.user);
      const chapter = { title: "Again", line: 1, quote: line?.text };
      return sayJson({ chapters: Array.from({ length: 100 }, () => chapter) })(request, response);
    }),
  );
  await manage("POST", `/recordings/${often}/intelligence`, {});
  assert.doesNotMatch((await t.done(often)).message, /without proof/, "a repeated chapter has proof");

  // Without a proven chapter, or without a response, those stay that were proven before.
  const lie = { title: "Not said", line: 5, quote: "Nobody ever said these words" };
  const again = async (behaviour: ModelBehaviour) => {
    model.otherwise(withChapters(behaviour));
    await manage("POST", `/recordings/${id}/intelligence`, {});
    return (await t.done(id)).notes.at(-1);
  };
  const kept = "No new chapter is proven, so the earlier ones were kept.";
  assert.equal(await again(sayJson({ chapters: [lie] })), kept);
  assert.equal(await again(say("Here are your chapters!")), kept);
  assert.deepEqual(await chaptersOf(id), found);
  assert.equal(await again(sayJson({ chapters: [] })), undefined);
  assert.deepEqual(await chaptersOf(id), [], "a model that says there are none");
});

for (const [name, behaviour] of [
  ["broken JSON", say("Here are your chapters!")],
  ["a response of another form", sayJson({ chapters: [{ start: 5 }] })],
  ["an error", refuse(422, { error: { message: "content_filter" } })],
  ["a response that is cut off twice", say('{"chapters": [{"title": "Fi', { finish: "length" })],
  ["a response without end", flood],
] as const)
  test(`${name} instead of chapters: there are none, the rest is there, and the run says so`, async () => {
    model.otherwise(withChapters(behaviour));
    const id = await t.make(meeting(10));
    const run = await t.done(id);
    assert.match(run.message, /The chapters could not be generated/);
    assert.deepEqual(await chaptersOf(id), []);
    assert.notEqual((await t.read(id, { ai_summary: true })).ai_summary.text, "");
  });

test("a connection that breaks while chapters are written: they are asked for again, and nothing else is", async () => {
  let isCut = false;
  model.otherwise(
    withChapters((request, response) => {
      if (isCut) return minutes(request, response);
      isCut = true;
      return cutShort(request, response);
    }),
  );
  const id = await t.make(meeting(10));
  await t.done(id);
  assert.equal((await chaptersOf(id)).length, 2);
  const wanted = model.requests.map((request) => request.wanted.join());
  assert.deepEqual(
    wanted.filter((names) => names === "chapters"),
    ["chapters", "chapters"],
  );
  assert.equal(wanted.filter((names) => names !== "chapters").length, 1);
});

test("a long meeting is divided part by part, and one part that fails leaves the others", async () => {
  const small = await startIntelligence({ env: { PARLEY_LLM_CONTEXT_TOKENS: "8192" } });
  let asked = 0;
  small.model.otherwise(
    withChapters((request, response) => {
      if (/This is part 2 of/.test(request.user)) return say("no")(request, response);
      asked += 1;
      return minutes(request, response);
    }),
  );
  const id = await small.make(meeting(240));
  const run = await small.done(id);
  assert.ok(asked > 1, `${asked} parts`);
  assert.match(run.message, /The chapters of part 2 of \d+ could not be generated/);
  const { body } = await small.manage("GET", `/recordings/${id}/chapters`);
  const starts: number[] = body.chapters.map(({ start }: Chapter) => start);
  assert.ok(starts.length > 20, `${starts.length} chapters`);
  assert.ok(starts.every((start, index) => index === 0 || start >= (starts[index - 1] ?? 0) + 30_000));
});

test("chapters that a user changed survive a new run, also when the user removed them all", async () => {
  const id = await t.make(meeting(10));
  await t.done(id);
  const [first] = await chaptersOf(id);
  const own = [
    { ...first, title: "Welcome" },
    { title: "No quote", start: 100_000 },
  ];
  const saved = await put(id, own);
  assert.equal(saved.status, 200, saved.text);
  const expected = [
    { ...first, title: "Welcome" },
    { title: "No quote", start: 100_000, quote: "" },
  ];
  assert.deepEqual(saved.body.chapters, expected);
  const before = await t.events(id);
  await put(id, own);
  assert.deepEqual(await t.events(id), before, "no event without a change");
  for (const kept of [expected, []]) {
    await put(id, kept);
    await manage("POST", `/recordings/${id}/intelligence`);
    await t.done(id);
    assert.deepEqual(await chaptersOf(id), kept);
  }
});

test("chapters of users: in order, 30 seconds apart, within the recording, with titles and spoken quotes", async () => {
  const id = await t.make(meeting(1));
  for (const [chapters, pointer] of [
    [
      [
        { title: "A", start: 0 },
        { title: "B", start: 29_999 },
      ],
      "/chapters/1/start",
    ],
    [
      [
        { title: "A", start: 40_000 },
        { title: "B", start: 0 },
      ],
      "/chapters/1/start",
    ],
    [[{ title: "A", start: 60_000 }], "/chapters/0/start"],
    [[{ title: "A", start: -1 }], "/chapters/0/start"],
    [[{ title: " ", start: 0 }], "/chapters/0/title"],
    [[{ title: "x".repeat(81), start: 0 }], "/chapters/0/title"],
    [[{ title: "A", start: 0, quote: "Nobody said this sentence" }], "/chapters/0/quote"],
    [
      [
        { title: "A", start: 0, quote: "We talk about detail 2 here" },
        { title: "B", start: 30_000 },
      ],
      "/chapters/0/quote",
    ],
  ] as const) {
    const { status, body } = await put(id, chapters);
    assert.equal(status, 400, JSON.stringify(chapters));
    assert.deepEqual(
      body.violations.map((one: { pointer: string }) => one.pointer),
      [pointer],
    );
  }
  assert.deepEqual(await chaptersOf(id), []);
  const good = await put(id, [{ title: "A", start: 20_000, quote: "we talk, about detail 2 HERE" }]);
  assert.equal(good.status, 200, good.text);
  const other = await t.make(meeting(2));
  const quote = "we talk about detail 2 here";
  const first = { title: "A", start: 0, quote };
  assert.equal((await put(other, [first])).status, 200);
  const moved = await put(other, [{ ...first, start: 80_000 }]);
  assert.equal(moved.body.violations?.[0]?.pointer, "/chapters/0/quote", "it does not move elsewhere");
  const split = await put(other, [first, { title: "B", start: 30_000 }]);
  assert.deepEqual([split.status, split.body.chapters?.[0].quote], [200, ""], "it is of B now");
  assert.deepEqual(await chaptersOf(other), split.body.chapters);
  const written = await put(id, [{ title: "\u202eFirst line\n\nsecond\u200b line", start: 0 }]);
  assert.equal(written.body.chapters?.[0].title, "First line second line");
  const unseen = await put(id, [{ title: "\u200b\u2060", start: 0 }]);
  assert.equal(unseen.body.violations?.[0]?.pointer, "/chapters/0/title");
});

test("who sees a recording reads its chapters, and only those who may edit the transcript change them", async () => {
  const id = await t.make({ ...meeting(10), participants: [] });
  await t.done(id);
  assert.equal((await put(id, [], t.ben.token)).status, 404, "not seen, not known");
  await call(
    t.app,
    "PUT",
    `/recordings/${id}/users`,
    { user_id: t.ben.id },
    { token: workspace.member.token },
  );
  assert.equal((await chaptersOf(id, t.ben.token)).length, 2);
  assert.equal((await put(id, [], t.ben.token)).status, 403);
  assert.equal((await put(id, [], workspace.member.token)).status, 200);
});
