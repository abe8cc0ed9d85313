import { randomBytes, randomUUIDv7 } from "node:crypto";
import { sql } from "kysely";
import { syncGrants } from "../../server/people/access/grants.ts";
import type { TestProvider } from "../../server/people/accounts/test/provider.ts";
import { clipPrefix } from "../../server/recordings/public-link-records/clips.ts";
import { call, currentVersion, olderVersion, type TestApp } from "../support/app.ts";
import { makeTeam, makeUpload, makeWorkspace } from "../support/factories.ts";
import type { HookReceiver } from "../support/hook-receiver.ts";
import type { Caller } from "./callers.ts";
import { createCaller, type FreshCaller, type TestUsers } from "./users.ts";

/** Part of every title and text of the recording, so that leaks are detected. */
export const marker = "Zaubernuss";

/** One recording; related objects are created on demand. */
export class World {
  readonly users: TestUsers;
  readonly app: TestApp;
  readonly receiver: HookReceiver;
  /** The single sign-on provider, if the server has one. */
  readonly provider: TestProvider | undefined;
  /** Callers that `fresh` returns again; undefined: each is a new one. */
  knownCallers: Map<Caller, FreshCaller> | undefined;
  readonly #recordingId: string;
  readonly #participantId: string;
  #isUsed = false;
  constructor(
    app: TestApp,
    users: TestUsers,
    outside: { receiver: HookReceiver; provider: TestProvider | undefined },
    ids: Ids,
  ) {
    this.app = app;
    this.users = users;
    this.receiver = outside.receiver;
    this.provider = outside.provider;
    this.#recordingId = ids.recordingId;
    this.#participantId = ids.participantId;
  }

  get recordingId(): string {
    this.#isUsed = true;
    return this.#recordingId;
  }

  get participantId(): string {
    this.#isUsed = true;
    return this.#participantId;
  }

  /** Whether a request has named the recording, and may have changed it. */
  get isUsed(): boolean {
    return this.#isUsed;
  }

  /** An upload in status awaiting. */
  async audioUpload(): Promise<string> {
    const { token } = this.users.credentials.recorder;
    return (await makeUpload(this.app, token, { media_type: "audio" })).id;
  }

  /** Sends a set-up request as the recorder. */
  // biome-ignore lint/suspicious/noExplicitAny: any response of any operation.
  async asRecorder(method: string, path: string, body?: unknown, version = currentVersion): Promise<any> {
    const response = await call(this.app, method, path, body, {
      version,
      token: this.users.credentials.recorder.token ?? null,
    });
    if (response.status >= 300)
      throw new Error(`${method} ${path} returned ${response.status}: ${response.text}`);
    return response.body;
  }

  async highlight(): Promise<string> {
    const made = await this.asRecorder("POST", `/_/api/v1/recordings/${this.recordingId}/highlights`, {
      text: marker,
      timestamp: 0,
      duration: 1000,
    });
    return made.id;
  }

  /** A comment of the recorder. */
  async comment(): Promise<string> {
    const path = `/_/api/v1/recordings/${this.recordingId}/comments`;
    return (await this.asRecorder("POST", path, { text: marker })).id;
  }

  /** A highlight of the recording, which has a media file. */
  async highlightWithMedia(): Promise<string> {
    await this.withMedia();
    return this.highlight();
  }

  /** A highlight whose clip is rendered. */
  async highlightWithClip(): Promise<string> {
    const id = await this.highlight();
    const { rows } = await sql<{ id: string }>`
      insert into clips (recording_id, highlight_id, start_ms, end_ms, state, format, wanted_until)
      values (${this.recordingId}, ${id}, 0, 1000, 'ready', 'mp3', now() + interval '1 hour')
      returning id`.execute(this.app.db.kysely);
    await this.app.store.put(
      `${clipPrefix(this.recordingId, rows[0]?.id ?? "")}media.mp3`,
      Buffer.from("sound"),
    );
    return id;
  }

  /** A story with a highlight of the recording. */
  async story(): Promise<string> {
    const highlight_ids = [await this.highlight()];
    return (await this.asRecorder("POST", "/_/api/v1/stories", { title: "A story", highlight_ids })).id;
  }

  /** A team of a workspace without callers. */
  async teamElsewhere(): Promise<string> {
    return (await makeTeam(this.app.db, await makeWorkspace(this.app.db))).id;
  }

  /** Adds a media file. @returns the recording's id. */
  async withMedia(): Promise<string> {
    await sql`insert into recording_media (recording_id, format, has_storyboard) values (${this.recordingId}, 'mp3', false) on conflict do nothing`.execute(
      this.app.db.kysely,
    );
    return this.recordingId;
  }

  /** The recording while it is transcribed. */
  async transcribing(): Promise<string> {
    await sql`insert into transcriptions (recording_id, status) values (${this.recordingId}, 'running')
      on conflict (recording_id) do update set status = 'running'`.execute(this.app.db.kysely);
    return this.recordingId;
  }

  /** The recording with a summary of the language model. */
  async summarized(): Promise<string> {
    await sql`
      with r as (update recordings set ai_summary = ${marker} where id = ${this.recordingId})
      insert into intelligence_runs (recording_id, status, model, finished_at)
      values (${this.recordingId}, 'done', 'small', now())
      on conflict (recording_id) do update set status = 'done', model = 'small', finished_at = now()`.execute(
      this.app.db.kysely,
    );
    return this.recordingId;
  }

  /** A question of the recorder about the recording, with one finished turn. */
  async thread(): Promise<string> {
    const { rows } = await sql<{ id: string }>`
      with thread as (
        insert into ask_threads (id, workspace_id, user_id, recording_id, title)
        select gen_random_uuid(), r.workspace_id, rr.user_id, r.id, ${marker}
        from recordings r join recording_recorders rr on rr.recording_id = r.id
        where r.id = ${this.recordingId} limit 1 returning id)
      insert into ask_turns (thread_id, number, question, state) select id, 1, ${marker}, 'done' from thread
      returning thread_id as id`.execute(this.app.db.kysely);
    return rows[0]?.id ?? "";
  }

  /** A participant without lines in the transcript. */
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

  /** An import whose file has not arrived. */
  async awaitingImport(): Promise<string> {
    return (await this.asRecorder("POST", "/_/api/v1/recordings", { media: { format: "mp4" } })).id;
  }

  /** A recording in the trash that the same callers could see. @returns its id. */
  async trashed(): Promise<string> {
    const [{ recordingId } = { recordingId: "" }] = await insertRecordings(this.app, this.users, 1);
    await this.asRecorder("DELETE", `/_/api/v1/recordings/${recordingId}`);
    return recordingId;
  }

  /** Sends a set-up request as an admin. */
  // biome-ignore lint/suspicious/noExplicitAny: any response of any operation.
  async asAdmin(method: string, path: string, body?: unknown): Promise<any> {
    const response = await call(this.app, method, path, body, {
      version: null,
      token: this.users.credentials.admin.token ?? null,
    });
    if (response.status >= 300)
      throw new Error(`${method} ${path} returned ${response.status}: ${response.text}`);
    return response.body;
  }

  /** A new caller of the same kind, for requests that change the caller's account. */
  async fresh(caller: Caller): Promise<FreshCaller> {
    const found = this.knownCallers?.get(caller) ?? (await createCaller(this.app, this.users, caller));
    this.knownCallers?.set(caller, found);
    return found;
  }

  async meetingType(): Promise<string> {
    const name = `Type ${randomBytes(6).toString("hex")}`;
    return (await this.asAdmin("POST", "/_/api/v1/meeting_types", { name, scope: "internal" })).id;
  }

  async template(): Promise<string> {
    // Their number per workspace is limited.
    await this.app.db.kysely.deleteFrom("section_templates").execute();
    const title = `Risks ${randomBytes(6).toString("hex")}`;
    return (
      await this.asAdmin("POST", "/_/api/v1/templates", { title, kind: "bullets", prompt: "List them." })
    ).id;
  }

  /** Corrects the transcript. @returns the number of the edit. */
  edit(): Promise<string> {
    this.#edit ??= this.#correct();
    return this.#edit;
  }

  #edit: Promise<string> | undefined;

  async #correct(): Promise<string> {
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

  /** A staged upload with auto_promote false. */
  async upload(): Promise<string> {
    const made = await this.asRecorder("POST", "/uploads/create", {
      media_type: "transcript",
      auto_promote: false,
      attributes: { title: marker, transcript: { language: "en", segments: [] } },
    });
    return made.id;
  }

  /** A hook created with the workspace token. */
  async workspaceHook(): Promise<string> {
    const { id } = (
      await call(
        this.app,
        "POST",
        "/hooks/create",
        { hook_url: `${this.receiver.url}/hook`, hook_type: "recording_deleted" },
        { version: olderVersion, token: this.users.credentials.workspace_token.token ?? null },
      )
    ).body;
    return id;
  }

  /** A delivery to a chat. */
  async destination(): Promise<string> {
    const url = `${this.receiver.url}/chat`;
    return (await this.asRecorder("POST", "/_/api/v1/deliveries", { kind: "slack", url })).id;
  }

  /** A finished delivery of a hook or of summaries, which can be resent. */
  async delivery(hookId: string): Promise<string> {
    const { rows } = await this.app.db.pool.query(
      `insert into deliveries (hook_id, event_type, subject_id, recording_id, payload, state, settled_at)
       values ($1, 'recording_added', $2, $2, '{}', 'delivered', now()) returning message_id`,
      [hookId, this.recordingId],
    );
    return rows[0].message_id;
  }

  /** The URL of a calendar that can be read. */
  get calendarUrl(): string {
    this.receiver.at("/calendar.ics", (_request, response) => {
      const event = ["UID:1", "DTSTART:20260101T100000Z", "DURATION:PT1H", `SUMMARY:${marker}`];
      response.end(["BEGIN:VCALENDAR", "BEGIN:VEVENT", ...event, "END:VEVENT", "END:VCALENDAR"].join("\r\n"));
    });
    return `${this.receiver.url}/calendar.ics`;
  }

  /** The URL of a CalDAV account that is itself a calendar. */
  get accountUrl(): string {
    this.receiver.at("/caldav", (_request, response) => {
      response.writeHead(207, { "content-type": "application/xml" });
      response.end(
        '<d:multistatus xmlns:d="DAV:"><d:response><d:href>/caldav</d:href><d:resourcetype><c:calendar xmlns:c="urn:ietf:params:xml:ns:caldav"/></d:resourcetype></d:response></d:multistatus>',
      );
    });
    return `${this.receiver.url}/caldav`;
  }

  /** The only calendar of the recorder, with one event, which overlaps the recording. */
  async calendar(): Promise<string> {
    await sql`delete from calendars where user_id = ${this.users.ids.recorder}`.execute(this.app.db.kysely);
    const { rows } = await sql<{ id: string }>`
      with added as (
        insert into calendars (id, workspace_id, user_id, kind, name, host, secrets, time_zone, next_read_at)
        select gen_random_uuid(), workspace_id, id, 'ics', 'Work', 'calendar.example', '', 'UTC', 'infinity'
        from users where id = ${this.users.ids.recorder} returning id
      ), event as (
        insert into calendar_events (id, calendar_id, key, start_at, end_at, is_all_day, is_private, ical_uid, title)
        select gen_random_uuid(), c.id, gen_random_uuid()::text, r.start_datetime, r.end_datetime, false, false, 'uid',
          ${marker}
        from added c, recordings r where r.id = ${this.recordingId}
      )
      select id from added`.execute(this.app.db.kysely);
    return rows[0]?.id ?? "";
  }

  /** The event of a calendar of the recorder. */
  async meeting(): Promise<string> {
    const { rows } = await sql<{ id: string }>`
      select id from calendar_events where calendar_id = ${await this.calendar()}`.execute(
      this.app.db.kysely,
    );
    return rows[0]?.id ?? "";
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
}

/** Makes worlds, several at a time. */
export function createWorlds(
  app: TestApp,
  users: TestUsers,
  receiver: HookReceiver,
  provider?: TestProvider,
): { unused(): Promise<World> } {
  const made: World[] = [];
  return {
    /** A world whose recording no request has named. */
    async unused() {
      while (made[0]?.isUsed) made.shift();
      if (made[0] !== undefined) return made[0];
      const ids = await insertRecordings(app, users, 20);
      made.push(...ids.map((id) => new World(app, users, { receiver, provider }, id)));
      const [first] = made;
      if (first === undefined) throw new Error("no world was made");
      return first;
    },
  };
}

interface Ids {
  readonly recordingId: string;
  readonly participantId: string;
}

/** Inserts recordings with their participants and shares directly in the database, because hundreds are needed. */
async function insertRecordings(app: TestApp, users: TestUsers, count: number): Promise<Ids[]> {
  const made = Array.from({ length: count }, () => ({
    recordingId: randomUUIDv7(),
    participantId: randomUUIDv7(),
  }));
  const recordingIds = made.map(({ recordingId }) => recordingId);
  const of = sql`unnest(${recordingIds}::uuid[], ${made.map(({ participantId }) => participantId)}::uuid[])
    as made (recording_id, participant_id)`;
  const { ids, participantEmail, teamId, workspaceId } = users;
  await app.db.kysely.transaction().execute(async (tx) => {
    await sql`
      insert into recordings
        (id, workspace_id, title, start_datetime, end_datetime, duration_ms, media_type, source, share_state, external, tags)
      select recording_id, ${workspaceId}, ${marker}, '2026-05-01T10:00:00Z', '2026-05-01T10:01:00Z', 60000, 'transcript',
        'upload', 'restricted', false, '{harbour}' from ${of}`.execute(tx);
    await sql`
      with recorders as (
        insert into recording_recorders (recording_id, user_id, position)
        select recording_id, ${ids.recorder}, 0 from ${of}
      ), participants as (
        insert into participants
          (id, recording_id, workspace_id, position, name, email, scope, confirmed_attendee, attended)
        select participant_id, recording_id, ${workspaceId}, 0, ${marker}, ${participantEmail}, 'internal', true, true
        from ${of}
      ), shares as (
        insert into recording_user_shares (recording_id, user_id)
        select recording_id, user_id from ${of}, unnest(${[ids.viewer, ids.admin]}::uuid[]) as user_id
      )
      insert into recording_teams (recording_id, team_id) select recording_id, ${teamId}::uuid from ${of}`.execute(
      tx,
    );
    await sql`
      insert into transcript_segments (recording_id, position, participant_id, speaker, start_ms, end_ms, text)
      select recording_id, 0, participant_id, ${marker}, 0, 4000, ${`${marker} is said`} from ${of}
      union all
      select recording_id, 1, null, 'Unknown Speaker 1', 5000, 9000, ${`${marker} again`} from ${of}`.execute(
      tx,
    );
    await syncGrants(tx, recordingIds);
  });
  return made;
}
