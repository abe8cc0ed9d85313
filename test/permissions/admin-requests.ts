import { randomBytes, randomUUIDv7 } from "node:crypto";
import { after } from "node:test";
import { insertRun } from "../../server/connections/imports/runs/queries.ts";
import { encryptTexts } from "../../server/operations/system/settings/queries.ts";
import { insertFailedJob } from "../../server/operations/system/test/failed-job.ts";
import { clientSecret, startProvider } from "../../server/people/accounts/test/provider.ts";
import { claimByOperator } from "../../server/people/accounts/workspaces/claim-domains.ts";
import { createScimToken } from "../../server/people/scim/tokens/tokens.ts";
import { commandLine } from "../../server/platform/audit/record.ts";
import { makeTeam } from "../support/factories.ts";
import { makeClient, redirectUri } from "../support/oauth.ts";
import { secondFactorOf } from "./account-requests.ts";
import type { BuildRequest, OperationRequest } from "./request.ts";
import type { World } from "./world.ts";

const unique = (): string => randomBytes(6).toString("hex");
const recording = (world: World) => ({ recording_id: world.recordingId });
const conditions = { older_than_days: 36_500, tag: "no recording has it" };

/** Valid requests about users, apps, the audit log and retention, on what is made for them. */
export const adminRequests: Readonly<Record<string, BuildRequest>> = {
  listUserAccounts: () => ({}),
  inviteUser: () => ({ body: invitation() }),
  "inviteUser into a team of another workspace": async (world) => ({
    body: { ...invitation(), team_ids: [await world.teamElsewhere()] },
  }),
  replaceInvitation: async (world) => ({ params: { user_id: await invited(world) } }),
  updateUser: async (world) => ({ ...(await member(world)), body: { name: "Bo", role: "viewer" } }),
  deactivateUser: member,
  reactivateUser: async (world) => {
    const { params } = await member(world);
    await world.asAdmin("POST", `/_/api/v1/users/${params.user_id}/deactivate`);
    return { params };
  },
  getUserAccess: member,
  createPasswordResetLink: member,
  unbindSingleSignOn: member,
  resetSecondFactor: async (world) => {
    const { params } = await member(world);
    await secondFactorOf(world, params.user_id, "on");
    return { params };
  },

  listScimTokens: () => ({}),
  createScimToken: async (world) => {
    await world.app.db.pool.query("delete from scim_tokens");
    return { body: { name: "Entra" } };
  },
  revokeScimToken: async (world) => {
    await world.app.db.pool.query("delete from scim_tokens");
    const { workspaceId } = world.users;
    const { id } = await world.app.db.kysely
      .transaction()
      .execute((tx) => createScimToken(tx, commandLine(workspaceId), "Entra"));
    return { params: { scim_token_id: id } };
  },

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
  getWorkspaceSecurity: () => ({}),
  updateWorkspaceSecurity: () => ({ body: { grace_days: 14 } }),
  previewWorkspaceSecurity: () => ({ body: { grace_days: 14 } }),
  updateWorkspace: () => ({ body: { name: `Workspace ${unique()}` } }),
  listEmailDomainClaims: () => ({}),
  createEmailDomainClaim: async (world) => {
    await makeRoomForClaims(world);
    return { body: { domain: `d${unique()}.example` } };
  },
  verifyEmailDomainClaim: ownDomain,
  deleteEmailDomainClaim: ownDomain,

  getSampleRecordings: () => ({}),
  loadSampleRecordings: () => ({}),
  removeSampleRecordings: () => ({}),
  listVoiceProfiles: () => ({}),
  exportVoiceProfile: voiceProfile,
  deleteVoiceProfile: voiceProfile,

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
  updateRetentionRule: async (world) => ({ ...(await createdRule(world)), body: { name: "Another" } }),
  deleteRetentionRule: createdRule,
  previewRetention: () => ({ body: conditions }),
  listRetentionReceipts: () => ({}),
  listLegalHolds: () => ({}),
  placeLegalHold: (world) => ({ params: recording(world), body: { reason: "A case" } }),
  releaseLegalHold: async (world) => {
    await world.asAdmin("PUT", `/_/api/v1/recordings/${world.recordingId}/legal-hold`, { reason: "A case" });
    return { params: recording(world) };
  },
  erasePersonalData: async (world) => ({ body: { email: (await world.fresh("recorder")).email } }),
  previewErasure: async (world) => ({ body: { email: (await world.fresh("recorder")).email } }),
  listErasures: () => ({}),
  getErasure: async (world) => {
    const { email } = await world.fresh("recorder");
    return { params: { erasure_id: (await world.asAdmin("POST", "/_/api/v1/erasures", { email })).id } };
  },

  createImportRun: async ({ app }) => {
    await app.db.pool.query("update import_runs set token = null");
    return { body: { base_url: "http://127.0.0.1:9009", token: "t", dry_run: true } };
  },
  listImportRuns: () => ({}),
  getImportReport: importRun,
  cancelImportRun: importRun,

  listConnections: () => ({}),
  createConnection: async ({ app }) => {
    // Their number is limited.
    await app.db.pool.query("delete from connections");
    return { body: { kind: "zoom", name: "Zoom", webhook_secret: "s" } };
  },
  deleteConnection: connection,
  listConnectionEvents: connection,
  retryConnectionEvent: async (world) => {
    const { params } = await connection(world);
    const { rows } = await world.app.db.pool.query(
      `insert into connection_events (id, connection_id, event_key, meeting_key, type, payload, state)
       values (gen_random_uuid(), $1, '', '', 'recording.completed', '', 'failed') returning id`,
      [params.connection_id],
    );
    return { params: { ...params, event_id: rows[0].id } };
  },

  getSystem: () => ({}),
  dismissChecklist: () => ({}),
  getStorageUse: () => ({}),
  getSystemSettings: () => ({}),
  updateSystemSettings: () => ({ body: { settings: {} } }),
  testSystemSettings: () => ({ body: { test: "backups" } }),
  startSignInTest: async ({ app }) => {
    const provider = await startProvider(0, app.config.baseUrl);
    after(() => provider.close());
    const settings = {
      PARLEY_OIDC_ISSUER: provider.issuer,
      PARLEY_OIDC_CLIENT_ID: "parley",
      PARLEY_OIDC_CLIENT_SECRET: clientSecret,
    };
    return { body: { settings } };
  },
  listSignInProviders: () => ({}),
  saveSignInProvider: () => ({
    params: { provider_id: "other" },
    body: { name: "Other", issuer: "https://id.example", client_id: "c", client_secret: "s" },
  }),
  deleteSignInProvider: async ({ app }) => {
    const provider = { id: "gone", name: "G", issuer: "https://gone.example", client_id: "c" };
    const text = JSON.stringify([{ ...provider, client_secret: "s" }]);
    const encrypted = encryptTexts(app.encryptor, { PARLEY_OIDC_PROVIDERS: text });
    await app.db.kysely
      .insertInto("settings")
      .values({ name: "PARLEY_OIDC_PROVIDERS", encrypted })
      .onConflict((conflict) => conflict.column("name").doUpdateSet({ encrypted }))
      .execute();
    return { params: { provider_id: "gone" } };
  },
  listSystemSettingChanges: () => ({}),
  undoSystemSettingChange: async ({ app }) => {
    const id = randomUUIDv7();
    const previous = encryptTexts(app.encryptor, { PARLEY_BACKUP_AT: null });
    await app.db.kysely
      .insertInto("setting_changes")
      .values({ id, names: ["PARLEY_BACKUP_AT"], previous })
      .execute();
    return { params: { change_id: id } };
  },
  testComponent: () => ({ params: { component: "database" } }),
  retryJob: failedJob,
  discardJob: failedJob,
  retryWatchedFiles: async ({ app }) => {
    await app.db.pool.query(
      `insert into processes (id, role, host, pid, version, started_at, heartbeat_at, watched_folders)
       values (gen_random_uuid(), 'worker', 'h', 1, '1.0.0', now(), now(), '{/recordings}')`,
    );
    return { body: { folder: "/recordings" } };
  },
  listSpeechModels: () => ({}),
  installSpeechModel: async ({ app }) => {
    await app.db.pool.query("delete from model_installs");
    return { params: { name: "parakeet-v3" } };
  },
  removeSpeechModel: async ({ app }) => {
    await app.db.pool.query(
      "insert into model_installs (id, name) values (gen_random_uuid(), 'speakers') on conflict do nothing",
    );
    return { params: { name: "speakers" } };
  },
  listLanguageModels: () => ({}),
  installLanguageModel: async ({ app }) => {
    await app.db.pool.query("delete from model_installs");
    return { params: { name: "qwen3-4b" } };
  },
  installLanguageModelFile: async ({ app }) => {
    await app.db.pool.query("delete from model_installs");
    return { body: { path: "/nowhere/own.gguf" } };
  },
  removeLanguageModel: async ({ app }) => {
    await app.db.pool.query(
      "insert into model_installs (id, name) values (gen_random_uuid(), 'qwen3-1.7b') on conflict do nothing",
    );
    return { params: { name: "qwen3-1.7b" } };
  },
};

async function importRun({ app, users }: World): Promise<OperationRequest> {
  const { id } = await insertRun(app.db.kysely, {
    workspaceId: users.workspaceId,
    createdBy: users.ids.admin,
    source: "grain",
    origin: "http://127.0.0.1:9009",
    token: null,
    isDryRun: true,
  });
  return { params: { run_id: id } };
}

async function connection(world: World): Promise<{ params: { connection_id: string } }> {
  await world.app.db.pool.query("delete from connections");
  const body = { kind: "zoom", name: "Zoom", webhook_secret: "s" };
  return { params: { connection_id: (await world.asAdmin("POST", "/_/api/v1/connections", body)).id } };
}

/** Of mail, which this server doesn't send. */
async function failedJob({ app }: World): Promise<OperationRequest> {
  return { params: { job_id: await insertFailedJob(app) } };
}

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
  { app, users }: World,
  members: readonly { readonly email: string }[] = [],
): Promise<{ params: { team_id: string } }> {
  return { params: { team_id: (await makeTeam(app.db, { id: users.workspaceId }, members)).id } };
}

async function client({ app, users }: World): Promise<OperationRequest> {
  return { params: { client_id: (await makeClient(app, { id: users.workspaceId })).id } };
}

async function ownDomain(world: World): Promise<OperationRequest> {
  await makeRoomForClaims(world);
  const domain = `d${unique()}.example`;
  await world.app.db.kysely
    .transaction()
    .execute((tx) => claimByOperator(tx, world.users.workspaceId, domain));
  return { params: { domain } };
}

/** Deletes claims and failures, because both are limited per workspace. */
/** A voice profile of the workspace. */
async function voiceProfile({ app, recordingId }: World): Promise<OperationRequest> {
  const id = randomUUIDv7();
  await app.db.pool.query(
    `insert into voice_profiles (id, workspace_id, name, embedding, model)
     select $1, workspace_id, 'Ada', '{1,0}', 'voices@1' from recordings where id = $2`,
    [id, recordingId],
  );
  return { params: { profile_id: id } };
}

async function makeRoomForClaims({ app }: World): Promise<void> {
  await app.db.kysely.deleteFrom("email_domain_claims").execute();
  await app.db.kysely.deleteFrom("sign_in_failures").execute();
}

function rule() {
  return { name: `Rule ${unique()}`, ...conditions };
}

async function createdRule(world: World): Promise<OperationRequest> {
  await makeRoomForRules(world);
  return { params: { rule_id: (await world.asAdmin("POST", "/_/api/v1/retention/rules", rule())).id } };
}

/** Deletes rules, because their number per workspace is limited. */
async function makeRoomForRules({ app }: World): Promise<void> {
  await app.db.kysely.deleteFrom("retention_rules").execute();
}
