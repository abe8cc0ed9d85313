import assert from "node:assert/strict";
import { test } from "node:test";
import { startTestApp } from "../../../../test/support/app.ts";
import { makeRecording, makeUser, makeWorkspace } from "../../../../test/support/factories.ts";
import { until } from "../../../../test/support/until.ts";
import { manage } from "../test/retention.ts";

const app = await startTestApp({ env: { PARLEY_PAGE_SIZE: "2" } });

test("preview: lists what the erasure will then do, and changes nothing", async () => {
  const workspace = await makeWorkspace(app.db);
  const { admin, member } = workspace;
  const zora = await makeUser(app.db, workspace, { name: "Zora" });
  const participants = [{ name: "Zora", email: zora.email.toUpperCase() }];
  const made: string[] = [];
  for (const title of ["First", "Second", "Held"])
    made.push((await makeRecording(app, member.token, { title, participants })).recordingId);
  await makeRecording(app, member.token, { title: "Without" });
  const held = made[2] ?? "";
  await manage(app, "PUT", `/recordings/${held}/legal-hold`, admin.token, { reason: "A case" });
  const preview = () => manage(app, "POST", "/erasures/preview", admin.token, { email: zora.email });
  const { status, body, text } = await preview();
  assert.equal(status, 200, text);
  assert.deepEqual(
    { ...body, newest: body.newest.map(({ title }: { title: string }) => title).sort() },
    {
      account: { id: zora.id, name: "Zora", role: "member" },
      recordings: 3,
      held: 1,
      uploads: 0,
      newest: ["First", "Second"],
      refused: null,
      refused_cause: null,
    },
  );
  assert.deepEqual((await preview()).body, body);
  const erasure = (
    await manage(app, "POST", "/erasures", admin.token, { email: zora.email, recordings: "delete" })
  ).body;
  const done = await until("it is done", async () => {
    const found = (await manage(app, "GET", `/erasures/${erasure.id}`, admin.token)).body;
    return found.status === "done" ? found : undefined;
  });
  assert.equal(done.receipt.recordings_deleted, body.recordings - body.held);
  assert.deepEqual(done.receipt.held, [held]);
});

test("preview: says why it would be refused, and finds no data of other workspaces", async () => {
  const { admin } = await makeWorkspace(app.db);
  const stranger = await makeWorkspace(app.db);
  const ask = (email: string) => manage(app, "POST", "/erasures/preview", admin.token, { email });
  const own = (await ask(admin.email)).body;
  assert.match(own.refused, /ask another admin/);
  assert.equal(own.refused_cause.code, "own_data");
  const nobody = (await ask(stranger.member.email)).body;
  assert.deepEqual([nobody.account, nobody.recordings, nobody.refused], [null, 0, null]);
  assert.equal((await ask("no address")).status, 400);
});

test("list: pages of the workspace's own erasures, newest first", async () => {
  const { admin } = await makeWorkspace(app.db);
  const stranger = await makeWorkspace(app.db);
  const made: string[] = [];
  for (const name of ["a", "b", "c"])
    made.unshift(
      (await manage(app, "POST", "/erasures", admin.token, { email: `${name}@gone.example` })).body.id,
    );
  const list = async (query: string, token: string) =>
    (await manage(app, "GET", `/erasures${query}`, token)).body;
  const first = await list("", admin.token);
  const second = await list(`?cursor=${first.cursor}`, admin.token);
  assert.deepEqual(
    [...first.erasures, ...second.erasures].map(({ id }: { id: string }) => id),
    made,
  );
  assert.equal(second.cursor, null);
  assert.deepEqual((await list("", stranger.admin.token)).erasures, []);
});
