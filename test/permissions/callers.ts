/** The kinds of callers, relative to one recording of one workspace. */
export const callers = {
  anonymous: "not signed in",
  other_workspace: "an admin of another workspace",
  no_access: "a member who can't see the recording",
  viewer: "a viewer with whom it is shared",
  participant: "a member who participated",
  team_member: "a member of a team with which it is shared",
  recorder: "the recorder, with a personal token",
  session: "the recorder, signed in with a browser",
  oauth: "an app that the recorder authorized",
  admin: "an admin with whom it is shared, with a personal token",
  admin_session: "the same admin, signed in with a browser",
  admin_oauth: "an app that this admin authorized",
  admin_no_access: "an admin who can't see the recording",
  workspace_token: "a workspace token",
} as const;

export type Caller = keyof typeof callers;

/** `ok`: success or a redirect; else the status of the error. */
export type Outcome = "ok" | 400 | 401 | 403 | 404;

/** The outcome of one operation for each caller. */
export type Permissions = Readonly<Record<Caller, Outcome>>;

const everybody: Permissions = {
  anonymous: 401,
  other_workspace: "ok",
  no_access: "ok",
  viewer: "ok",
  participant: "ok",
  team_member: "ok",
  recorder: "ok",
  session: "ok",
  oauth: "ok",
  admin: "ok",
  admin_session: "ok",
  admin_oauth: "ok",
  admin_no_access: "ok",
  workspace_token: "ok",
};

/** The same permissions except for some callers. */
function except<Row extends object>(permissions: Row, changes: Partial<Row>): Row {
  return { ...permissions, ...changes };
}

/** Data of the caller's own workspace or account. */
const own = everybody;
/** Creating something. */
const make = except(everybody, { viewer: 403 });
/** An object of the workspace. */
const inWorkspace = except(everybody, { other_workspace: 404 });
/** Reading the recording and its data. */
const sees = except(inWorkspace, { no_access: 404, admin_no_access: 404 });
/** Adding to the recording: everyone who can see it except viewers. */
const adds = except(sees, { viewer: 403 });
/** Changing the recording: recorders, admins, workspace tokens. */
const changes = except(adds, { participant: 403, team_member: 403 });
/** Changing an object that one user created for the workspace: that user, admins and workspace tokens. */
const changesCreated = except(changes, { no_access: 403, admin_no_access: "ok" });
/** An object of one user. */
const mine = except(everybody, {
  other_workspace: 404,
  no_access: 404,
  viewer: 404,
  participant: 404,
  team_member: 404,
  admin: 404,
  admin_session: 404,
  admin_oauth: 404,
  admin_no_access: 404,
  workspace_token: 404,
});
/** A hook created with a workspace token: admins manage it themselves, not through apps. */
const hookOfWorkspace = except(mine, {
  recorder: 404,
  session: 404,
  oauth: 404,
  admin: "ok",
  admin_session: "ok",
  admin_no_access: "ok",
  workspace_token: "ok",
});
const delivery = except(mine, {
  admin: "ok",
  admin_session: "ok",
  admin_no_access: "ok",
  workspace_token: "ok",
});
/** The caller's own account: not for apps and workspace tokens. */
const account = except(everybody, { oauth: 403, admin_oauth: 403, workspace_token: 403 });
/** Admins only, with any credential. */
const noMembers = {
  no_access: 403,
  viewer: 403,
  participant: 403,
  team_member: 403,
  recorder: 403,
  session: 403,
  oauth: 403,
} as const;
/** TestUsers, tokens, apps, the audit log, retention: admins themselves, no app that acts for them. */
const admins = except(account, noMembers);
/** Settings about recordings: admins, also through apps, and workspace tokens. */
const manages = except(everybody, noMembers);

/** The kinds of operations. */
export const kinds = {
  own,
  make,
  inWorkspace,
  sees,
  adds,
  changes,
  changesCreated,
  mine,
  /** As `mine`, but viewers are refused before the object is looked up. */
  mineToChange: except(mine, { viewer: 403 }),
  hookOfWorkspace,
  hookOfWorkspaceToChange: except(hookOfWorkspace, { viewer: 403 }),
  /** A delivery: its owner's, and managed by admins themselves and workspace tokens. */
  delivery,
  deliveryToChange: except(delivery, { viewer: 403 }),
  /** Uploads: the caller's own; for workspace tokens all of the workspace. */
  myUpload: except(mine, { workspace_token: "ok" }),
  myUploadToChange: except(mine, { viewer: 403, workspace_token: "ok" }),
  account,
  /** An object of the caller's account; for admins, of any account in the workspace. */
  accountOrAdmins: except(account, {
    other_workspace: 404,
    no_access: 404,
    viewer: 404,
    participant: 404,
    team_member: 404,
    recorder: 404,
    session: 404,
  }),
  admins,
  /** As `admins`, for an object of the workspace: 404 for admins of other workspaces. */
  adminsHere: except(admins, { other_workspace: 404 }),
  /** The installation: admins of the operator's workspace, which is the callers'. */
  operators: except(admins, { other_workspace: 403 }),
  manages,
  managesHere: except(manages, { other_workspace: 404 }),
  /** Writing private notes: not for workspace tokens. */
  notes: except(adds, { workspace_token: 403 }),
  /** Reading private notes: null for callers without notes, not an error. */
  readsNotes: except(sees, { workspace_token: 403 }),
  /** Everyone, signed in or not. */
  open: except(everybody, { anonymous: "ok" }),
} as const satisfies Record<string, Permissions>;

export { except };

/**
 * The kinds of callers of routes outside the API operations. Such a route requires a key, if anything: a signed link, a
 * one-time link, a password, an app's secret, or the hidden field of a form.
 */
export const routeCallers = {
  anonymous: "not signed in, without a key",
  session: "the recorder, signed in with a browser, without the key",
  token: "the recorder, with a personal token, without the key",
  wrong: "a wrong key, or the key of something else",
  expired: "a key that has expired or was used before",
  right: "the right key",
} as const;

export type RouteCaller = keyof typeof routeCallers;

/** `ok` as above; `asks`: a sign-in page; null: the route has no such key. */
export type RouteOutcome = Outcome | "asks" | 405 | 410 | null;

export type RoutePermissions = Readonly<Record<RouteCaller, RouteOutcome>>;

/** The kinds of routes outside the API operations. */
export const routeKinds = {
  /** The same for everyone. */
  open: { anonymous: "ok", session: "ok", token: "ok", wrong: null, expired: null, right: null },
  /** The URL's signature is the only permission, also for users who can see the recording. */
  signed: { anonymous: 403, session: 403, token: 403, wrong: 403, expired: 403, right: "ok" },
  /** The URL itself is the key. */
  oneTime: { anonymous: 404, session: 404, token: 404, wrong: 404, expired: 404, right: "ok" },
  /** Requires an app's secret; users' credentials don't count. */
  ofApp: { anonymous: 401, session: 401, token: 401, wrong: 401, expired: null, right: "ok" },
} as const satisfies Record<string, RoutePermissions>;
