import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { startTestApp } from "../../../test/support/app.ts";
import { makeTeam, makeWorkspace } from "../../../test/support/factories.ts";
import { makeScimToken, scimClient } from "./test/scim.ts";
import { findScimTokens } from "./tokens/tokens.ts";

// The requests that providers publish, with other ids and emails. Sources:
// https://learn.microsoft.com/en-us/entra/identity/app-provisioning/use-scim-to-provision-users-and-groups
// https://learn.microsoft.com/en-us/entra/identity/app-provisioning/application-provisioning-config-problem-scim-compatibility
// https://developer.okta.com/docs/api/openapi/okta-scim/guides/scim-20

const app = await startTestApp({ worker: false });
const patchOp = ["urn:ietf:params:scim:api:messages:2.0:PatchOp"];
const userSchema = "urn:ietf:params:scim:schemas:core:2.0:User";
const enterprise = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";

async function connect() {
  const workspace = await makeWorkspace(app.db);
  const { token } = await makeScimToken(app.db, workspace);
  const send = scimClient(app, token);
  const ignored = async () => (await findScimTokens(app.db.kysely, workspace.id))[0]?.ignored;
  return { workspace, send, ignored };
}

test("Entra: test connection, create, match, update, disable by a text, delete and create again", async () => {
  const { workspace, send, ignored } = await connect();
  // Test connection: a random GUID, which must give an empty list.
  const none = await send("GET", `/Users?filter=userName+eq+%22${randomUUID()}%22`);
  assert.deepEqual([none.status, none.body.totalResults, none.body.Resources], [200, 0, []]);

  const email = `ada@${workspace.domain}`;
  const created = await send("POST", "/Users", {
    schemas: [userSchema, enterprise],
    externalId: "0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef",
    userName: email,
    active: true,
    emails: [{ primary: true, type: "work", value: email }],
    meta: { resourceType: "User" },
    name: { formatted: "givenName familyName", familyName: "familyName", givenName: "givenName" },
    roles: [],
    [enterprise]: { department: "Research" },
  });
  assert.equal(created.status, 201, JSON.stringify(created.body));
  const { id } = created.body;
  assert.equal(created.headers.get("location"), created.body.meta.location);
  assert.deepEqual(created.body.name, {
    formatted: "givenName familyName",
    familyName: "familyName",
    givenName: "givenName",
  });
  assert.equal(created.body.displayName, "givenName familyName");
  assert.deepEqual(await ignored(), { [`${enterprise}:department`]: 1 });

  for (const filter of [`userName eq "${email}"`, `emails[type eq "work"].value eq "${email}"`]) {
    const found = await send("GET", `/Users?filter=${encodeURIComponent(filter)}`);
    assert.equal(found.body.Resources[0].id, id, filter);
  }
  const again = await send("POST", "/Users", { userName: email });
  assert.deepEqual([again.status, again.body.scimType], [409, "uniqueness"]);

  // Without the flag aadOptscim062020: capitals, and each attribute by its path.
  const patched = await send("PATCH", `/Users/${id}`, {
    schemas: patchOp,
    Operations: [
      { op: "Replace", path: 'emails[type eq "work"].value', value: "TestBcwqnm@test.microsoft.com" },
      { op: "Replace", path: "name.givenName", value: "Gtfd" },
      { op: "Replace", path: "name.familyName", value: "Pkqf" },
      { op: "Replace", path: "externalId", value: "Eqpj" },
      { op: "Replace", path: `${enterprise}:employeeNumber`, value: "Eqpj" },
      { op: "Add", path: "nickName", value: "Babs" },
    ],
  });
  assert.equal(patched.status, 200, JSON.stringify(patched.body));
  assert.equal(patched.body.externalId, "Eqpj");
  assert.equal(patched.body.name.familyName, "Pkqf");
  assert.equal(patched.body.displayName, "Gtfd Pkqf", "the name was made of its parts before");
  assert.equal(patched.body.userName, email);
  assert.deepEqual(await ignored(), {
    [`${enterprise}:department`]: 1,
    [`${enterprise}:employeeNumber`]: 1,
    nickName: 1,
    emails: 1,
  });

  // With the flag: no path, and keys with dots and URNs.
  const flagged = await send("PATCH", `/Users/${id}`, {
    schemas: patchOp,
    Operations: [
      {
        op: "replace",
        value: {
          displayName: "Bjfe",
          "name.givenName": "Kkom",
          "name.familyName": "Unua",
          [`${enterprise}:employeeNumber`]: "Aklq",
        },
      },
    ],
  });
  assert.deepEqual(
    [flagged.body.displayName, flagged.body.name.givenName, flagged.body.name.familyName],
    ["Bjfe", "Kkom", "Unua"],
  );

  const renamed = `5b50642d@${workspace.domain}`;
  const changed = await send("PATCH", `/Users/${id}`, {
    schemas: patchOp,
    Operations: [{ op: "Replace", path: "userName", value: renamed }],
  });
  assert.deepEqual([changed.body.userName, changed.body.emails[0].value], [renamed, renamed]);

  for (const [value, active] of [
    ["False", false],
    ["True", true],
    [false, false],
  ]) {
    const { status, body } = await send("PATCH", `/Users/${id}`, {
      schemas: patchOp,
      Operations: [{ op: "Replace", path: "active", value }],
    });
    assert.deepEqual([status, body.active], [200, active]);
  }
  assert.equal((await send("GET", `/Users/${id}`)).body.active, false);

  const gone = await send("DELETE", `/Users/${id}`);
  assert.deepEqual([gone.status, gone.body], [204, null]);
  for (const method of ["GET", "DELETE"]) assert.equal((await send(method, `/Users/${id}`)).status, 404);
  const filter = encodeURIComponent(`userName eq "${renamed}"`);
  assert.equal((await send("GET", `/Users?filter=${filter}`)).body.totalResults, 0);
  const back = await send("POST", "/Users", { userName: renamed, displayName: "Back" });
  assert.deepEqual(
    [back.status, back.body.id, back.body.active, back.body.displayName],
    [201, id, true, "Back"],
  );
});

test("Entra: groups without members in responses, members added, checked and removed in both ways", async () => {
  const { workspace, send } = await connect();
  const { admin, member } = workspace;
  const created = await send("POST", "/Groups", {
    schemas: [
      "urn:ietf:params:scim:schemas:core:2.0:Group",
      "http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group",
    ],
    externalId: "8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159",
    displayName: "Research",
    meta: { resourceType: "Group" },
  });
  assert.deepEqual([created.status, created.body.members], [201, []]);
  const { id } = created.body;
  const filter = encodeURIComponent('displayName eq "research"');
  const found = await send("GET", `/Groups?excludedAttributes=members&filter=${filter}`);
  assert.deepEqual([found.body.Resources[0].id, found.body.Resources[0].members], [id, undefined]);

  const patch = async (...operations: object[]) => {
    const { status, body } = await send("PATCH", `/Groups/${id}`, {
      schemas: patchOp,
      Operations: operations,
    });
    assert.equal(status, 204, JSON.stringify(body));
    const { body: group } = await send("GET", `/Groups/${id}`);
    return group.members.map(({ value }: { value: string }) => value).sort();
  };
  const both = [admin.id, member.id].sort();
  assert.deepEqual(
    await patch({
      op: "Add",
      path: "members",
      value: [
        { $ref: null, value: admin.id },
        { $ref: null, value: member.id },
      ],
    }),
    both,
  );
  // Whether a user is a member.
  const isMember = (userId: string) =>
    send("GET", `/Groups?filter=${encodeURIComponent(`id eq "${id}" and members eq "${userId}"`)}`);
  assert.equal((await isMember(member.id)).body.totalResults, 1);
  assert.equal((await isMember(randomUUID())).body.totalResults, 0);
  assert.deepEqual(await patch({ op: "Remove", path: "members", value: [{ value: member.id }] }), [admin.id]);
  assert.deepEqual(await patch({ op: "Add", path: "members", value: [{ value: member.id }] }), both);
  assert.deepEqual(await patch({ op: "remove", path: `members[value eq "${admin.id}"]` }), [member.id]);
  assert.deepEqual(await patch({ op: "Replace", path: "displayName", value: "Development" }), [member.id]);
  const listed = await send("GET", `/Users/${member.id}`);
  assert.equal(listed.body.groups[0].display, "Development");
  assert.equal((await send("DELETE", `/Groups/${id}`)).status, 204);
  assert.equal((await send("GET", `/Groups/${id}`)).status, 404);
});

test("Okta: query, create, pages, PUT of the whole user, PUT and PATCH that deactivate", async () => {
  const { workspace, send, ignored } = await connect();
  const email = `test.user@${workspace.domain}`;
  const query = `/Users?filter=userName%20eq%20%22${encodeURIComponent(email)}%22&startIndex=1&count=100`;
  const before = await send("GET", query);
  assert.deepEqual(before.body, {
    schemas: ["urn:ietf:params:scim:api:messages:2.0:ListResponse"],
    totalResults: 0,
    startIndex: 1,
    itemsPerPage: 0,
    Resources: [],
  });
  const body = {
    schemas: [userSchema],
    userName: email,
    name: { givenName: "Test", middleName: "", familyName: "User" },
    emails: [{ primary: true, value: email, type: "work", display: email }],
    displayName: "Test User",
    locale: "en-US",
    externalId: "00ujl29u0le5T6Aj10h7",
    groups: [],
    password: "1mz050nq",
    active: true,
  };
  const created = await send("POST", "/Users", body, {
    "content-type": "application/scim+json; charset=utf-8",
  });
  assert.equal(created.status, 201, JSON.stringify(created.body));
  const { id } = created.body;
  assert.equal(JSON.stringify(created.body).includes("1mz050nq"), false);
  assert.deepEqual(await ignored(), { locale: 1, password: 1 });
  assert.equal((await send("GET", query)).body.Resources[0].id, id);
  assert.equal((await send("GET", "/Users?startIndex=1&count=100")).body.totalResults, 3);

  const put = await send("PUT", `/Users/${id}`, {
    ...body,
    id,
    displayName: "Another User",
    name: { givenName: "Another", middleName: "Excited", familyName: "User" },
    meta: { resourceType: "User" },
  });
  assert.deepEqual(
    [put.status, put.body.displayName, put.body.name.givenName],
    [200, "Another User", "Another"],
  );
  // Applications of the App Integration Wizard deactivate by PUT, others by PATCH without a path.
  assert.equal((await send("PUT", `/Users/${id}`, { ...body, id, active: false })).body.active, false);
  assert.equal((await send("PUT", `/Users/${id}`, { ...body, id, active: true })).body.active, true);
  const patched = await send("PATCH", `/Users/${id}`, {
    schemas: patchOp,
    Operations: [{ op: "replace", value: { active: false } }],
  });
  assert.equal(patched.body.active, false);
});

test("Okta: groups are pushed, renamed with their id, and their members changed, replaced and put", async () => {
  const { workspace, send } = await connect();
  const { admin, member } = workspace;
  const schemas = ["urn:ietf:params:scim:schemas:core:2.0:Group"];
  const { body: created } = await send("POST", "/Groups", {
    schemas,
    displayName: "Test SCIMv2",
    members: [],
  });
  const path = `/Groups/${created.id}`;
  const membersOf = async (): Promise<string[]> =>
    (await send("GET", path)).body.members.map(({ value }: { value: string }) => value).sort();
  const patch = async (...Operations: object[]) => {
    assert.equal((await send("PATCH", path, { schemas: patchOp, Operations })).status, 204);
    return membersOf();
  };
  await patch({ op: "replace", value: { id: created.id, displayName: "Test SCIMv20" } });
  assert.equal((await send("GET", path)).body.displayName, "Test SCIMv20");
  assert.deepEqual(
    await patch(
      { op: "remove", path: `members[value eq "${admin.id}"]` },
      { op: "add", path: "members", value: [{ value: member.id, display: member.email }] },
    ),
    [member.id],
  );
  assert.deepEqual(
    await patch({ op: "replace", path: "members", value: [{ value: admin.id }, { value: member.id }] }),
    [admin.id, member.id].sort(),
  );
  const put = await send("PUT", path, {
    schemas,
    id: created.id,
    displayName: "Test SCIMv20",
    members: [{ value: member.id, display: member.email }],
  });
  assert.equal(put.status, 200);
  assert.deepEqual(await membersOf(), [member.id]);
  // Only the requested attributes, which makes the response to a patch a body.
  const some = await send("PATCH", `${path}?attributes=displayName`, {
    schemas: patchOp,
    Operations: [{ op: "remove", path: "members" }],
  });
  assert.deepEqual([some.status, some.body.displayName, some.body.members], [200, "Test SCIMv20", undefined]);
  assert.deepEqual(await membersOf(), []);
});

test("a group doesn't take over a team that people made: 409 until it is renamed", async () => {
  const { workspace, send } = await connect();
  const team = await makeTeam(app.db, workspace, [workspace.member]);
  const refused = await send("POST", "/Groups", { displayName: team.name.toUpperCase() });
  assert.deepEqual([refused.status, refused.body.scimType], [409, "uniqueness"]);
  assert.match(refused.body.detail, /was created in Parley/);
  for (const [method, body] of [
    ["PUT", { displayName: "Mine" }],
    ["PATCH", { Operations: [{ op: "remove", path: "members" }] }],
    ["DELETE", undefined],
  ] as const)
    assert.equal((await send(method, `/Groups/${team.id}`, body)).status, 404);
  const { rows } = await app.db.pool.query("select user_id from team_members where team_id = $1", [team.id]);
  assert.equal(rows.length, 1);
});
