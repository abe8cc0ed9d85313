import { Command } from "commander";
import { sql } from "kysely";
import { syncGrants } from "../server/access/grants.ts";
import type { Principal } from "../server/access/principal.ts";
import {
  createAccessToken,
  createTeam,
  createUser,
  createWorkspace,
  findUserByEmail,
} from "../server/accounts/service.ts";
import { commandLine } from "../server/audit/record.ts";
import type { Config } from "../server/config.ts";
import type { Database } from "../server/db/database.ts";
import { type JobQueue, openJobQueue } from "../server/jobs/queue.ts";
import { addTag, shareWithTeam, shareWithUser } from "../server/recordings/service.ts";
import { promoteUploadJob } from "../server/uploads/promote.ts";
import { createUpload } from "../server/uploads/service.ts";
import { demoMeetings } from "./demo/meetings/index.ts";
import type { DemoMeeting } from "./demo/types.ts";
import { demoWorkspace } from "./demo/workspace.ts";
import { printValue, withDatabase } from "./with-database.ts";

export function demoCommand(): Command {
  return new Command("demo")
    .description("make a sample workspace with people, teams and meetings; prints its id")
    .option("--json", "print a JSON object")
    .action((options: { json?: boolean }) =>
      withDatabase(async (db, config) => {
        const { id, isNew } = await fillDemo(db, config);
        console.error(
          isNew
            ? await describeDemo(db, config)
            : `the sample workspace ${demoWorkspace.name} is there already`,
        );
        printValue(
          id,
          { id, name: demoWorkspace.name, meetings: demoMeetings.length, created: isNew },
          options,
        );
      }),
    );
}

/** People of the sample workspace and its teams by name and email. */
interface Cast {
  readonly workspaceId: string;
  readonly membersId: string;
  readonly users: ReadonlyMap<string, string>;
  readonly teams: ReadonlyMap<string, string>;
}

/** Makes the sample workspace once. Meetings a broken-off run left out are made by the next. */
async function fillDemo(db: Database, config: Config): Promise<{ id: string; isNew: boolean }> {
  const cast = await ensureCast(db);
  const jobs = await openJobQueue({
    pool: db.pool,
    supervise: false,
    onError: (error) => console.error(`parley: ${error.message}`),
  });
  let made = 0;
  try {
    const present = new Set(
      (
        await db.kysely
          .selectFrom("uploads")
          .select("title")
          .where("workspace_id", "=", cast.workspaceId)
          .execute()
      ).map((row) => row.title),
    );
    for (const meeting of demoMeetings) {
      if (present.has(meeting.title)) continue;
      await makeMeeting(db, jobs, config, cast, meeting);
      made += 1;
    }
  } finally {
    await jobs.close();
  }
  return { id: cast.workspaceId, isNew: made > 0 };
}

async function ensureCast(db: Database): Promise<Cast> {
  return db.kysely.transaction().execute(async (tx) => {
    // Two runs at once make one workspace.
    await sql`lock table workspaces in share row exclusive mode`.execute(tx);
    const [firstPerson] = demoWorkspace.people;
    const found = firstPerson && (await findUserByEmail(tx, firstPerson.email));
    const workspaceId = found?.workspace_id ?? (await createWorkspace(tx, demoWorkspace)).id;
    if (!found) {
      for (const { name, email, role } of demoWorkspace.people)
        await createUser(tx, { workspaceId, name, email, role });
      for (const name of demoWorkspace.teams) {
        const memberEmails = demoWorkspace.people
          .filter((person) => person.teams.includes(name))
          .map(({ email }) => email);
        await createTeam(tx, { workspaceId, name, memberEmails });
      }
    }
    const users = await tx
      .selectFrom("users")
      .select(["id", "email"])
      .where("workspace_id", "=", workspaceId)
      .execute();
    const teams = await tx
      .selectFrom("teams")
      .select(["id", "name"])
      .where("workspace_id", "=", workspaceId)
      .execute();
    const workspace = await tx
      .selectFrom("workspaces")
      .select("members_id")
      .where("id", "=", workspaceId)
      .executeTakeFirstOrThrow();
    return {
      workspaceId,
      membersId: workspace.members_id,
      users: new Map(users.map((user) => [user.email, user.id])),
      teams: new Map(teams.map((team) => [team.name, team.id])),
    };
  });
}

/** Brings one meeting in the way a client would: upload, promotion, then tags and shares. */
async function makeMeeting(
  db: Database,
  jobs: JobQueue,
  config: Config,
  cast: Cast,
  meeting: DemoMeeting,
): Promise<void> {
  const principal = recorderOf(cast, meeting);
  const team = meeting.team === undefined ? undefined : required(cast.teams, meeting.team);
  const upload = await createUpload({ db, jobs, config }, principal, {
    media_type: "transcript",
    attributes: {
      title: meeting.title,
      start_datetime: startOf(meeting).toISOString(),
      ...(team === undefined ? {} : { team_id: team }),
      recorder_ids: meeting.recorders.map((email) => required(cast.users, email)),
      participants: meeting.participants.map(({ key, ...person }) => ({ ...person, speaker_key: key })),
      transcript: {
        language: meeting.language,
        segments: meeting.segments.map(({ key, start, end, text }) => ({
          speaker_key: key,
          start,
          end,
          text,
        })),
      },
    },
  });
  // A running server may have done it already; otherwise it is done here.
  await promoteUploadJob({ db, jobs, config }, upload.id);
  const { recording_id } = await db.kysely
    .selectFrom("uploads")
    .select("recording_id")
    .where("id", "=", upload.id)
    .executeTakeFirstOrThrow();
  if (recording_id === null)
    throw new Error(`the sample meeting "${meeting.title}" did not become a recording`);
  const actor = commandLine(cast.workspaceId);
  for (const tag of meeting.tags) await addTag(db, principal, recording_id, tag);
  for (const name of meeting.sharedWithTeams ?? [])
    await shareWithTeam(db, principal, recording_id, required(cast.teams, name), actor);
  for (const email of meeting.sharedWithUsers ?? [])
    await shareWithUser(db, principal, recording_id, required(cast.users, email), actor);
  await db.kysely.transaction().execute(async (tx) => {
    await sql`
      update recordings set share_state = ${meeting.shareState}, meeting_type_id =
        (select id from meeting_types where workspace_id = ${cast.workspaceId} and name = ${meeting.meetingType})
      where id = ${recording_id}`.execute(tx);
    await syncGrants(tx, [recording_id]);
  });
}

function recorderOf(cast: Cast, meeting: DemoMeeting): Principal {
  const email = meeting.recorders[0] ?? "";
  const userId = required(cast.users, email);
  return {
    tokenId: userId,
    tokenType: "personal_access_token",
    scope: "personal",
    workspaceId: cast.workspaceId,
    userId,
    role: "member",
    emailKey: email,
    name: email,
    expiresAt: null,
    sees: [userId, cast.membersId],
  };
}

function startOf(meeting: DemoMeeting): Date {
  const day = new Date(Date.now() - meeting.daysAgo * 86_400_000).toISOString().slice(0, 10);
  return new Date(`${day}T${meeting.startsAt}:00Z`);
}

function required(ids: ReadonlyMap<string, string>, name: string): string {
  const id = ids.get(name);
  if (id === undefined) throw new Error(`the sample workspace has no ${name}`);
  return id;
}

/** What to do with it, with a token good for a day. */
async function describeDemo(db: Database, config: Config): Promise<string> {
  const admin = demoWorkspace.people.find((person) => person.role === "admin");
  if (!admin) throw new Error("the sample workspace has no admin");
  const { token } = await db.kysely.transaction().execute((tx) =>
    createAccessToken(tx, {
      email: admin.email,
      type: "workspace_access_token",
      name: "sample",
      expiresAt: new Date(Date.now() + 86_400_000),
    }),
  );
  return [
    `made the sample workspace ${demoWorkspace.name}: ${demoWorkspace.people.length} people, ${demoMeetings.length} meetings`,
    "look at them while the server runs (the token is good for a day):",
    `  curl -s -X POST ${config.baseUrl}/_/public-api/v2/recordings -H 'Authorization: Bearer ${token}' -H 'Public-Api-Version: 2026-10-01'`,
  ].join("\n");
}
