import { randomBytes, randomUUID } from "node:crypto";
import { createAccessToken, createTeam, createUser, createWorkspace } from "../../server/accounts/service.ts";
import type { Database } from "../../server/platform/db/database.ts";
import { type Answer, call, type TestApp } from "./app.ts";
import { until } from "./until.ts";

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

/** Creates a transcript upload through the API and waits until it is a recording. */
export async function makeRecording(
  app: TestApp,
  token: string,
  attributes: Attributes = {},
): Promise<{ recordingId: string; uploadId: string }> {
  const created = await call(
    app,
    "POST",
    "/uploads/create",
    {
      media_type: "transcript",
      attributes: { title: `Meeting ${unique()}`, transcript: sampleTranscript, ...attributes },
    },
    { token },
  );
  if (created.status !== 200) throw new Error(`creating the upload failed: ${created.text}`);
  const uploadId: string = created.body.id;
  const recordingId = await waitForRecording(app, token, uploadId);
  return { recordingId, uploadId };
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
