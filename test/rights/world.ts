import { randomBytes, randomUUIDv7 } from "node:crypto";
import { sql } from "kysely";
import { syncGrants } from "../../server/access/grants.ts";
import type { TestProvider } from "../../server/accounts/testing-provider.ts";
import { call, currentVersion, olderVersion, type TestApp } from "../support/app.ts";
import { makeTeam, makeWorkspace } from "../support/factories.ts";
import type { HookReceiver } from "../support/hook-receiver.ts";
import { until } from "../support/until.ts";
import type { Caller } from "./callers.ts";
import { type Fresh, makeFresh, type People } from "./people.ts";

/** Stands in every title and text of the recording, so that a leak is seen. */
export const marker = "Zaubernuss";

/** One recording and what belongs to it, made as it is asked for. */
export class World {
  readonly people: People;
  readonly app: TestApp;
  readonly receiver: HookReceiver;
  /** Of single sign-on, where the server has it. */
  readonly provider: TestProvider | undefined;
  readonly recordingId: string;
  readonly participantId: string;
  constructor(
    app: TestApp,
    people: People,
    outside: { receiver: HookReceiver; provider: TestProvider | undefined },
    ids: { recordingId: string; participantId: string },
  ) {
    this.app = app;
    this.people = people;
    this.receiver = outside.receiver;
    this.provider = outside.provider;
    this.recordingId = ids.recordingId;
    this.participantId = ids.participantId;
  }

  /** An upload that waits for its file. */
  async audioUpload(): Promise<string> {
    return (await this.asRecorder("POST", "/uploads/create", { media_type: "audio" })).id;
  }

  /** Asks something as who recorded it, for what a door needs behind it. */
  // biome-ignore lint/suspicious/noExplicitAny: any answer of any operation.
  async asRecorder(method: string, path: string, body?: unknown, version = currentVersion): Promise<any> {
    const answer = await call(this.app, method, path, body, {
      version,
      token: this.people.credentials.recorder.token ?? null,
    });
    if (answer.status >= 300) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`);
    return answer.body;
  }

  async highlight(): Promise<string> {
    const made = await this.asRecorder("POST", `/_/api/v1/recordings/${this.recordingId}/highlights`, {
      text: marker,
      timestamp: 0,
      duration: 1000,
    });
    return made.id;
  }

  /** A story that shows a highlight of the recording. */
  async story(): Promise<string> {
    const highlight_ids = [await this.highlight()];
    return (await this.asRecorder("POST", "/_/api/v1/stories", { title: "A story", highlight_ids })).id;
  }

  /** A team that is neither in the recording's workspace nor in that of a caller. */
  async teamElsewhere(): Promise<string> {
    return (await makeTeam(this.app.db, await makeWorkspace(this.app.db))).id;
  }

  /** Gives the recording a file. @returns its id. */
  async withMedia(): Promise<string> {
    await sql`insert into recording_media (recording_id, format, has_storyboard) values (${this.recordingId}, 'mp3', false)`.execute(
      this.app.db.kysely,
    );
    return this.recordingId;
  }

  /** Somebody who took part and says nothing in the transcript. */
  async silentParticipant(): Promise<string> {
    const made = await this.asRecorder("POST", `/_/api/v1/recordings/${this.recordingId}/participants`, {
      name: "Cy",
    });
    return made.id;
  }

  async imported(): Promise<string> {
    return (
      await this.asRecorder("POST", "/_/api/v1/recordings", { transcript: { language: "en", segments: [] } })
    ).id;
  }

  /** Asks something as an admin. */
  // biome-ignore lint/suspicious/noExplicitAny: any answer of any operation.
  async asAdmin(method: string, path: string, body?: unknown): Promise<any> {
    const answer = await call(this.app, method, path, body, {
      version: null,
      token: this.people.credentials.admin.token ?? null,
    });
    if (answer.status >= 300) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`);
    return answer.body;
  }

  /** Somebody new of the caller's kind, for what changes the account that asks. */
  fresh(caller: Caller): Promise<Fresh> {
    return makeFresh(this.app, this.people, caller);
  }

  async meetingType(): Promise<string> {
    const name = `Type ${randomBytes(6).toString("hex")}`;
    return (await this.asAdmin("POST", "/_/api/v1/meeting_types", { name, scope: "internal" })).id;
  }

  async template(): Promise<string> {
    // There is a limit to how many a workspace has.
    await this.app.db.kysely.deleteFrom("section_templates").execute();
    const title = `Risks ${randomBytes(6).toString("hex")}`;
    return (
      await this.asAdmin("POST", "/_/api/v1/templates", { title, kind: "bullets", prompt: "List them." })
    ).id;
  }

  /** Corrects the transcript. @returns the number of the edit. */
  async edit(): Promise<string> {
    const made = await this.asRecorder(
      "POST",
      `/_/api/v1/recordings/${this.recordingId}/transcript/corrections`,
      {
        transcript_version: 0,
        segments: [{ index: 0, text: `${marker} corrected` }],
      },
    );
    return String(made.edit);
  }

  async actionItem(): Promise<string> {
    const id = randomUUIDv7();
    await this.app.db.kysely
      .updateTable("recordings")
      .set({
        ai_action_items: JSON.stringify([
          { id, status: "pending", timestamp: 0, text: marker, quote: marker, assignee_id: null },
        ]),
      })
      .where("id", "=", this.recordingId)
      .execute();
    return id;
  }

  /** A staged upload that waits to be promoted. */
  async upload(): Promise<string> {
    const made = await this.asRecorder("POST", "/uploads/create", {
      media_type: "transcript",
      auto_promote: false,
      attributes: { title: marker, transcript: { language: "en", segments: [] } },
    });
    return made.id;
  }

  /** A hook of the workspace. */
  async workspaceHook(): Promise<string> {
    const { id } = (
      await call(
        this.app,
        "POST",
        "/hooks/create",
        { hook_url: `${this.receiver.url}/hook`, hook_type: "recording_deleted" },
        { version: olderVersion, token: this.people.credentials.workspace_token.token ?? null },
      )
    ).body;
    return id;
  }

  async hook(): Promise<string> {
    const made = await this.asRecorder(
      "POST",
      "/hooks/create",
      {
        hook_url: `${this.receiver.url}/hook`,
        hook_type: "recording_added",
      },
      olderVersion,
    );
    return made.id;
  }

  /** A delivery that is done, so that it can be sent again. */
  async delivery(hookId: string): Promise<string> {
    const { id } = await this.asRecorder("POST", `/_/api/v1/hooks/${hookId}/test`);
    return until("the delivery is done", async () => {
      const found = await this.asRecorder("GET", `/_/api/v1/hooks/${hookId}/deliveries/${id}`);
      return found.status === "delivered" || found.state === "delivered" ? id : undefined;
    });
  }
}

/** Makes a recording with everybody who has to do with it, straight in the database, since there are hundreds. */
export async function makeWorld(
  app: TestApp,
  people: People,
  receiver: HookReceiver,
  provider?: TestProvider,
): Promise<World> {
  const recordingId = randomUUIDv7();
  const participantId = randomUUIDv7();
  await app.db.kysely.transaction().execute(async (tx) => {
    await sql`
      insert into recordings (id, workspace_id, title, start_datetime, end_datetime, duration_ms, media_type, source,
        share_state, external, tags)
      values (${recordingId}, ${people.workspaceId}, ${marker}, '2026-05-01T10:00:00Z', '2026-05-01T10:01:00Z', 60000,
        'transcript', 'upload', 'restricted', false, array['harbour'])`.execute(tx);
    await sql`insert into recording_recorders values (${recordingId}, ${people.ids.recorder}, 0)`.execute(tx);
    await sql`
      insert into participants (id, recording_id, workspace_id, position, name, email, scope, confirmed_attendee, attended)
      values (${participantId}, ${recordingId}, ${people.workspaceId}, 0, ${marker}, ${people.participantEmail},
        'internal', true, true)`.execute(tx);
    await sql`
      insert into recording_user_shares (recording_id, user_id)
      values (${recordingId}, ${people.ids.viewer}), (${recordingId}, ${people.ids.admin})`.execute(tx);
    await sql`
      insert into recording_teams (recording_id, team_id) values (${recordingId}, ${people.teamId})`.execute(
      tx,
    );
    await sql`
      insert into transcript_segments (recording_id, position, participant_id, speaker, start_ms, end_ms, text)
      values (${recordingId}, 0, ${participantId}, ${marker}, 0, 4000, ${`${marker} is said`}),
        (${recordingId}, 1, null, 'Unknown Speaker 1', 5000, 9000, ${`${marker} again`})`.execute(tx);
    await syncGrants(tx, [recordingId]);
  });
  return new World(app, people, { receiver, provider }, { recordingId, participantId });
}
