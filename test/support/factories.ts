import { randomBytes, randomUUID, randomUUIDv7 } from "node:crypto";
import { fileURLToPath } from "node:url";
import type { Insertable, Selectable } from "kysely";
import { syncGrants } from "../../server/people/access/grants.ts";
import {
  createAccessToken,
  createTeam,
  createUser,
  createWorkspace,
} from "../../server/people/accounts/service.ts";
import type { Database } from "../../server/platform/db/database.ts";
import type { Hooks, Recordings } from "../../server/platform/db/types.ts";
import type { TestApp } from "./app.ts";
import { type Answer, call } from "./call.ts";
import { until } from "./until.ts";

/*
 * Everything a test needs to exist. Parents that are not given are created: a recording alone brings its workspace and
 * its recorder. Functions that take the app call its API; those that take the database insert rows.
 */

const unique = (): string => randomBytes(4).toString("hex");

/** A workspace with an admin, a member, a token for each and a workspace token. */
export interface TestWorkspace {
  readonly id: string;
  readonly domain: string;
  readonly admin: TestUser;
  readonly member: TestUser;
  /** Workspace token. */
  readonly token: string;
}

export interface TestUser {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  /** Personal token. */
  readonly token: string;
}

export async function makeWorkspace(db: Database, name = `Workspace ${unique()}`): Promise<TestWorkspace> {
  const domain = `w${unique()}.example`;
  const { id } = await db.kysely
    .transaction()
    .execute((tx) => createWorkspace(tx, { name, emailDomains: [domain] }));
  const admin = await makeUser(db, { id, domain }, { role: "admin" });
  const member = await makeUser(db, { id, domain });
  const { token } = await db.kysely.transaction().execute((tx) =>
    createAccessToken(tx, {
      email: admin.email,
      type: "workspace_access_token",
      name: "test",
      expiresAt: null,
    }),
  );
  return { id, domain, admin, member, token };
}

export async function makeUser(
  db: Database,
  workspace: { readonly id: string; readonly domain: string },
  options: { role?: "admin" | "member"; email?: string; name?: string } = {},
): Promise<TestUser> {
  const email = options.email ?? `u${unique()}@${workspace.domain}`;
  const name = options.name ?? `User ${unique()}`;
  return db.kysely.transaction().execute(async (tx) => {
    const { id } = await createUser(tx, {
      workspaceId: workspace.id,
      email,
      name,
      role: options.role ?? "member",
    });
    const { token } = await createAccessToken(tx, {
      email,
      type: "personal_access_token",
      name: "test",
      expiresAt: null,
    });
    return { id, email, name, token };
  });
}

export async function makeTeam(
  db: Database,
  workspace: { readonly id: string },
  members: readonly { readonly email: string }[] = [],
  name = `Team ${unique()}`,
): Promise<{ id: string; name: string }> {
  const { id } = await db.kysely
    .transaction()
    .execute((tx) =>
      createTeam(tx, { workspaceId: workspace.id, name, memberEmails: members.map((user) => user.email) }),
    );
  return { id, name };
}

/** A transcript with two speakers, one of them anonymous. */
export const sampleTranscript = {
  language: "en",
  segments: [
    { speaker_key: "s1", start: 0, end: 4000, text: "Good morning, shall we begin?" },
    { speaker_key: "s2", start: 4200, end: 9000, text: "Yes. The harbour contract first." },
    { speaker_key: "s1", start: 9100, end: 12_000, text: "It is signed." },
  ],
} as const;

// biome-ignore lint/suspicious/noExplicitAny: tests set any attribute, also to invalid values.
type Attributes = Record<string, any>;

/** Creates an upload. @returns the response's body. @throws Error when it is refused. */
// biome-ignore lint/suspicious/noExplicitAny: tests read any field.
export async function makeUpload(app: TestApp, token?: string, body: Attributes = {}): Promise<any> {
  const by = token ?? (await makeWorkspace(app.db)).member.token;
  const created = await call(app, "POST", "/uploads/create", { media_type: "video", ...body }, { token: by });
  if (created.status !== 200) throw new Error(`creating the upload failed: ${created.text}`);
  return created.body;
}

/** Creates a transcript upload and waits until it is a recording. */
export async function makeRecording(
  app: TestApp,
  token?: string,
  attributes: Attributes = {},
): Promise<{ recordingId: string; uploadId: string }> {
  const by = token ?? (await makeWorkspace(app.db)).member.token;
  const { id: uploadId } = await makeUpload(app, by, {
    media_type: "transcript",
    attributes: { title: `Meeting ${unique()}`, transcript: sampleTranscript, ...attributes },
  });
  const recordingId = await waitForRecording(app, by, uploadId);
  return { recordingId, uploadId };
}

/** The path of a file in test/fixtures/media. */
export function mediaFile(name: string): string {
  return fileURLToPath(new URL(`../fixtures/media/${name}`, import.meta.url));
}

/** Creates a highlight, of a new recording if none is given. @returns its id. */
export async function makeHighlight(
  app: TestApp,
  token?: string,
  recordingId?: string,
  values: Attributes = {},
): Promise<string> {
  const by = token ?? (await makeWorkspace(app.db)).member.token;
  const id = recordingId ?? (await makeRecording(app, by)).recordingId;
  const body = { text: "Look", timestamp: 1000, duration: 2000, ...values };
  const options = { token: by, version: null };
  const created = await call(app, "POST", `/_/api/v1/recordings/${id}/highlights`, body, options);
  if (created.status !== 200) throw new Error(`creating the highlight failed: ${created.text}`);
  return created.body.id;
}

/** Inserts a recording without transcript or media, for tests that need many or that need only the row. */
export async function insertRecording(
  db: Database,
  { recorderId, ...values }: Partial<Insertable<Recordings>> & { readonly recorderId?: string } = {},
): Promise<string> {
  const id = values.id ?? randomUUIDv7();
  const owner = await ownerOf(db, { userId: recorderId, workspaceId: values.workspace_id });
  await db.kysely.transaction().execute(async (tx) => {
    await tx
      .insertInto("recordings")
      .values({
        id,
        workspace_id: owner.workspace_id,
        title: `Meeting ${unique()}`,
        start_datetime: new Date(),
        end_datetime: new Date(),
        duration_ms: 0,
        media_type: "video",
        source: "upload",
        share_state: "restricted",
        external: false,
        ...values,
      })
      .execute();
    await tx
      .insertInto("recording_recorders")
      .values({ recording_id: id, user_id: owner.id, position: 0 })
      .execute();
    await syncGrants(tx, [id]);
  });
  return id;
}

/** A hook with its secret in plain text. */
export type TestHook = Selectable<Hooks> & { readonly signingSecret: string };

/**
 * Inserts a hook, because creating one sends a test request to its URL. By default it is a workspace's, existed before every
 * event, and has no real receiver.
 */
export async function insertHook(
  app: Pick<TestApp, "db" | "encryptor">,
  { signingSecret = "whsec_c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0", ...values }: HookValues = {},
): Promise<TestHook> {
  const owner = await ownerOf(app.db, { userId: values.created_by, workspaceId: values.workspace_id });
  const row = await app.db.kysely
    .insertInto("hooks")
    .values({
      id: randomUUIDv7(),
      workspace_id: owner.workspace_id,
      created_by: owner.id,
      scope: "workspace",
      version: "2025-10-31",
      hook_url: "https://receiver.example/",
      hook_type: "recording_deleted",
      include: "{}",
      secret: app.encryptor.encrypt(signingSecret),
      inserted_at: new Date("2020-01-01"),
      ...values,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  return { ...row, signingSecret };
}

type HookValues = Partial<Insertable<Hooks>> & { readonly signingSecret?: string };

/** The given user, an admin of the given workspace, or one of a new workspace. */
async function ownerOf(
  db: Database,
  { userId, workspaceId }: { userId?: string | undefined; workspaceId?: string | undefined },
): Promise<{ id: string; workspace_id: string }> {
  const users = db.kysely.selectFrom("users").select(["id", "workspace_id"]);
  const candidates =
    userId === undefined
      ? users.where("workspace_id", "=", workspaceId ?? (await makeWorkspace(db)).id)
      : users.where("id", "=", userId);
  return candidates.orderBy("role").limit(1).executeTakeFirstOrThrow();
}

/** Waits until an upload is promoted. */
export async function waitForRecording(app: TestApp, token: string, uploadId: string): Promise<string> {
  return until(`upload ${uploadId} is promoted`, async () => {
    const upload: Answer<{ status: string; recording_id: string | null; failure?: { reason: string } }> =
      await call(app, "POST", `/uploads/${uploadId}`, {}, { token });
    if (upload.body.status === "failure") throw new Error(`promotion failed: ${upload.body.failure?.reason}`);
    return upload.body.recording_id ?? undefined;
  });
}

/** An id that does not exist. */
export const unknownId = (): string => randomUUID();
