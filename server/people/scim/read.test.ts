import assert from "node:assert/strict";
import { test } from "node:test";
import { call, startTestApp } from "../../../test/support/app.ts";
import { makeTeam, makeUser, makeWorkspace } from "../../../test/support/factories.ts";
import { auditOf, givePassword, signInAs } from "../accounts/test/accounts.ts";
import { makeScimToken, scimClient } from "./test/scim.ts";

const app = await startTestApp({ worker: false });
const { pool } = app.db;
const workspace = await makeWorkspace(app.db);
const elsewhere = await makeWorkspace(app.db);
const { token, id: tokenId } = await makeScimToken(app.db, workspace);
const scim = scimClient(app, token);

const find = async (filter: string, path = "/Users") =>
  scim("GET", `${path}?filter=${encodeURIComponent(filter)}`);
const idsOf = (body: { Resources: { id: string }[] }): string[] => body.Resources.map(({ id }) => id).sort();

test("users are shown with their attributes, version and location, in SCIM's media type", async () => {
  const team = await makeTeam(app.db, workspace, [workspace.member]);
  await pool.query("update teams set is_provisioned = true where id = $1", [team.id]);
  await pool.query(
    "update users set external_id = 'x-1', given_name = 'Bo', family_name = 'Li' where id = $1",
    [workspace.member.id],
  );
  const { status, headers, body } = await scim("GET", `/Users/${workspace.member.id}`);
  assert.equal(status, 200);
  assert.equal(headers.get("content-type"), "application/scim+json; charset=utf-8");
  const base = `${app.config.baseUrl}/_/scim/v2`;
  const { meta, ...rest } = body;
  assert.deepEqual(rest, {
    schemas: ["urn:ietf:params:scim:schemas:core:2.0:User"],
    id: workspace.member.id,
    externalId: "x-1",
    userName: workspace.member.email,
    name: { formatted: "Bo Li", givenName: "Bo", familyName: "Li" },
    displayName: workspace.member.name,
    active: true,
    emails: [{ value: workspace.member.email, type: "work", primary: true }],
    groups: [{ value: team.id, $ref: `${base}/Groups/${team.id}`, display: team.name, type: "direct" }],
    roles: [{ value: "member", primary: true }],
  });
  assert.equal(meta.location, `${base}/Users/${workspace.member.id}`);
  assert.equal(meta.version, headers.get("etag"));
  const again = await scim("GET", `/Users/${workspace.member.id}`, undefined, {
    "if-none-match": meta.version,
  });
  assert.equal(again.status, 304);
  const group = await scim("GET", `/Groups/${team.id}?excludedAttributes=members`);
  assert.deepEqual(Object.keys(group.body).sort(), ["displayName", "id", "meta", "schemas"]);
  const whole = await scim("GET", `/Groups/${team.id}`);
  assert.deepEqual(
    whole.body.members.map((member: { value: string }) => member.value),
    [workspace.member.id],
  );
  assert.equal(whole.body.meta.version, group.body.meta.version);
});

test("users and groups of another workspace, and teams that people made, aren't shown", async () => {
  const ownTeam = await makeTeam(app.db, workspace, []);
  const other = await makeTeam(app.db, elsewhere, []);
  await pool.query("update teams set is_provisioned = true where id = $1", [other.id]);
  for (const path of [
    `/Users/${elsewhere.member.id}`,
    `/Groups/${other.id}`,
    `/Groups/${ownTeam.id}`,
    "/Users/x",
  ]) {
    const { status, body } = await scim("GET", path);
    assert.equal(status, 404, path);
    assert.deepEqual(body.schemas, ["urn:ietf:params:scim:api:messages:2.0:Error"]);
    assert.equal(body.status, "404");
  }
  assert.deepEqual((await find(`userName eq "${elsewhere.member.email}"`)).body.Resources, []);
  assert.deepEqual((await find(`displayName eq "${other.name}"`, "/Groups")).body.Resources, []);
});

test("filters: each operator, and, or, not, value paths, case and the resource's own URN", async () => {
  const { admin, member } = workspace;
  const gone = await makeUser(app.db, workspace);
  await pool.query("update users set deactivated_at = now() where id = $1", [gone.id]);
  const all = [admin.id, member.id, gone.id].sort();
  const cases: [string, string[]][] = [
    [`userName eq "${member.email.toUpperCase()}"`, [member.id]],
    [`USERNAME Eq "${member.email}"`, [member.id]],
    [`urn:ietf:params:scim:schemas:core:2.0:User:userName eq "${member.email}"`, [member.id]],
    [`emails[type eq "work" and value eq "${member.email}"]`, [member.id]],
    [`emails[type eq "home" and value eq "${member.email}"]`, []],
    [`emails.value sw "${member.email.slice(0, 6)}"`, [member.id]],
    [`userName co "${workspace.domain}"`, all],
    [`userName ew "${workspace.domain}" and active eq true`, [admin.id, member.id].sort()],
    [`active eq "False"`, [gone.id]],
    [`not (active eq true)`, [gone.id]],
    [`externalId pr`, [member.id]],
    [`externalId eq "x-1"`, [member.id]],
    [`externalId eq "X-1"`, []],
    [`not (externalId eq "x-1")`, [admin.id, gone.id].sort()],
    [`externalId eq null`, [admin.id, gone.id].sort()],
    [`name.familyName eq "LI"`, [member.id]],
    [`id eq "${admin.id}" or id eq "${gone.id}"`, [admin.id, gone.id].sort()],
    [`id eq "not an id"`, []],
    [`meta.created gt "2020-01-01T00:00:00Z"`, all],
    [`userName gt "zzz"`, []],
    // Literal, not patterns.
    [`userName co "%"`, []],
    [`userName co "'; drop table users; --"`, []],
  ];
  for (const [filter, expected] of cases) {
    const { status, body } = await find(filter);
    assert.equal(status, 200, `${filter}: ${JSON.stringify(body)}`);
    assert.deepEqual(idsOf(body), expected, filter);
    assert.equal(body.totalResults, expected.length);
  }
});

test("a hostile or unknown filter gets invalidFilter at once, and the next request is served", async () => {
  const started = performance.now();
  const hostile = [
    "userName",
    'userName eq "a',
    'userName eq "a" and',
    // The parser alone would take exponential time for this.
    `userName eq "${"\n".repeat(200)}`,
    `${"not (".repeat(20)}userName pr${")".repeat(20)}`,
    Array.from({ length: 21 }, () => "active eq true").join(" or "),
    `userName eq "${"a".repeat(1000)}"`,
    'userName eq "\u0000"',
    'password eq "x"',
    'role eq "admin"',
    "userName eq 5",
    'active gt "true"',
    'meta.created eq "yesterday"',
    `id co "1"`,
    `\\`,
  ];
  for (const filter of hostile) {
    const { status, body } = await find(filter);
    assert.deepEqual([status, body.scimType], [400, "invalidFilter"], filter.slice(0, 60));
  }
  assert.ok(performance.now() - started < 5000);
  assert.equal((await find('userName eq "x"')).status, 200);
});

test("lists: pages by startIndex and count, which are limited, and only the attributes that were asked for", async () => {
  const first = await scim("GET", "/Users?startIndex=1&count=2");
  const second = await scim("GET", "/Users?startIndex=3&count=2");
  assert.equal(first.body.totalResults, 3);
  assert.deepEqual([first.body.itemsPerPage, second.body.itemsPerPage], [2, 1]);
  assert.equal(new Set([...idsOf(first.body), ...idsOf(second.body)]).size, 3);
  assert.deepEqual((await scim("GET", "/Users?count=0")).body.Resources, []);
  assert.equal((await scim("GET", "/Users?startIndex=-5&count=100000")).body.itemsPerPage, 3);
  assert.equal((await scim("GET", "/Users?startIndex=99")).body.itemsPerPage, 0);
  assert.equal((await scim("GET", "/Users?count=many")).body.scimType, "invalidValue");
  const { body } = await scim("GET", "/Users?count=1&attributes=userName,name.familyName");
  assert.deepEqual(Object.keys(body.Resources[0]).sort(), ["id", "name", "schemas", "userName"]);
});

test("searches by POST find users and groups, also in one list", async () => {
  const schemas = ["urn:ietf:params:scim:api:messages:2.0:SearchRequest"];
  const users = await scim("POST", "/Users/.search", {
    schemas,
    filter: `userName eq "${workspace.member.email}"`,
    attributes: ["displayName"],
  });
  assert.deepEqual(users.body.Resources, [
    {
      schemas: ["urn:ietf:params:scim:schemas:core:2.0:User"],
      id: workspace.member.id,
      displayName: workspace.member.name,
    },
  ]);
  const both = await scim("POST", "/.search", { schemas, startIndex: 3, count: 5 });
  assert.equal(both.body.totalResults, 4);
  assert.deepEqual(
    both.body.Resources.map(({ meta }: { meta: { resourceType: string } }) => meta.resourceType),
    ["User", "Group"],
  );
  const groups = await scim("POST", "/.search", {
    schemas,
    filter: `members.value eq "${workspace.member.id}"`,
  });
  assert.equal(groups.body.totalResults, 1);
});

test("the server describes itself, and what it doesn't support", async () => {
  const { body: config } = await scim("GET", "/ServiceProviderConfig");
  assert.deepEqual(
    [config.patch, config.bulk, config.sort, config.etag].map(({ supported }) => supported),
    [true, false, false, true],
  );
  for (const path of ["/Schemas", "/ResourceTypes"]) {
    const { body } = await scim("GET", path);
    assert.equal(body.totalResults, 2);
    for (const { id, meta } of body.Resources) {
      assert.equal(meta.location, `${app.config.baseUrl}/_/scim/v2${path}/${id}`);
      assert.equal((await scim("GET", `${path}/${id}`)).body.id, id);
    }
    assert.equal((await scim("GET", `${path}/other`)).status, 404);
    assert.equal((await scim("GET", `${path}?filter=id%20pr`)).status, 403);
  }
  for (const path of ["/Bulk", "/Me"]) assert.equal((await scim("POST", path, {})).status, 501);
  assert.equal((await scim("GET", "/Devices")).status, 404);
});

test("only a SCIM token of the workspace is accepted, and it opens nothing else", async () => {
  for (const other of [workspace.admin.token, workspace.token, `${token.slice(0, -1)}_`, "x", ""]) {
    const { status, body, headers } = await scimClient(app, other)("GET", "/Users");
    assert.equal(status, 401);
    assert.equal(body.status, "401");
    assert.match(headers.get("www-authenticate") ?? "", /^Bearer/);
  }
  for (const path of ["/_/api/v1/me", "/_/api/v1/users", "/_/api/v1/scim-tokens"])
    assert.equal((await call(app, "GET", path, undefined, { token, version: null })).status, 401);
  assert.equal((await call(app, "POST", "/users", {}, { token })).status, 401);
  const foreign = scimClient(app, (await makeScimToken(app.db, elsewhere)).token);
  assert.equal((await foreign("GET", `/Users/${workspace.member.id}`)).status, 404);
});

test("admins create, list and revoke tokens; each ends with the admin who created it", async () => {
  const owner = await makeWorkspace(app.db);
  const second = await makeUser(app.db, owner, { role: "admin" });
  await givePassword(app.db, owner.admin, second);
  const browser = await signInAs(app, second);
  const created = await browser.send("POST", "/_/api/v1/scim-tokens", { json: { name: "Okta" } });
  assert.equal(created.status, 200, created.text);
  const { id, token: made } = created.body;
  assert.match(made, /^parley_scim_/);
  assert.equal((await scimClient(app, made)("GET", "/Users?count=0")).body.totalResults, 3);
  const manage = (method: string, path: string) =>
    call(app, method, `/_/api/v1${path}`, undefined, { token: owner.admin.token, version: null });
  const { body: listed } = await manage("GET", "/scim-tokens");
  assert.equal(listed.url, `${app.config.baseUrl}/_/scim/v2`);
  assert.deepEqual(
    [listed.tokens.length, listed.tokens[0].name, listed.tokens[0].token],
    [1, "Okta", undefined],
  );
  assert.notEqual(listed.tokens[0].last_used_datetime, null);
  const { rows } = await pool.query("select hash from scim_tokens where id = $1", [id]);
  assert.equal(rows[0].hash.length, 32);

  const deactivated = await manage("POST", `/users/${second.id}/deactivate`);
  assert.equal(deactivated.body.revoked_tokens, 2, "the personal token and the SCIM token");
  assert.equal((await scimClient(app, made)("GET", "/Users")).status, 401);
  await manage("POST", `/users/${second.id}/reactivate`);
  assert.equal((await scimClient(app, made)("GET", "/Users")).status, 401);

  const other = await makeScimToken(app.db, owner);
  assert.equal((await manage("DELETE", `/scim-tokens/${other.id}`)).status, 200);
  assert.equal((await scimClient(app, other.token)("GET", "/Users")).status, 401);
  assert.equal((await manage("DELETE", `/scim-tokens/${tokenId}`)).status, 404);
  const actions = (await auditOf(app.db, owner.id)).map(({ action }) => action);
  assert.ok(actions.includes("scim_token_created") && actions.includes("scim_token_revoked"));
});

test("a workspace's allowed IP addresses apply to SCIM", async () => {
  const ruled = await makeWorkspace(app.db);
  const send = scimClient(app, (await makeScimToken(app.db, ruled)).token);
  const allow = (addresses: readonly string[]) =>
    pool.query("update workspaces set security_rules = $2 where id = $1", [
      ruled.id,
      JSON.stringify({ allowed_addresses: addresses }),
    ]);
  await allow(["203.0.113.0/24"]);
  const refused = await send("GET", "/Users");
  assert.equal(refused.status, 403);
  assert.match(refused.body.detail, /IP addresses/);
  await allow(["127.0.0.0/8", "::1"]);
  assert.equal((await send("GET", "/Users")).status, 200);
});

test("a workspace has at most 20 tokens", async () => {
  const full = await makeWorkspace(app.db);
  for (let count = 0; count < 20; count++) await makeScimToken(app.db, full);
  await assert.rejects(makeScimToken(app.db, full), /limit of 20/);
});
