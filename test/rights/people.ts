import { createSession } from "../../server/accounts/sessions.ts";
import type { TestApp } from "../support/app.ts";
import { makeTeam, makeUser, makeWorkspace, type TestUser } from "../support/factories.ts";
import { makeClient, obtainTokens, password } from "../support/oauth.ts";
import { cheapHash } from "../support/passwords.ts";
import type { Caller } from "./callers.ts";

/** How a caller shows who they are. */
export interface Credentials {
  readonly token?: string;
  readonly headers?: Record<string, string>;
}

/** The people of a workspace, another one, and what they show at the door. */
export interface People {
  readonly workspaceId: string;
  readonly domain: string;
  readonly teamId: string;
  readonly ids: Readonly<Record<"recorder" | "viewer" | "participant" | "admin" | "somebody", string>>;
  readonly participantEmail: string;
  readonly passwordHash: string;
  readonly credentials: Readonly<Record<Caller, Credentials>>;
}

export async function makePeople(app: TestApp): Promise<People> {
  const workspace = await makeWorkspace(app.db);
  const other = await makeWorkspace(app.db);
  const person = () => makeUser(app.db, workspace);
  const [recorder, viewer, participant, teamMember, somebody] = [
    await person(),
    await person(),
    await person(),
    await person(),
    await person(),
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
      somebody: somebody.id,
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
      oauth: await letAppIn(app, workspace.id, recorder),
      admin: { token: admin.token },
      admin_session: (await signIn(app, admin.id)).credentials,
      admin_no_access: { token: (await makeUser(app.db, workspace, { role: "admin" })).token },
      admin_oauth: await letAppIn(app, workspace.id, admin),
      workspace_token: { token: workspace.token },
    },
  };
}

/** Somebody made for one request. */
export interface Fresh {
  readonly id: string;
  readonly email: string;
  readonly credentials: Credentials;
  /** A session of theirs: the one that asks, where a browser does. */
  readonly sessionId: string;
  /** The browser of this session, whoever else they come as. */
  readonly browser: Credentials;
}

/**
 * Somebody new of the same kind as a caller, with a password and a session: for requests that change the account that
 * asks. A workspace token has no account, so it stays the same; who is anonymous stays so.
 */
export async function makeFresh(app: TestApp, people: People, caller: Caller): Promise<Fresh> {
  const isAdmin = /admin|other_workspace/.test(caller);
  const workspace =
    caller === "other_workspace"
      ? await makeWorkspace(app.db)
      : { id: people.workspaceId, domain: people.domain };
  const user = await makeUser(app.db, workspace, { role: isAdmin ? "admin" : "member" });
  if (caller === "viewer") await makeViewer(app, user.id);
  await app.db.kysely
    .updateTable("users")
    .set({ password_hash: people.passwordHash })
    .where("id", "=", user.id)
    .execute();
  const session = await signIn(app, user.id);
  const credentialsOf = async (): Promise<Credentials> => {
    if (caller === "anonymous" || caller === "workspace_token") return people.credentials[caller];
    if (caller === "session" || caller === "admin_session") return session.credentials;
    if (caller === "oauth" || caller === "admin_oauth") return letAppIn(app, workspace.id, user);
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

/** A person's session in a browser. */
async function signIn(app: TestApp, userId: string): Promise<{ id: string; credentials: Credentials }> {
  const { id, cookie } = await app.db.kysely
    .transaction()
    .execute((tx) => createSession(tx, { userId, method: "password", ip: "127.0.0.1", userAgent: "test" }));
  return { id, credentials: { headers: { cookie: `parley_session=${cookie}` } } };
}

/** A token that an app got for a person, in the way that apps get them. */
async function letAppIn(app: TestApp, workspaceId: string, user: TestUser): Promise<Credentials> {
  const client = await makeClient(app, { id: workspaceId });
  return { token: (await obtainTokens(app, client, user)).access_token };
}
