import { createSession } from "../../server/people/accounts/sign-in/sessions.ts";
import type { TestApp } from "../support/app.ts";
import { makeTeam, makeUser, makeWorkspace, type TestUser } from "../support/factories.ts";
import { makeClient, obtainTokens, password } from "../support/oauth.ts";
import { cheapHash } from "../support/passwords.ts";
import type { Caller } from "./callers.ts";

/** A caller's credentials. */
export interface Credentials {
  readonly token?: string;
  readonly headers?: Record<string, string>;
}

/** The users of a workspace and of another one, with their credentials. */
export interface TestUsers {
  readonly workspaceId: string;
  readonly domain: string;
  readonly teamId: string;
  readonly ids: Readonly<Record<"recorder" | "viewer" | "participant" | "admin" | "otherUser", string>>;
  readonly participantEmail: string;
  readonly passwordHash: string;
  readonly credentials: Readonly<Record<Caller, Credentials>>;
}

export async function createTestUsers(app: TestApp): Promise<TestUsers> {
  const workspace = await makeWorkspace(app.db);
  const other = await makeWorkspace(app.db);
  const createMember = () => makeUser(app.db, workspace);
  const [recorder, viewer, participant, teamMember, otherUser] = [
    await createMember(),
    await createMember(),
    await createMember(),
    await createMember(),
    await createMember(),
  ];
  await makeViewer(app, viewer.id);
  const team = await makeTeam(app.db, workspace, [teamMember]);
  const { admin, member } = workspace;
  return {
    workspaceId: workspace.id,
    domain: workspace.domain,
    teamId: team.id,
    ids: {
      recorder: recorder.id,
      viewer: viewer.id,
      participant: participant.id,
      admin: admin.id,
      otherUser: otherUser.id,
    },
    participantEmail: participant.email,
    passwordHash: await cheapHash(password),
    credentials: {
      anonymous: {},
      other_workspace: { token: other.admin.token },
      no_access: { token: member.token },
      viewer: { token: viewer.token },
      participant: { token: participant.token },
      team_member: { token: teamMember.token },
      recorder: { token: recorder.token },
      session: (await signIn(app, recorder.id)).credentials,
      oauth: await authorizeApp(app, workspace.id, recorder),
      admin: { token: admin.token },
      admin_session: (await signIn(app, admin.id)).credentials,
      admin_no_access: { token: (await makeUser(app.db, workspace, { role: "admin" })).token },
      admin_oauth: await authorizeApp(app, workspace.id, admin),
      workspace_token: { token: workspace.token },
    },
  };
}

/** A user created for one request. */
export interface FreshCaller {
  readonly id: string;
  readonly email: string;
  readonly credentials: Credentials;
  /** Their session; the session of the request if the caller is a browser. */
  readonly sessionId: string;
  /** The credentials of that session, whatever kind of caller they are. */
  readonly browser: Credentials;
}

/**
 * A new caller of the same kind, with a password and a session, for requests that change the caller's account. A workspace
 * token has no account and an anonymous caller none either, so these stay the same.
 */
export async function createCaller(app: TestApp, users: TestUsers, caller: Caller): Promise<FreshCaller> {
  const isAdmin = /admin|other_workspace/.test(caller);
  const workspace =
    caller === "other_workspace"
      ? await makeWorkspace(app.db)
      : { id: users.workspaceId, domain: users.domain };
  const user = await makeUser(app.db, workspace, { role: isAdmin ? "admin" : "member" });
  if (caller === "viewer") await makeViewer(app, user.id);
  await app.db.kysely
    .updateTable("users")
    .set({ password_hash: users.passwordHash })
    .where("id", "=", user.id)
    .execute();
  const session = await signIn(app, user.id);
  const credentialsOf = async (): Promise<Credentials> => {
    if (caller === "anonymous" || caller === "workspace_token") return users.credentials[caller];
    if (caller === "session" || caller === "admin_session") return session.credentials;
    if (caller === "oauth" || caller === "admin_oauth") return authorizeApp(app, workspace.id, user);
    return { token: user.token };
  };
  return {
    id: user.id,
    email: user.email,
    credentials: await credentialsOf(),
    sessionId: session.id,
    browser: session.credentials,
  };
}

async function makeViewer(app: TestApp, userId: string): Promise<void> {
  await app.db.kysely.updateTable("users").set({ role: "viewer" }).where("id", "=", userId).execute();
}

/** Creates a browser session of a user. */
async function signIn(app: TestApp, userId: string): Promise<{ id: string; credentials: Credentials }> {
  const { id, cookie } = await app.db.kysely
    .transaction()
    .execute((tx) => createSession(tx, { userId, method: "password", ip: "127.0.0.1", userAgent: "test" }));
  return { id, credentials: { headers: { cookie: `parley_session=${cookie}` } } };
}

/** The access token of an app that the user authorizes. */
async function authorizeApp(app: TestApp, workspaceId: string, user: TestUser): Promise<Credentials> {
  const client = await makeClient(app, { id: workspaceId });
  return { token: (await obtainTokens(app, client, user)).access_token };
}
