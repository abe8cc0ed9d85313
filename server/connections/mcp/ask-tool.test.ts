import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { makeUser, unknownId } from "../../../test/support/factories.ts";
import { until } from "../../../test/support/until.ts";
import { quoting, slowly } from "../../processing/ask/test/asking.ts";
import { startIntelligence } from "../../processing/intelligence/test/intelligence.ts";
import { makeSpoken } from "../../recordings/search/test/search.ts";
import { callTool, connectTo } from "./test/client.ts";

const { app, db, model, workspace } = await startIntelligence();
const { member } = workspace;
const other = await makeUser(db, workspace);
const boats = await makeSpoken(app, member.token, "Harbour", ["The harbour contract is signed on Friday."]);
const secret = await makeSpoken(app, other.token, "Secret", ["The harbour is sold on Friday."]);

beforeEach(() => model.reset());

test("ask returns proven statements with a link to their moment, and only what the token's user sees", async () => {
  model.otherwise(quoting("Friday"));
  const client = await connectTo(app, member.token);
  const found = await callTool(client, "ask", { question: "When is the harbour contract signed?" });
  assert.deepEqual(found.statements, [
    {
      text: "It was said: The harbour contract is signed on Friday.",
      quote: "The harbour contract is signed on Friday.",
      recording_id: boats,
      start: 0,
      end: 9000,
      title: "Harbour",
      url: `${app.config.baseUrl}/recordings/${boats}?t=0`,
    },
  ]);
  assert.deepEqual([found.left_out, "message" in found], [0, false]);
  const { rows } = await db.pool.query(
    "select user_id, credential, details from audit_log where action = 'question_asked' order by id desc limit 1",
  );
  assert.deepEqual(
    [rows[0].user_id, rows[0].credential, rows[0].details],
    [member.id, "personal_access_token", { recordings: [boats] }],
  );
  const again = await callTool(client, "ask", { question: "And the pier?", thread_id: found.thread_id });
  assert.equal(again.thread_id, found.thread_id);
  const none = await callTool(client, "ask", { question: "harbour", to: "2001-01-01T00:00:00Z" });
  assert.deepEqual([none.statements, none.message], [[], "Your meetings don't say."]);
  await client.close();
});

test("what ask can't do is refused in the words of the API, by the names of the tool's inputs", async () => {
  const client = await connectTo(app, member.token);
  const refused = async (input: object) =>
    (await callTool(client, "ask", { question: "harbour", ...input })).refused;
  assert.match(await refused({ recording_id: secret }), /there is no recording/);
  assert.match(await refused({ thread_id: unknownId() }), /there is no thread/);
  assert.match(await refused({ from: "yesterday" }), /^from must be/);
  assert.match(await refused({ recording_id: boats, tag: "x" }), /^a filter can't be used/);
  const service = await connectTo(app, workspace.token);
  assert.match((await callTool(service, "ask", { question: "harbour" })).refused, /personal token/);
  model.otherwise((_request, response) => void response.destroy());
  assert.ok((await refused({ recording_id: boats })).length > 0);
  await Promise.all([client.close(), service.close()]);
});

test("an assistant that follows its question gets progress before its timeout, without words of the meeting", async () => {
  const asker = await makeUser(db, workspace);
  const mine = await makeSpoken(app, asker.token, "Mine", ["The lighthouse is painted red in May."]);
  const waited = Promise.withResolvers<void>();
  model.otherwise(async (request, response) => {
    await waited.promise;
    return quoting("lighthouse")(request, response);
  });
  const client = await connectTo(app, asker.token);
  const messages: (string | undefined)[] = [];
  const asked = await client.callTool(
    { name: "ask", arguments: { question: "harbour", recording_id: mine } },
    undefined,
    {
      timeout: 5000,
      resetTimeoutOnProgress: true,
      onprogress: ({ progress, message }) => {
        assert.equal(progress, messages.push(message));
        // For longer than the timeout.
        if (messages.filter((each) => each?.endsWith("statements so far: 0.")).length === 3) waited.resolve();
      },
    },
  );
  const found = asked.structuredContent as { statements: { text: string }[] };
  assert.deepEqual(
    found.statements.map(({ text }) => text),
    ["It was said: The lighthouse is painted red in May."],
  );
  assert.deepEqual(
    [messages[0], messages.at(-1)],
    ["Searching.", "Reading. Passages: 1, meetings: 1, statements so far: 1."],
  );
  assert.doesNotMatch(JSON.stringify(messages), /lighthouse/);
  await client.close();
});

test("closing the assistant's request ends the model's work", async () => {
  const asker = await makeUser(db, workspace);
  const mine = await makeSpoken(app, asker.token, "Mine", ["The lighthouse is painted red in May."]);
  const slow = slowly();
  model.otherwise(slow.behaviour);
  const client = await connectTo(app, asker.token);
  const asking = callTool(client, "ask", { question: "harbour", recording_id: mine });
  await until("the model writes", async () =>
    model.requests.some(({ wanted }) => wanted.includes("statements")),
  );
  await client.close();
  await assert.rejects(asking);
  await slow.closed;
});
