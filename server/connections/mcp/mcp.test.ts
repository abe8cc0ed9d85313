import assert from "node:assert/strict";
import { test } from "node:test";
import { startTestApp } from "../../../test/support/app.ts";
import { makeRecording, makeUser, makeWorkspace, unknownId } from "../../../test/support/factories.ts";
import { callTool, connectTo } from "./test/client.ts";

const app = await startTestApp();
const workspace = await makeWorkspace(app.db);
const stranger = await makeUser(app.db, workspace);
const { recordingId } = await makeRecording(app, workspace.member.token, {
  title: "Harbour planning",
  start_datetime: "2026-03-02T09:00:00Z",
  participants: [{ name: "Ana Lima", email: "ana@other.example", speaker_key: "s1" }],
});

const connect = (token: string) => connectTo(app, token);

test("an assistant finds the tools, each marked as reading only", async () => {
  const client = await connect(workspace.member.token);
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map(({ name }) => name).sort(), [
    "ask",
    "fetch",
    "get_recording",
    "list_action_items",
    "list_comments",
    "list_highlights",
    "list_recordings",
    "read_transcript",
    "search",
  ]);
  assert.ok(tools.every((tool) => tool.annotations?.readOnlyHint === true));
  await client.close();
});

test("a page of a foreign origin gets 403, and a body that isn't JSON the error -32700 of JSON-RPC", async () => {
  const post = (body: string, origin?: string) =>
    fetch(`${app.url}/mcp`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${workspace.member.token}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...(origin === undefined ? {} : { origin }),
      },
      body,
    });
  const ping = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
  for (const foreign of ["https://evil.example", "null"]) {
    const refused = await post(ping, foreign);
    assert.equal(refused.status, 403);
    assert.match(await refused.text(), /"error":"forbidden"/);
  }
  for (const own of [undefined, new URL(app.config.baseUrl).origin])
    assert.equal((await post(ping, own)).status, 200);
  const broken = await post('{"jsonrpc": "2.0", "id": 1');
  assert.equal(broken.status, 400);
  assert.match(await broken.text(), /^\{"jsonrpc":"2.0","id":null,"error":\{"code":-32700,"message":/);
});

test("search, list, get and read return what the user may see, with the time of each hit", async () => {
  const client = await connect(workspace.member.token);
  const found = await callTool(client, "search", { query: "contract" });
  assert.equal(found.results[0].recording.id, recordingId);
  const hit = found.results[0].hits.find((one: { kind: string }) => one.kind === "transcript");
  assert.equal(hit.timestamp, 4200);

  const listed = await callTool(client, "list_recordings", { title: "harbour" });
  assert.deepEqual(
    listed.recordings.map(({ id }: { id: string }) => id),
    [recordingId],
  );
  const got = await callTool(client, "get_recording", { recording_id: recordingId });
  assert.equal(got.title, "Harbour planning");
  assert.equal(got.participants[0].name, "Ana Lima");
  assert.deepEqual(got.chapters, []);

  const whole = await callTool(client, "read_transcript", { recording_id: recordingId });
  assert.match(whole.text, /^\[0:00\] Ana Lima: Good morning, shall we begin\?\n\[0:04\] .*harbour contract/);
  assert.equal(whole.next_from_ms, null);
  const around = await callTool(client, "read_transcript", {
    recording_id: recordingId,
    around_ms: 11_000,
    window_ms: 1000,
  });
  assert.equal(around.text, "[0:09] Ana Lima: It is signed.");
  const highlights = await callTool(client, "list_highlights", { recording_id: recordingId });
  assert.deepEqual(highlights.highlights, []);
  const comments = await callTool(client, "list_comments", { recording_id: recordingId });
  assert.deepEqual(comments.comments, []);
  await client.close();
});

for (const mode of ["contract", "by-name"])
  test(`list_recordings, PARLEY_DATETIME_FILTERS=${mode}: started_from is inclusive, started_before exclusive`, async () => {
    const own = await startTestApp({ env: { PARLEY_DATETIME_FILTERS: mode } });
    const { member } = await makeWorkspace(own.db);
    const made = await makeRecording(own, member.token, { start_datetime: "2026-03-02T09:00:00Z" });
    const client = await connectTo(own, member.token);
    const ids = async (input: Record<string, unknown>) =>
      (await callTool(client, "list_recordings", input)).recordings.map(({ id }: { id: string }) => id);
    for (const at of [
      "2026-03-02T09:00:00Z",
      "2026-03-02T10:00+01:00",
      "20260302T09",
      "2026-03-02T09:00:00,0",
    ]) {
      assert.deepEqual(await ids({ started_from: at }), [made.recordingId], at);
      assert.deepEqual(await ids({ started_before: at }), [], at);
    }
    assert.deepEqual(await ids({ started_from: "2026-03-02T09:00:00.001Z" }), []);
    assert.deepEqual(await ids({ started_before: "2026-03-02T09:00:00.001Z" }), [made.recordingId]);
    const refused = await callTool(client, "list_recordings", { started_from: "yesterday" });
    assert.match(refused.refused, /ISO 8601/);
    await client.close();
  });

test("a recording that the token can't see is unknown to every tool, in the words of an unknown one", async () => {
  const client = await connect(stranger.token);
  assert.deepEqual((await callTool(client, "search", { query: "contract" })).results, []);
  assert.deepEqual((await callTool(client, "list_recordings")).recordings, []);
  for (const name of ["get_recording", "read_transcript", "list_highlights"]) {
    const unknown = unknownId();
    const hidden = await callTool(client, name, { recording_id: recordingId });
    const missing = await callTool(client, name, { recording_id: unknown });
    assert.match(hidden.refused, /there is no recording/);
    assert.equal(hidden.refused.replace(recordingId, "ID"), missing.refused.replace(unknown, "ID"));
  }
  await client.close();
});

test("search and fetch have the shape that assistants expect: one text with id, title, url, and the text of a result", async () => {
  const client = await connect(workspace.member.token);
  const found = await callTool(client, "search", { query: "contract" });
  const { id, title, url } = found.results[0];
  assert.deepEqual([id, title, url], [recordingId, "Harbour planning", found.results[0].recording.url]);
  const document = await callTool(client, "fetch", { id });
  assert.deepEqual(Object.keys(document).sort(), ["id", "metadata", "text", "title", "url"]);
  assert.deepEqual([document.id, document.title, document.url], [id, title, url]);
  assert.match(
    document.text,
    /^# Harbour planning\n[\s\S]*Ana Lima <ana@other\.example>[\s\S]*harbour contract/,
  );
  assert.equal(document.metadata.transcript_continues_at_ms, null);
  assert.doesNotMatch(document.text, /## Summary/, "there is no summary yet");
  await app.db.pool.query(
    `update recordings set ai_summary = 'All agreed.',
      ai_chapters = '[{"title": "Greeting", "start": 4000, "quote": ""}]' where id = $1`,
    [recordingId],
  );
  assert.match(
    (await callTool(client, "fetch", { id })).text,
    /\n\n## Summary\n\nAll agreed\.\n\n## Chapters\n\n\[0:04\] Greeting\n\n## Transcript/,
  );
  await client.close();
});

test("points of summary and sections, and action items, have their quotes and moments", async () => {
  const client = await connect(workspace.member.token);
  const point = { heading: "Contract", text: "It is done.", quote: "It is signed.", start: 9100 };
  const item = { id: unknownId(), status: "pending", timestamp: 9100, text: "Send it", assignee_id: null };
  await app.db.pool.query(
    `update recordings set ai_summary = '- It is done.', ai_summary_points = $2, ai_action_items = $3,
      ai_template_sections = $4 where id = $1`,
    [
      recordingId,
      JSON.stringify([point, { ...point, text: "All are glad." }]),
      JSON.stringify([{ ...item, quote: point.quote, due_on: "2026-03-06" }]),
      JSON.stringify([
        {
          ...{ title: "Done", data: { kind: "bullets", items: ["It is done."] } },
          ...{ markdown: "- It is done.", text: "- It is done.", points: [point] },
        },
      ]),
    ],
  );
  const got = await callTool(client, "get_recording", { recording_id: recordingId });
  assert.deepEqual([got.summary_points[0], got.section_points], [point, [[point]]]);
  const [{ quote, timestamp, due_date }] = got.ai_action_items;
  assert.deepEqual([quote, timestamp, due_date], [point.quote, 9100, "2026-03-06"]);
  assert.equal(got.ai_template_sections[0].title, "Done");
  assert.match(
    (await callTool(client, "fetch", { id: recordingId })).text,
    /## Summary\n\n### Contract\n\n- \[0:09\] It is done\. \("It is signed\."\)\n- \[0:09\] All are glad\./,
  );
  await app.db.pool.query(
    "update recordings set ai_summary = null, ai_chapters = null, ai_action_items = null, ai_template_sections = null where id = $1",
    [recordingId],
  );
  await client.close();
});

test("recordings are resources, for those who may see them, and prompts name the tools to use", async () => {
  const client = await connect(workspace.member.token);
  const uri = `parley://recordings/${recordingId}`;
  const { resources } = await client.listResources();
  assert.deepEqual(
    resources.map((resource) => [resource.uri, resource.name]),
    [[uri, "Harbour planning"]],
  );
  const { contents } = await client.readResource({ uri });
  assert.match((contents[0] as { text: string }).text, /harbour contract/);
  const { prompts } = await client.listPrompts();
  assert.deepEqual(
    prompts.map(({ name }) => name),
    ["summarize_meeting", "prepare_for_meeting", "list_action_items"],
  );
  const { messages } = await client.getPrompt({
    name: "summarize_meeting",
    arguments: { meeting: "Harbour" },
  });
  assert.match(JSON.stringify(messages), /Find the meeting .*Harbour.* with fetch/);
  await client.close();

  const other = await connect(stranger.token);
  assert.deepEqual((await other.listResources()).resources, []);
  await assert.rejects(other.readResource({ uri }), /there is no recording/);
  await assert.rejects(other.readResource({ uri: "parley://recordings/..%2Fusers" }), /UUID/);
  await other.close();
});

/** A recording whose transcript has so many segments of a second each. */
async function makeLongRecording(segments: number): Promise<string> {
  const { recordingId: id } = await makeRecording(app, workspace.member.token);
  await app.db.pool.query("delete from transcript_segments where recording_id = $1", [id]);
  await app.db.pool.query(
    `insert into transcript_segments (recording_id, position, speaker, start_ms, end_ms, text)
     select $1, n, 'Ana', n * 1000, n * 1000 + 900, n || repeat(' word', 10) from generate_series(0, $2 - 1) n`,
    [id, segments],
  );
  return id;
}

test("long transcripts come in parts that together are the whole", async () => {
  const client = await connect(workspace.member.token);
  const id = await makeLongRecording(3000);
  const lines: string[] = [];
  let from: number | null = 0;
  while (from !== null) {
    const part = await callTool(client, "read_transcript", { recording_id: id, from_ms: from });
    assert.ok(part.text.length <= 60_000);
    lines.push(...part.text.split("\n"));
    from = part.next_from_ms;
  }
  assert.equal(lines.length, 3000);
  assert.equal(lines[2999], `[49:59] Ana: 2999${" word".repeat(10)}`);
  const document = await callTool(client, "fetch", { id });
  assert.ok(document.metadata.transcript_continues_at_ms > 0);
  const range = await callTool(client, "read_transcript", { recording_id: id, from_ms: 1950, to_ms: 3000 });
  assert.deepEqual(
    range.text.split("\n").map((line: string) => line.slice(0, 14)),
    ["[0:02] Ana: 2 ", "[0:03] Ana: 3 "],
  );
  // One segment longer than a part is cut.
  await app.db.pool.query(
    "update transcript_segments set text = repeat('x', 70000) where recording_id = $1 and position = 0",
    [id],
  );
  const first = await callTool(client, "read_transcript", { recording_id: id });
  assert.deepEqual([first.text.length, first.next_from_ms], ["[0:00] Ana: ".length + 60_000, 1000]);
  await client.close();
});

test("a part costs the server what it has, however long the rest of the transcript is", async () => {
  const client = await connect(workspace.member.token);
  const cost = async (recording_id: string): Promise<number> => {
    const before = process.cpuUsage();
    for (let round = 0; round < 10; round++)
      await callTool(client, "read_transcript", { recording_id, around_ms: 50_000, window_ms: 10_000 });
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
  const [short, long] = [await makeLongRecording(100), await makeLongRecording(50_000)];
  await cost(short);
  const [ofShort, ofLong] = [await cost(short), await cost(long)];
  // Reading all of the long one takes 100 ms and more each time.
  assert.ok(ofLong < 2 * ofShort + 200, `${ofShort} ms, ${ofLong} ms`);
  await client.close();
});

test("a batch has at most ten messages", async () => {
  const send = (count: number) => {
    const message = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };
    return fetch(`${app.url}/mcp`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${workspace.member.token}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
      body: JSON.stringify(Array.from({ length: count }, (_, index) => ({ ...message, id: index }))),
    });
  };
  const many = await send(11);
  assert.equal(many.status, 400);
  assert.deepEqual(await many.json(), {
    jsonrpc: "2.0",
    id: null,
    error: { code: -32600, message: "a batch has at most 10 messages; send several" },
  });
  const ten = await send(10);
  assert.equal(ten.status, 200);
  assert.equal(((await ten.json()) as unknown[]).length, 10);
});

test("invalid input is reported to the assistant, and the connection stays usable", async () => {
  const client = await connect(workspace.member.token);
  const wrong = await callTool(client, "search", { query: "contract", from: "yesterday" });
  assert.match(wrong.refused, /^from must be/);
  const empty = await callTool(client, "search", { query: "!!!" });
  assert.equal(empty.refused, "query contains no word; use letters, digits or emoji");
  const early = await callTool(client, "list_recordings", { started_from: "yesterday" });
  assert.match(early.refused, /^started_from must be .*ISO 8601/);
  assert.equal((await callTool(client, "search", { query: "contract" })).results.length, 1);
  await client.close();
});

test("without a good token: 401 that leads to where people sign in", async () => {
  for (const headers of [{}, { authorization: `Bearer parley_pat_${"x".repeat(43)}` }]) {
    const response = await fetch(`${app.url}/mcp`, { method: "POST", headers, body: "{}" });
    assert.equal(response.status, 401);
    const challenge = response.headers.get("www-authenticate") ?? "";
    const address = /resource_metadata="([^"]+)"/.exec(challenge)?.[1] ?? "";
    const metadata = (await (await fetch(address.replace("http://parley.test", app.url))).json()) as Record<
      string,
      unknown
    >;
    assert.equal(metadata.resource, "http://parley.test/mcp");
    assert.deepEqual(metadata.authorization_servers, ["http://parley.test"]);
  }
});

test("there are no sessions: GET and DELETE are 405, and broken messages are refused", async () => {
  const headers = {
    authorization: `Bearer ${workspace.member.token}`,
    accept: "application/json, text/event-stream",
    "content-type": "application/json",
  };
  for (const method of ["GET", "DELETE"])
    assert.equal((await fetch(`${app.url}/mcp`, { method, headers })).status, 405);
  const broken = await fetch(`${app.url}/mcp`, { method: "POST", headers, body: '{"jsonrpc":"2.0"}' });
  assert.equal(broken.status, 400);
});
