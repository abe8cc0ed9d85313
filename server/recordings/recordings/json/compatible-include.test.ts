import assert from "node:assert/strict";
import { test } from "node:test";
import { call, olderVersion, startTestApp } from "../../../../test/support/app.ts";
import { makeRecording, makeWorkspace } from "../../../../test/support/factories.ts";
import { startHookReceiver } from "../../../../test/support/hook-receiver.ts";
import { readConfig } from "../../../platform/config/config.ts";

const receiver = await startHookReceiver();
const app = await startTestApp({ env: { PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8" } });
const { member } = await makeWorkspace(app.db);
const { recordingId } = await makeRecording(app, member.token, {
  participants: [{ name: "Ana Lima", email: "ana@other.example", speaker_key: "s1" }],
});
await app.db.pool.query("update recordings set crm = $2 where id = $1", [
  recordingId,
  { crm_company_ids: ["c 1", "c2"], crm_deal_ids: ["d1"] },
]);
await app.db.pool.query("update participants set crm_contact_id = 'k1' where recording_id = $1", [
  recordingId,
]);

const createToken = async (compatibility?: string) => {
  const created = await call(
    app,
    "POST",
    "/_/api/v1/tokens",
    { type: "personal_access_token", name: "Client", ...(compatibility ? { compatibility } : {}) },
    { token: member.token },
  );
  return created.body;
};

const read = async (token: string, include: Record<string, boolean>) => {
  const body = { include: { participants: true, ...include } };
  const got = await call(app, "POST", `/recordings/${recordingId}`, body, { token });
  const listed = await call(app, "POST", "/recordings", body, { token });
  assert.deepEqual(listed.body.recordings, [got.body]);
  for (const { headers } of [got, listed])
    assert.equal(headers.get("warning") !== null, Boolean(include.hubspot) && !("hubspot" in got.body));
  return got.body;
};

test("compatibility=hubspot: include.hubspot and include.crm return both names", async () => {
  const { token, compatibility } = await createToken("hubspot");
  assert.equal(compatibility, "hubspot");
  for (const include of [{ hubspot: true }, { crm: true }]) {
    const recording = await read(token, include);
    assert.deepEqual(recording.hubspot, { hubspot_company_ids: ["c 1", "c2"], hubspot_deal_ids: ["d1"] });
    assert.deepEqual(recording.crm, { crm_company_ids: ["c 1", "c2"], crm_deal_ids: ["d1"] });
    const [participant] = recording.participants;
    assert.deepEqual([participant.hs_contact_id, participant.crm_contact_id], ["k1", "k1"]);
  }
  const without = await read(token, {});
  assert.deepEqual([without.hubspot, without.crm], [undefined, undefined]);
});

test("without compatibility include.hubspot is ignored with a warning, and crm has its own names only", async () => {
  const { token, compatibility } = await createToken();
  assert.equal(compatibility, "none");
  assert.equal((await read(token, { hubspot: true })).hubspot, undefined);
  const recording = await read(token, { hubspot: true, crm: true });
  assert.equal(recording.hubspot, undefined);
  assert.equal("hs_contact_id" in recording.participants[0], false);
});

test("without compatibility a hook with include.hubspot is created with a warning", async () => {
  const hook = async (token: string, type: string) =>
    call(
      app,
      "POST",
      "/hooks/create",
      { hook_url: `${receiver.url}/hook`, hook_type: type, include: { hubspot: true } },
      { token, version: olderVersion },
    );
  const plain = (await createToken()).token;
  const ignored = await hook(plain, "recording_added");
  assert.deepEqual([ignored.status, ignored.body.include], [200, {}]);
  assert.match(
    ignored.headers.get("warning") ?? "",
    /^299 parley "include\.hubspot is ignored; use include\.crm/,
  );
  const compatible = await hook((await createToken("hubspot")).token, "recording_added");
  assert.deepEqual(compatible.body.include, { crm: true, hubspot: true });
  assert.equal(compatible.headers.get("warning"), null);
  // A type without this include has nothing to choose another token for.
  assert.equal((await hook(plain, "recording_deleted")).headers.get("warning"), null);
});

test("PARLEY_COMPAT refuses unknown values", () => {
  assert.equal(readConfig({ PARLEY_COMPAT: "hubspot" }, "/nowhere").compatibility, "hubspot");
  assert.throws(() => readConfig({ PARLEY_COMPAT: "salesforce" }, "/nowhere"), /PARLEY_COMPAT/);
});
