import assert from "node:assert/strict";
import { after, test } from "node:test";
import { call, startTestApp } from "../../../../test/support/app.ts";
import { startDnsServer } from "../../../../test/support/dns-server.ts";
import { makeUser, makeWorkspace } from "../../../../test/support/factories.ts";
import { ConfigError, readConfig } from "../../../platform/config/config.ts";
import { createUser } from "../service.ts";
import { auditOf } from "../test/accounts.ts";
import { claimAtCreation, claimByOperator } from "./claim-domains.ts";
import { findDomainOwner, toClaimKey } from "./email-domains.ts";

const dns = await startDnsServer();
after(() => dns.close());
const app = await startTestApp({ worker: false, env: { PARLEY_DNS_SERVERS: dns.address } });
const { db } = app;
const unique = () => `d${Math.random().toString(36).slice(2, 10)}.example`;
const manage = (token: string, method: string, path: string, body?: unknown) =>
  call(app, method, `/_/api/v1${path}`, body, { token, version: null });
const claimAs = (workspaceId: string, domain: string) =>
  db.kysely.transaction().execute((tx) => claimByOperator(tx, workspaceId, domain));

test("a domain is claimed by its TXT record, and then belongs to one workspace", async () => {
  const [own, other] = [await makeWorkspace(db), await makeWorkspace(db)];
  const domain = unique();
  const { token } = own.admin;
  const started = await manage(token, "POST", "/email-domain-claims", { domain: `@${domain.toUpperCase()}` });
  assert.equal(started.status, 200, started.text);
  assert.deepEqual(
    [started.body.domain, started.body.state, started.body.claimed_by, started.body.claimed_datetime],
    [domain, "pending", null, null],
  );
  const { name, value } = started.body.dns_record;
  const again = await manage(token, "POST", "/email-domain-claims", { domain });
  assert.deepEqual(again.body, started.body);

  const verify = (as: string) => manage(as, "POST", `/email-domain-claims/${domain}/verify`);
  for (const values of [undefined, ["something else"]]) {
    if (values !== undefined) dns.records.set(name, values);
    const missing = await verify(token);
    assert.deepEqual([missing.status, missing.body.error], [409, "wrong_state"]);
    assert.ok(missing.body.detail.includes(name) && missing.body.detail.includes(value));
  }
  // A pending claim keeps nobody out.
  assert.equal(
    (await manage(other.admin.token, "POST", "/users", { email: `a@${domain}`, name: "A" })).status,
    200,
  );
  dns.records.set(name, ["v=spf1 -all", value]);
  const done = await verify(token);
  assert.deepEqual([done.status, done.body.state, done.body.claimed_by], [200, "claimed", "dns"]);
  assert.deepEqual((await verify(token)).body, done.body);
  const log = await auditOf(db, own.id);
  assert.deepEqual(
    log.filter(({ action }) => action.startsWith("email_domain")).map(({ details }) => details),
    [{ by: "dns", domain }],
  );

  // Another workspace proves the same domain too, and does not get it.
  const rival = await manage(other.admin.token, "POST", "/email-domain-claims", { domain });
  assert.notEqual(rival.body.dns_record.value, value);
  dns.records.set(name, [value, rival.body.dns_record.value]);
  assert.equal((await verify(other.admin.token)).status, 409);
  assert.equal((await manage(token, "DELETE", `/email-domain-claims/${domain}`)).status, 200);
  assert.equal((await manage(token, "DELETE", `/email-domain-claims/${domain}`)).status, 404);
  assert.equal((await verify(other.admin.token)).status, 200);
});

test("a DNS server that never responds delays the request for less than 10 seconds", async () => {
  const own = await makeWorkspace(db);
  const domain = unique();
  await manage(own.admin.token, "POST", "/email-domain-claims", { domain });
  dns.silent = true;
  const before = Date.now();
  const answer = await manage(own.admin.token, "POST", `/email-domain-claims/${domain}/verify`);
  dns.silent = false;
  assert.deepEqual([answer.status, answer.body.error], [503, "unavailable"]);
  assert.ok(Date.now() - before < 10_000, `${Date.now() - before} ms`);
});

test("claims are bounded: 100 for each workspace, and lookups are rate limited", async () => {
  const own = await makeWorkspace(db);
  for (let index = 0; index < 100; index++) await claimAs(own.id, `n${index}-${unique()}`);
  const full = await manage(own.admin.token, "POST", "/email-domain-claims", { domain: unique() });
  assert.equal(full.status, 409);
  const statuses = [];
  for (let index = 0; index < 20; index++)
    statuses.push((await manage(own.admin.token, "POST", "/email-domain-claims/none.example/verify")).status);
  assert.ok(statuses.includes(429), String(statuses));
});

test("an invalid email domain is refused by field", async () => {
  const own = await makeWorkspace(db);
  for (const domain of ["no domain", "com", "a..b", "http://a.example", "x@a.example"]) {
    const answer = await manage(own.admin.token, "POST", "/email-domain-claims", { domain });
    assert.deepEqual([answer.status, answer.body.violations?.[0]?.pointer], [400, "/domain"], domain);
  }
});

test("an email in a claimed domain can be invited in its workspace only, in every spelling", async () => {
  const [own, other] = [await makeWorkspace(db), await makeWorkspace(db)];
  await claimAs(own.id, "münchen.example");
  for (const email of [
    "ceo@münchen.example",
    "ceo@MÜNCHEN.example",
    "ceo@xn--mnchen-3ya.example",
    "ceo@xn--mnchen-3ya.example.",
    " ceo@XN--MNCHEN-3YA.Example ",
  ]) {
    const refused = await manage(other.admin.token, "POST", "/users", { email, name: "C" });
    assert.deepEqual([refused.status, refused.body.violations?.[0]?.pointer], [400, "/email"], email);
  }
  assert.equal(
    (await manage(own.admin.token, "POST", "/users", { email: "ceo@münchen.example", name: "C" })).status,
    200,
  );
  // Refuses the operator too, but says why.
  await assert.rejects(
    db.kysely
      .transaction()
      .execute((tx) =>
        createUser(tx, { workspaceId: other.id, email: "cfo@münchen.example", name: "C", role: "member" }),
      ),
    (error: Error) => error.message.includes(own.id),
  );
});

test("the refusal of an invitation does not reveal other workspaces", async () => {
  const [own, other] = [await makeWorkspace(db), await makeWorkspace(db)];
  const claimed = unique();
  await claimAs(other.id, claimed);
  const existing = await makeUser(db, { id: other.id, domain: claimed });
  const texts = [];
  for (const email of [other.member.email, existing.email, `nobody@${claimed}`]) {
    const answer = await manage(own.admin.token, "POST", "/users", { email, name: "X" });
    assert.equal(answer.status, 400);
    texts.push(answer.body.violations[0].detail.replaceAll(email, "EMAIL"));
  }
  assert.equal(new Set(texts).size, 1, texts.join("\n"));
  assert.doesNotMatch(texts[0] ?? "", /already|exists|another workspace|claimed/i);
  const mine = await manage(own.admin.token, "POST", "/users", { email: own.member.email, name: "X" });
  assert.match(mine.body.violations[0].detail, /already/);
});

test("a claim ends invitations to other workspaces, and no new link can be created", async () => {
  const [own, other] = [await makeWorkspace(db), await makeWorkspace(db)];
  const domain = unique();
  const invited = await manage(other.admin.token, "POST", "/users", { email: `ceo@${domain}`, name: "C" });
  await claimAs(own.id, domain);
  const again = await manage(other.admin.token, "POST", `/users/${invited.body.user.id}/invitation`);
  assert.equal(again.status, 409);
  assert.doesNotMatch(again.text, new RegExp(own.id));
  const used = await fetch(app.url + new URL(invited.body.invitation.url).pathname, {
    method: "POST",
    body: new URLSearchParams({ name: "Eve", password: "three geese over the weir" }),
  });
  assert.equal(used.status, 404);
  // The workspace that owns the domain gets the email; the other one keeps an empty account.
  const mine = await manage(own.admin.token, "POST", "/users", { email: `ceo@${domain}`, name: "C" });
  assert.equal(mine.status, 200, mine.text);
  const left = await manage(other.admin.token, "GET", "/users");
  const released = left.body.users.find(({ id }: { id: string }) => id === invited.body.user.id);
  assert.deepEqual([released.state, released.email.endsWith("@released.invalid")], ["deactivated", true]);
});

test("a domain the operator names for one workspace is claimed; one named for several is not", async () => {
  const domain = unique();
  const ids = [(await makeWorkspace(db)).id, (await makeWorkspace(db)).id, (await makeWorkspace(db)).id];
  const results = [];
  const owners = [];
  for (const id of ids) {
    results.push(await db.kysely.transaction().execute((tx) => claimAtCreation(tx, id, domain)));
    owners.push((await findDomainOwner(db.kysely, domain))?.workspace_id);
  }
  assert.deepEqual(
    [results, owners],
    [
      [true, false, false],
      [ids[0], undefined, undefined],
    ],
  );
  await claimAs(ids[1] ?? "", domain);
  assert.equal((await findDomainOwner(db.kysely, domain))?.workspace_id, ids[1]);
  await assert.rejects(claimAs(ids[0] ?? "", domain), /is claimed by the workspace .*domain release/);
});

test("domains are compared in one form", () => {
  for (const [given, key] of [
    ["Example.COM", "example.com"],
    ["example.com.", "example.com"],
    ["MÜNCHEN.example", "xn--mnchen-3ya.example"],
    ["ｅxample.com", "example.com"],
  ] as const)
    assert.equal(toClaimKey(given), key);
});

test("PARLEY_DNS_SERVERS takes IP addresses with ports and names invalid ones", () => {
  const read = (value: string) => readConfig({ PARLEY_DNS_SERVERS: value }, "/tmp").dnsServers;
  assert.deepEqual(read("192.0.2.53, [2001:db8::53]:5353,2001:db8::1,192.0.2.54:53"), [
    "192.0.2.53",
    "[2001:db8::53]:5353",
    "2001:db8::1",
    "192.0.2.54:53",
  ]);
  for (const wrong of ["dns.example", "192.0.2.53,", "192.0.2.999", "[192.0.2"])
    assert.throws(() => read(wrong), ConfigError, wrong);
});
