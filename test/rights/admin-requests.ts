import { randomBytes } from "node:crypto";
import { makeTeam } from "../support/factories.ts";
import { makeClient, redirectUri } from "../support/oauth.ts";
import type { Ask, MakeAsk } from "./ask.ts";
import type { World } from "./world.ts";

const unique = (): string => randomBytes(6).toString("hex");
const recording = (world: World) => ({ recording_id: world.recordingId });
const conditions = { older_than_days: 36_500, tag: "no recording has it" };

/** Good requests about people, apps, the audit log and retention, on what is made for them. */
export const adminRequests: Readonly<Record<string, MakeAsk>> = {
  listPeople: () => ({}),
  inviteUser: () => ({ body: invitation() }),
  "inviteUser into a team of another workspace": async (world) => ({
    body: { ...invitation(), team_ids: [await world.teamElsewhere()] },
  }),
  renewInvitation: async (world) => ({ params: { user_id: await invited(world) } }),
  updateUser: async (world) => ({ ...(await member(world)), body: { name: "Bo", role: "viewer" } }),
  deactivateUser: member,
  reactivateUser: async (world) => {
    const { params } = await member(world);
    await world.asAdmin("POST", `/_/api/v1/users/${params.user_id}/deactivate`);
    return { params };
  },
  createPasswordResetLink: member,
  unbindSingleSignOn: member,

  listTeamMembers: () => ({}),
  createTeam: () => ({ body: { name: `Team ${unique()}` } }),
  renameTeam: async (world) => ({ ...(await team(world)), body: { name: `Team ${unique()}` } }),
  deleteTeam: (world) => team(world),
  addTeamMember: async (world) => ({
    ...(await team(world)),
    body: { user_id: (await world.fresh("recorder")).id },
  }),
  "addTeamMember of another workspace": async (world) => ({
    ...(await team(world)),
    body: { user_id: (await world.fresh("other_workspace")).id },
  }),
  removeTeamMember: async (world) => {
    const user = await world.fresh("recorder");
    const { params } = await team(world, [user]);
    return { params: { ...params, user_id: user.id } };
  },
  getWorkspace: () => ({}),
  updateWorkspace: () => ({ body: { name: `Workspace ${unique()}` } }),

  listOAuthClients: () => ({}),
  createOAuthClient: () => ({ body: { name: "An app", redirect_uris: [redirectUri] } }),
  getOAuthClient: client,
  updateOAuthClient: async (world) => ({ ...(await client(world)), body: { name: "Another app" } }),
  rotateOAuthClientSecret: client,
  deleteOAuthClient: client,

  listAudit: () => ({}),
  exportAudit: () => ({}),

  listRetentionRules: () => ({}),
  createRetentionRule: async (world) => {
    await makeRoomForRules(world);
    return { body: rule() };
  },
  updateRetentionRule: async (world) => ({ ...(await madeRule(world)), body: { name: "Another" } }),
  deleteRetentionRule: madeRule,
  previewRetention: () => ({ body: conditions }),
  listRetentionReceipts: () => ({}),
  listLegalHolds: () => ({}),
  placeLegalHold: (world) => ({ params: recording(world), body: { reason: "A case" } }),
  releaseLegalHold: async (world) => {
    await world.asAdmin("PUT", `/_/api/v1/recordings/${world.recordingId}/legal-hold`, { reason: "A case" });
    return { params: recording(world) };
  },
  erasePerson: async (world) => ({ body: { email: (await world.fresh("recorder")).email } }),
  previewErasure: async (world) => ({ body: { email: (await world.fresh("recorder")).email } }),
  listErasures: () => ({}),
  getErasure: async (world) => {
    const { email } = await world.fresh("recorder");
    return { params: { erasure_id: (await world.asAdmin("POST", "/_/api/v1/erasures", { email })).id } };
  },
};

function invitation(): { email: string; name: string } {
  return { email: `new${unique()}@elsewhere.example`, name: "New" };
}

async function invited(world: World): Promise<string> {
  return (await world.asAdmin("POST", "/_/api/v1/users", invitation())).user.id;
}

async function member(world: World): Promise<{ params: { user_id: string } }> {
  return { params: { user_id: (await world.fresh("recorder")).id } };
}

async function team(
  { app, people }: World,
  members: readonly { readonly email: string }[] = [],
): Promise<{ params: { team_id: string } }> {
  return { params: { team_id: (await makeTeam(app.db, { id: people.workspaceId }, members)).id } };
}

async function client({ app, people }: World): Promise<Ask> {
  return { params: { client_id: (await makeClient(app, { id: people.workspaceId })).id } };
}

function rule() {
  return { name: `Rule ${unique()}`, ...conditions };
}

async function madeRule(world: World): Promise<Ask> {
  await makeRoomForRules(world);
  return { params: { rule_id: (await world.asAdmin("POST", "/_/api/v1/retention/rules", rule())).id } };
}

/** There is a limit to how many a workspace has. */
async function makeRoomForRules({ app }: World): Promise<void> {
  await app.db.kysely.deleteFrom("retention_rules").execute();
}
