/** Everybody who may come to a door, as seen from one recording of one workspace. */
export const callers = {
  anonymous: "nobody is signed in",
  other_workspace: "an admin of another workspace",
  no_access: "a member who can't see the recording",
  viewer: "a viewer it is shared with",
  participant: "a member who took part",
  team_member: "a member of a team it is shared with",
  recorder: "who recorded it, by a personal token",
  session: "who recorded it, signed in with a browser",
  oauth: "an app that who recorded it let in",
  admin: "an admin it is shared with, by a personal token",
  admin_session: "the same, signed in with a browser",
  admin_oauth: "an app that this admin let in",
  admin_no_access: "an admin who can't see the recording",
  workspace_token: "a workspace token",
} as const;

export type Caller = keyof typeof callers;

/** `ok`: done, or the way to it shown. Otherwise the status of the refusal. */
export type Outcome = "ok" | 400 | 401 | 403 | 404;

/** What each caller gets at one door. */
export type Rights = Readonly<Record<Caller, Outcome>>;

const everybody: Rights = {
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

/** The same rights but for some callers. */
function but<Row extends object>(rights: Row, changes: Partial<Row>): Row {
  return { ...rights, ...changes };
}

/** What is asked of one's own workspace or oneself: each caller has an answer of their own. */
const own = everybody;
/** Making something new. */
const make = but(everybody, { viewer: 403 });
/** One thing that belongs to the workspace. */
const inWorkspace = but(everybody, { other_workspace: 404 });
/** The recording, and what belongs to it. */
const sees = but(inWorkspace, { no_access: 404, admin_no_access: 404 });
/** Adding to the recording: whoever sees it, but viewers. */
const adds = but(sees, { viewer: 403 });
/** Changing the recording: recorders, admins, workspace tokens. */
const changes = but(adds, { participant: 403, team_member: 403 });
/** Something that one person made for everybody: that person, admins and workspace tokens. */
const changesMade = but(changes, { no_access: 403, admin_no_access: "ok" });
/** Something of one person alone. */
const mine = but(everybody, {
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
/** A hook made with a workspace token: admins look after it themselves, no app does it for them. */
const hookOfWorkspace = but(mine, {
  recorder: 404,
  session: 404,
  oauth: 404,
  admin: "ok",
  admin_session: "ok",
  admin_no_access: "ok",
  workspace_token: "ok",
});
/** A person's own account: no app and no workspace token. */
const account = but(everybody, { oauth: 403, admin_oauth: 403, workspace_token: 403 });
/** Nobody but admins, whatever they come with. */
const noMembers = {
  no_access: 403,
  viewer: 403,
  participant: 403,
  team_member: 403,
  recorder: 403,
  session: 403,
  oauth: 403,
} as const;
/** People, tokens, apps, the audit log, retention: admins themselves, no app that acts for them. */
const admins = but(account, noMembers);
/** Settings about recordings: admins, also by an app, and workspace tokens. */
const manages = but(everybody, noMembers);

/** The kinds of doors. */
export const kinds = {
  own,
  make,
  inWorkspace,
  sees,
  adds,
  changes,
  changesMade,
  mine,
  /** The same where changes are refused to viewers before anything is looked for. */
  mineToChange: but(mine, { viewer: 403 }),
  hookOfWorkspace,
  hookOfWorkspaceToChange: but(hookOfWorkspace, { viewer: 403 }),
  /** Uploads: one's own, and for a workspace token all of the workspace. */
  myUpload: but(mine, { workspace_token: "ok" }),
  myUploadToChange: but(mine, { viewer: 403, workspace_token: "ok" }),
  account,
  /** Of one's own account, and for admins of everybody's in the workspace. */
  accountOrAdmins: but(account, {
    other_workspace: 404,
    no_access: 404,
    viewer: 404,
    participant: 404,
    team_member: 404,
    recorder: 404,
    session: 404,
  }),
  admins,
  /** The same for one thing of the workspace: an admin of another one finds nothing. */
  adminsHere: but(admins, { other_workspace: 404 }),
  manages,
  managesHere: but(manages, { other_workspace: 404 }),
  /** Notes that a person keeps about the recording: no workspace token has any. */
  notes: but(adds, { workspace_token: 403 }),
  /** Read by whoever sees the recording: who has none, or is a viewer now, gets nothing, and no refusal. */
  readsNotes: but(sees, { workspace_token: 403 }),
  /** Everybody, signed in or not. */
  open: but(everybody, { anonymous: "ok" }),
} as const satisfies Record<string, Rights>;

export { but };

/**
 * Who comes to a door that is no operation. What such a door asks for, if anything, is a key: a signed link, a one-time
 * link, a password, the secret of an app, the hidden field of one's own form.
 */
export const doorCallers = {
  anonymous: "nobody is signed in, and there is no key",
  session: "who recorded it, signed in with a browser, without the key",
  token: "the same by a personal token, without the key",
  wrong: "a wrong key, or that of something else",
  expired: "a key that has expired or is used up",
  right: "the right key, whoever has it",
} as const;

export type DoorCaller = keyof typeof doorCallers;

/** `ok` as above; `asks`: a page to sign in on, and nothing else; null: this door knows no such key. */
export type DoorOutcome = Outcome | "asks" | 405 | 410 | null;

export type DoorRights = Readonly<Record<DoorCaller, DoorOutcome>>;

/** The kinds of doors that are no operations. */
export const doorKinds = {
  /** The same for everybody. */
  open: { anonymous: "ok", session: "ok", token: "ok", wrong: null, expired: null, right: null },
  /** The signature in the address is the whole permission: who may see the recording gets nothing without it. */
  signed: { anonymous: 403, session: 403, token: 403, wrong: 403, expired: 403, right: "ok" },
  /** The address itself is the key. */
  oneTime: { anonymous: 404, session: 404, token: 404, wrong: 404, expired: 404, right: "ok" },
  /** An app shows its own secret; what a person has is nothing here. */
  ofApp: { anonymous: 401, session: 401, token: 401, wrong: 401, expired: null, right: "ok" },
} as const satisfies Record<string, DoorRights>;
