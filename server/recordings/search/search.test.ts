import assert from "node:assert/strict";
import { test } from "node:test";
import { call, startTestApp } from "../../../test/support/app.ts";
import { makeWorkspace, unknownId } from "../../../test/support/factories.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import { thumbnailLinks } from "../recordings/json/links.ts";
import { indexOutdated } from "./outdated.ts";
import { search } from "./service.ts";
import { makeSpoken, marked, searchCall, titlesFound } from "./test/search.ts";

const app = await startTestApp();
const workspace = await makeWorkspace(app.db);
const { token } = workspace;
const find = (query: string | Record<string, string>) => titlesFound(app, token, query);
const day = (n: number) => ({ start_datetime: `2026-03-${String(n).padStart(2, "0")}T09:00:00Z` });
const ids: Record<string, string> = {};

const make = async (...[title, lines, attributes, language]: [string, string[], object?, string?]) => {
  ids[title] = await makeSpoken(
    app,
    token,
    title,
    lines,
    { recorder_ids: [workspace.member.id], ...attributes },
    language,
  );
};
await make("Harbour budget", ["Let us begin."], day(1));
await make(
  "Weekly one",
  ["The budget of the harbour is late.", "Nobody knows.", "We talk of budgets again, and of budgets only."],
  day(2),
);
await make("Weekly two", ["Running costs were high.", "The budget, once."], day(3));
await make("Réunion café", ["Nous avons parlé des économies générales.", "Ça coûte cher."], day(4), "fr");
await make("Besprechung", ["Die Häuser am Hafen gehören der Stadt.", "Straßen und Brücken."], day(5), "de");
await make("会議", ["今日の会議は東京で行います。", "予算について話します。"], day(6), "ja");
await make("Klingon", ["nuqneH batlh Daqawlu'taH", "running running"], day(7), "tlh");
await make("Cut", ["We meet at the old", "lighthouse keeper house, and/or at example.com on 3.14"], day(8));

const caravan = Array.from({ length: 12 }, (_, n) => n);
for (const n of caravan) await make(`Caravan ${n}`, ["A dromedary drinks."], day(10 + n));

test("recall: words of title and transcript, in every form, without case and accents", async () => {
  assert.deepEqual(await find("budget"), ["Harbour budget", "Weekly one", "Weekly two"]);
  assert.deepEqual(await find("BUDGETS"), ["Harbour budget", "Weekly one", "Weekly two"]);
  assert.deepEqual(await find("run"), ["Weekly two"], "an unknown language has words, no stems");
  assert.deepEqual((await find("running")).toSorted(), ["Klingon", "Weekly two"]);
  assert.deepEqual(await find("cafe"), ["Réunion café"]);
  assert.deepEqual(await find("CAFÉ"), ["Réunion café"]);
  assert.deepEqual(await find("économie generale"), ["Réunion café"]);
  assert.deepEqual(await find("haus"), ["Besprechung"], "German stems");
  assert.deepEqual(await find("strassen"), ["Besprechung"]);
  assert.deepEqual(await find("cout*"), ["Réunion café"]);
  assert.deepEqual(await find("nosuchword"), []);
});

test("operators: all words, phrases, beginnings, exclusion", async () => {
  assert.deepEqual(await find("harbour late"), ["Weekly one"]);
  assert.deepEqual(await find('"budget of the harbour"'), ["Weekly one"]);
  assert.deepEqual(await find('"harbour of the budget"'), []);
  assert.deepEqual(await find("“harbour budget”"), ["Harbour budget"]);
  assert.deepEqual(await find('"budget of the harb'), []);
  assert.deepEqual(await find('budget -"harbour budget" -running'), ["Weekly one"]);
  assert.deepEqual(await find("budget -harbour"), ["Weekly two"]);
  assert.deepEqual(await find("runn*"), ["Klingon", "Weekly two"]);
  assert.deepEqual(await find('"the old lighthouse keeper"'), ["Cut"], "across the border of two segments");
  assert.deepEqual(await find('"old lighthouse" -"lighthouse keeper"'), []);
  for (const query of ["and/or", "example", "example.com", "3.14", "14"])
    assert.deepEqual(await find(`${query} keeper`), ["Cut"], query);
});

test("stop words are words: they are found as they are", async () => {
  const found = await find("the");
  assert.deepEqual(found.toSorted(), ["Cut", "Weekly one", "Weekly two"]);
  assert.deepEqual(await find('"of the"'), ["Weekly one"]);
});

test("scripts without spaces: any part of a text is found and marked", async () => {
  for (const query of ["会議", "東京", "予算", "日の会"])
    assert.deepEqual(await find(query), ["会議"], query);
  assert.deepEqual(await find("京東"), []);
  const { body } = await searchCall(app, token, { q: "東京" });
  assert.deepEqual(marked(body.results[0]?.hits[0]), ["東京"]);
  assert.equal(body.results[0]?.hits[0]?.timestamp, 0);
});

test("order: a title above a transcript, more above less, then the newer", async () => {
  assert.deepEqual(await find("budget"), ["Harbour budget", "Weekly one", "Weekly two"]);
  assert.deepEqual(await find("harbour"), ["Harbour budget", "Weekly one"]);
});

test("hits: what was found is marked, with the moment and who speaks", async () => {
  const { body } = await searchCall(app, token, { q: "budget" });
  const [inTitle, inTranscript] = body.results;
  assert.deepEqual(
    inTitle?.hits.map((hit) => [hit.kind, hit.snippet.text, marked(hit), hit.timestamp]),
    [["title", "Harbour budget", ["budget"], null]],
  );
  assert.deepEqual(
    inTranscript?.hits.map((hit) => [hit.kind, marked(hit), hit.timestamp]),
    [
      ["transcript", ["budget"], 0],
      ["transcript", ["budgets", "budgets"], 20_000],
    ],
  );
  assert.ok(inTranscript?.hits.every((hit) => hit.speaker !== null));
  const accents = await searchCall(app, token, { q: "economies" });
  assert.deepEqual(marked(accents.body.results[0]?.hits[0]), ["économies"]);
  const phrase = await searchCall(app, token, { q: '"budget of the"' });
  assert.deepEqual(marked(phrase.body.results[0]?.hits[0]), ["budget of the"]);
});

test("hits: tags, participants and highlights are found, highlights with their moment", async () => {
  const id = await makeSpoken(app, workspace.member.token, "Tagged", ["Nothing."], {
    participants: [{ name: "Zoë Quux", email: "zoe@quuxworks.example" }],
  });
  await call(app, "PUT", `/recordings/${id}/tags`, { tag: "flamingo" }, { token });
  await call(
    app,
    "POST",
    `/_/api/v1/recordings/${id}/highlights`,
    { text: "The walrus decides", timestamp: 4000, duration: 1000, tags: ["oyster"] },
    { token, version: null },
  );
  for (const [q, kind, text, timestamp] of [
    ["flamingo", "tag", "flamingo", null],
    ["quux", "participant", "Quux", null],
    ["quuxworks", "participant", "quuxworks", null],
    ["walrus", "highlight", "walrus", 4000],
    ["oyster", "highlight", "oyster", 4000],
  ] as const) {
    const { body } = await searchCall(app, token, { q });
    const hit = body.results[0]?.hits[0];
    assert.deepEqual([hit?.kind, marked(hit), hit?.timestamp], [kind, [text], timestamp], q);
    if (kind === "highlight")
      assert.match(hit?.snippet.text ?? "", /^The walrus decides/, "says which moment");
  }
});

test("filters: each of them, alone and together", async () => {
  const { rows } = await app.db.pool.query(
    "select r.id, r.meeting_type_id from recordings r where r.title = 'Weekly two'",
  );
  const all = ["Harbour budget", "Weekly one", "Weekly two"];
  const cases: [Record<string, string>, string[]][] = [
    [{ from: "2026-03-02T09:00:00Z" }, ["Weekly one", "Weekly two"]],
    [{ to: "2026-03-02T09:00:00Z" }, ["Harbour budget"]],
    [{ from: "2026-03-02", to: "2026-03-03" }, ["Weekly one"]],
    [{ person: workspace.member.email.toUpperCase() }, all],
    [{ person: workspace.member.id }, all],
    [{ person: workspace.member.name }, all],
    [{ person: "nobody@nowhere.example" }, []],
    [{ meeting_type: rows[0].meeting_type_id }, all],
    [{ meeting_type: rows[0].id }, []],
    [{ media_type: "transcript" }, all],
    [{ media_type: "video" }, []],
    [{ tag: "none" }, []],
    [{ recording_id: rows[0].id.toUpperCase() }, ["Weekly two"]],
    [{ team: rows[0].id }, []],
  ];
  for (const [filter, expected] of cases)
    assert.deepEqual(await find({ q: "budget", ...filter }), expected, JSON.stringify(filter));
  await call(app, "PUT", `/recordings/${rows[0].id}/tags`, { tag: "Q3" }, { token });
  assert.deepEqual(await find({ q: "budget", tag: "q3" }), ["Weekly two"]);
});

test("recording_id: every moment in the order of time, a page at a time", async () => {
  const lines = Array.from({ length: 450 }, (_, n) => (n % 2 === 0 ? `ostrich ${n}` : `silence ${n}`));
  const id = await makeSpoken(app, workspace.member.token, "Ostriches", lines);
  const moments: (number | null)[] = [];
  let cursor = "";
  do {
    const { body, text } = await searchCall(app, token, { q: "ostrich", recording_id: id, cursor });
    assert.equal(body.results.length, 1, text);
    moments.push(...(body.results[0]?.hits.map((hit) => hit.timestamp) ?? []));
    cursor = body.cursor ?? "";
  } while (cursor !== "");
  assert.equal(moments[0], null, "the title comes first, once");
  assert.deepEqual(
    moments.slice(1),
    lines.flatMap((_, n) => (n % 2 === 0 ? [n * 10_000] : [])),
  );
});

test("long texts: the snippet is cut around what was found", async () => {
  const far = "filler ".repeat(200);
  await makeSpoken(app, workspace.member.token, "Long", [`${far}pangolin ${far}`]);
  const { body } = await searchCall(app, token, { q: "pangolins" });
  const hit = body.results[0]?.hits[0];
  assert.deepEqual(marked(hit), ["pangolin"]);
  assert.ok((hit?.snippet.text.length ?? 999) < 300);
  assert.match(hit?.snippet.text ?? "", /^…filler.* pangolin filler.*filler…$/);
});

test("invalid queries return 400 and name the problem", async () => {
  for (const [query, pointer] of [
    [{}, "/q"],
    [{ q: "" }, "/q"],
    [{ q: "   " }, "/q"],
    [{ q: "-budget" }, "/q"],
    [{ q: "!!! ???" }, "/q"],
    [{ q: '""' }, "/q"],
    [{ q: "a*" }, "/q"],
    [{ q: "bud\0get" }, "/q"],
    [{ q: "x".repeat(501) }, "/q"],
    [{ q: "a b ".repeat(13) }, "/q"],
    [{ q: "a", from: "yesterday" }, "/from"],
    [{ q: "a", team: "sales" }, "/team"],
    [{ q: "a", media_type: "film" }, "/media_type"],
  ] as const) {
    const { status, body } = await searchCall(app, token, query as Record<string, string>);
    assert.deepEqual([status, body.error], [400, "invalid_input"], JSON.stringify(query));
    assert.deepEqual(body.violations?.[0]?.pointer, pointer, JSON.stringify(query));
  }
});

test("hostile queries: operators, quotes and markup are text", async () => {
  for (const q of [
    "budget & !harbour | (x)",
    "budget'; drop table recordings; --",
    "a\\'b budget",
    "<b>budget</b>",
    "budget:* & 'x':AB <-> y",
    "%_budget%",
    `${"(".repeat(200)}budget`,
    "=english=budget",
    "/s/s",
    "budget \u0001 \u202e \ud800",
    '"budget -harbour"*',
    "-- budget",
    "--budget budget",
    "*budget*",
    `"${"very long phrase ".repeat(25)}"`,
  ]) {
    const { status, text } = await searchCall(app, token, { q });
    assert.ok([200, 400].includes(status), `${q}: ${status} ${text}`);
  }
  assert.deepEqual(await find("=english=run"), [], "a stem of the index is no word");
  assert.deepEqual(await find("'budget'"), ["Harbour budget", "Weekly one", "Weekly two"]);
});

test("results can be sorted by time, page by page, and are counted", async () => {
  const titles: string[] = [];
  let cursor: string | null = null;
  const counts: unknown[] = [];
  do {
    const { body } = await searchCall(app, token, {
      q: "dromedary",
      sort: "oldest",
      ...(cursor === null ? {} : { cursor }),
    });
    titles.push(...body.results.map(({ recording }) => recording.title));
    counts.push(body.count);
    cursor = body.cursor;
  } while (cursor !== null);
  const expected = caravan.map((n) => `Caravan ${n}`);
  assert.deepEqual(titles, expected);
  assert.deepEqual(counts, [{ value: caravan.length, is_exact: true }, null]);
  assert.deepEqual(await find({ q: "dromedary", sort: "newest" }), expected.toReversed().slice(0, 10));
  const { body } = await searchCall(app, token, { q: '"a dromedary"' });
  assert.deepEqual(body.count, { value: caravan.length, is_exact: true });
  assert.equal((await searchCall(app, token, { q: "dromedary", sort: "newest", cursor: "x" })).status, 400);
});

test("a misspelled word gets a suggestion, only from recordings that the caller can see", async () => {
  const suggestion = async (q: string, by = token) => (await searchCall(app, by, { q })).body.suggestion;
  assert.equal(await suggestion("dromedray"), "dromedary", "swapped");
  assert.equal(await suggestion("a dromedar"), "a dromedary", "missing");
  assert.equal(await suggestion("drommedary -camel"), "dromedary -camel", "added");
  assert.equal(await suggestion("dromedary"), null, "has results");
  assert.equal(await suggestion("dromedary keeper"), null, "both words exist");
  assert.equal(await suggestion('"dromedray"'), null, "a phrase is meant as it is");
  assert.equal(await suggestion("xqzvwk"), null);
  assert.equal(await suggestion("dromedray", workspace.admin.token), null, "the admin sees none of them");
});

test("a phrase is counted in the forty recordings that are ranked at most, exactly if those are all", async () => {
  const own = await makeWorkspace(app.db);
  for (let n = 0; n < 44; n += 1)
    await makeSpoken(
      app,
      own.member.token,
      `Pond ${n}`,
      [n % 2 === 0 ? "a blue heron" : "a heron, blue"],
      {},
      "en",
    );
  const countOf = async (q: string) => (await searchCall(app, own.member.token, { q })).body.count;
  assert.deepEqual(await countOf("heron"), { value: 44, is_exact: true });
  assert.deepEqual(await countOf('"blue heron"'), { value: 20, is_exact: false });
  assert.deepEqual(await countOf('"blue heron" -"pond 43"'), { value: 20, is_exact: false });
  assert.deepEqual(await countOf('"blue heron" "pond 2"'), { value: 1, is_exact: true });
  assert.deepEqual(await countOf('"heron blue"'), { value: 20, is_exact: false });
  assert.deepEqual(await countOf('"heron heron"'), { value: 0, is_exact: true });
});

test("a search without time for its suggestion returns its results all the same", async () => {
  const { id: userId } = workspace.member;
  const principal: Principal = {
    tokenId: unknownId(),
    tokenType: "personal_access_token",
    scope: "personal",
    workspaceId: workspace.id,
    userId,
    role: "member",
    emailKey: "member@example.com",
    name: "Member",
    expiresAt: null,
    sees: [userId],
  };
  const warnings: unknown[] = [];
  const log = { warn: (...values: unknown[]) => warnings.push(values) };
  const thumbnails = thumbnailLinks(app.signer, userId);
  const deps = { db: app.db, baseUrl: "http://parley.test", thumbnails, log };
  const ask = (q: string, optionalMs: number) => search({ ...deps, optionalMs }, principal, { q });
  assert.deepEqual((await ask("dromedary", 10_000)).count, { value: caravan.length, is_exact: true });
  assert.deepEqual((await ask("dromedary", 0)).count, { value: caravan.length, is_exact: true });
  assert.equal((await ask("dromedray", 10_000)).suggestion, "dromedary");
  const empty = await ask("dromedray", 0);
  assert.deepEqual([empty.suggestion, empty.count], [null, { value: 0, is_exact: true }]);
  assert.equal(warnings.length, 1);
});

test("moments are found where a stem begins differently from its word", async () => {
  // Serbian stems are in Latin letters.
  await make("Biblioteka", ["Свака књига је нова.", "Говорили смо о књигама."], day(27), "sr");
  const { body } = await searchCall(app, token, { q: "књига" });
  assert.deepEqual(
    body.results.map(({ hits }) => hits.map((hit) => marked(hit))),
    [[["књига"], ["књигама"]]],
  );
});

test("titles are marked where their words have another beginning than the query", async () => {
  await make("Lying in wait", ["Nothing."], day(25));
  const { body } = await searchCall(app, token, { q: "lies" });
  assert.deepEqual(
    body.results.map(({ recording, hits }) => [recording.title, marked(hits[0])]),
    [["Lying in wait", ["Lying"]]],
  );
});

test("a recording in another language between two pages neither repeats nor hides results", async () => {
  const titles = Array.from({ length: 12 }, (_, n) => `Zeppelin ${n}`);
  for (const title of titles) await make(title, ["Nothing."], day(10));
  const first = await searchCall(app, token, { q: "zeppelin" });
  await make("Möte", ["Vi ses i morgon."], day(26), "sv");
  const second = await searchCall(app, token, { q: "zeppelin", cursor: first.body.cursor ?? "" });
  assert.deepEqual(
    [...first.body.results, ...second.body.results].map(({ recording }) => recording.title).toSorted(),
    titles.toSorted(),
  );
});

test("words written together or differently are found, marked and shown with their moment", async () => {
  const written = {
    ko: ["내일 회의에서 예산안이 통과되었습니다", "계약서를 검토했다"],
    he: ["אמרו שהחמצן נגמר", "שָׁלוֹם לכולם", 'צה"ל וג׳ירפה', 'הוא שירת בחו"ל'],
    de: [
      "Die Datenschutzgrundverordnungen gelten.",
      "Im Krankenhaus war ein Gesprächsprotokoll.",
      "Eine Daten\u00adbank und ein Zeit\u200bplan.",
    ],
    en: ["I don't know O’Brien.", "It costs 10,000 or 2.500.000 euros.", "Rock'n'roll 🚀 and 👍🏽!"],
    fr: [
      "Plus de 10 000 personnes à l’assemblée",
      "et 1\u202f234\u202f567 autres d'accord",
      "La réunion d’aujourd’hui même.",
    ],
    ja: ["会議で１０，０００円"],
    uk: ["п’ять і сім’я"],
  };
  for (const [language, lines] of Object.entries(written))
    await make(`Written ${language}`, lines, day(26), language);
  for (const [language, q, mark, line] of [
    ["ko", "회의", "회의", 0],
    ["ko", "예산안", "예산안", 0],
    ["ko", "계약서", "계약서", 1],
    ["ko", "통과", "통과", 0],
    ["he", "חמצן", "שהחמצן", 0],
    ["he", "שלום", "שָׁלוֹם", 1],
    ["he", "שָׁלוֹם", "שָׁלוֹם", 1],
    ["he", "צהל", 'צה"ל', 2],
    ["he", 'צה"ל', 'צה"ל', 2],
    ["he", "ג'ירפה", "וג׳ירפה", 2],
    ["he", 'חו"ל', 'בחו"ל', 3],
    ["he", "חו״ל", 'בחו"ל', 3],
    ["he", "חול", 'בחו"ל', 3],
    ["de", "Datenschutz", "Datenschutzgrundverordnungen", 0],
    ["de", "Verordnung", "Datenschutzgrundverordnungen", 0],
    ["de", "Haus", "Krankenhaus", 1],
    ["de", "Häuser", "Krankenhaus", 1],
    ["de", "Protokolle", "Gesprächsprotokoll", 1],
    ["de", "Datenbank", "Daten\u00adbank", 2],
    ["de", "Zeitplan", "Zeit\u200bplan", 2],
    ["en", "dont", "don't", 0],
    ["en", "don’t", "don't", 0],
    ["en", '"don\'t know"', "don't know", 0],
    ["en", "obrien", "O’Brien", 0],
    ["en", "o'brien", "O’Brien", 0],
    ["en", "brien", "Brien", 0],
    ["en", "10000 costs", "costs", 1],
    ["en", "10,000 euros", "10,000", 1],
    ["en", "2500000", "2.500.000", 1],
    ["en", "rocknroll", "Rock'n'roll", 2],
    ["en", "🚀", "🚀", 2],
    ["en", "👍", "👍🏽", 2],
    ["fr", "10000 personnes", "10 000", 0],
    ["fr", '"10 000 personnes"', "10 000 personnes", 0],
    ["fr", "assemblée", "assemblée", 0],
    ["fr", "l'assemblée", "l’assemblée", 0],
    ["fr", "1234567", "1\u202f234\u202f567", 1],
    ["fr", "d’accord", "d'accord", 1],
    ["fr", "aujourd'hui", "aujourd’hui", 2],
    ["fr", "aujourdhui", "aujourd’hui", 2],
    ["fr", '"aujourd\'hui même"', "aujourd’hui même", 2],
    ["fr", "\"réunion d'aujourd'hui\"", "réunion d’aujourd’hui", 2],
    ["fr", "hui", "hui", 2],
    ["ja", "10000", "１０，０００", 0],
    ["uk", "сімʼя", "сім’я", 0],
    ["uk", "пять", "п’ять", 0],
  ] as const) {
    const { body, text } = await searchCall(app, token, { q });
    const hits = body.results.find(({ recording }) => recording.title === `Written ${language}`)?.hits;
    assert.ok(
      hits?.some((hit) => hit.timestamp === line * 10_000 && marked(hit).includes(mark)),
      `${q}: ${text}`,
    );
  }
  assert.deepEqual(await find("🦄"), [], "an emoji nobody used");
  for (const q of ["schutzgrund", "mzn", "000 costs"]) assert.deepEqual(await find(q), [], q);
  assert.ok((await find("gelten")).includes("Written de"));
  assert.ok(!(await find("gelten -Datenschutzgrundverordnung")).includes("Written de"));
  assert.ok((await find("gelten -Datenschutz")).includes("Written de"), "a compound is another word");
});

test("parts of compounds are found in titles, tags and highlights too", async () => {
  await make("Haushaltssitzung", ["Nichts."], day(26), "de");
  const id = ids.Haushaltssitzung ?? "";
  await call(
    app,
    "POST",
    `/_/api/v1/recordings/${id}/highlights`,
    { text: "Der Mietvertrag gilt", timestamp: 4000, duration: 1000, tags: ["Baugenehmigung"] },
    { token: workspace.member.token, version: null },
  );
  for (const [q, kind, mark] of [
    ["Sitzung", "title", "Haushaltssitzung"],
    ["Haushalt", "title", "Haushaltssitzung"],
    ["Verträge", "highlight", "Mietvertrag"],
    ["Genehmigungen", "highlight", "Baugenehmigung"],
  ] as const) {
    const { body, text } = await searchCall(app, token, { q });
    const hits = body.results.find(({ recording }) => recording.id === id)?.hits ?? [];
    assert.deepEqual([hits[0]?.kind, marked(hits[0])], [kind, [mark]], `${q}: ${text}`);
  }
});

test("recordings indexed by earlier rules are indexed again in the background, and at any change", async () => {
  const titles = ["Outdated one", "Outdated two", "Outdated three"];
  for (const title of titles) await make(title, ["The platypus isn't here."], day(26));
  const outdated = titles.map((title) => ids[title]);
  await app.db.pool.query(
    `update search_recordings set rules = 1, words = ''::tsvector, head = ''::tsvector where recording_id = any($1)`,
    [outdated],
  );
  await app.db.pool.query("delete from search_chunks where recording_id = any($1)", [outdated]);
  assert.deepEqual(await find("platypus"), []);
  await call(app, "PUT", `/recordings/${outdated[0]}/tags`, { tag: "egg" }, { token });
  assert.deepEqual(await find("platypus"), titles.slice(0, 1), "its tag was changed");
  assert.equal(await indexOutdated(app.db.pool, 0), 0, "without time");
  assert.equal(await indexOutdated(app.db.pool, 60_000), 2);
  assert.deepEqual((await find("platypus isnt")).toSorted(), titles.toSorted());
  assert.equal(await indexOutdated(app.db.pool, 60_000), 0, "nothing is left");
});

test("another title, tag or language leaves exactly the words that indexing the recording whole finds", async () => {
  const title = "Kangaroo budgets";
  await make(title, ["The budget of the platypus."], day(27));
  const id = ids[title];
  const entry = async () =>
    (
      await app.db.pool.query(
        "select rules, language, head::text, words::text from search_recordings where recording_id = $1",
        [id],
      )
    ).rows[0];
  const change = (text: string) => app.db.pool.query(text, [id]);
  for (const text of [
    `insert into participants
       (id, recording_id, workspace_id, position, name, email, scope, confirmed_attendee, attended)
     select uuidv7(), id, workspace_id, 9, 'Wanda Wombat', 'wanda@budget.example', 'external', true, true
     from recordings where id = $1`,
    `insert into highlights (id, recording_id, workspace_id, text, start_ms, duration_ms)
     select uuidv7(), id, workspace_id, 'Wombat budgets', 0, 1000 from recordings where id = $1`,
    "update recordings set title = 'A title of more words than the next', start_datetime = start_datetime + interval '1 s' where id = $1",
    "update recordings set title = 'Wombat platypuses' where id = $1",
    "update recordings set tags = '{budget,echidna}' where id = $1",
    "update search_recordings set rules = 2, words = strip(words) where recording_id = $1",
    "update recordings set title = 'Quokka' where id = $1",
    "update recordings set transcript_language = 'de' where id = $1",
    "update recordings set title = 'Kangaroo budgets', transcript_language = null where id = $1",
  ]) {
    await change(text);
    if (text.includes("rules")) continue;
    const changed = await entry();
    await change("select parley_search_mark_changed(array[$1::uuid], true, true)");
    assert.deepEqual(changed, await entry(), text);
    assert.equal(changed.rules, 3);
  }
  assert.deepEqual(await find("quokka"), []);
  assert.deepEqual(await find("kangaroo platypus wanda"), [title]);
});
