import type { VersionName } from "../../../../contract/versions.ts";
import type { HookType } from "../../../../contract/webhooks/hook-types.ts";
import { call, olderVersion, startTestApp, type TestAppOptions } from "../../../../test/support/app.ts";
import {
  insertHook,
  makeWorkspace,
  type TestUser,
  type TestWorkspace,
  unknownId,
} from "../../../../test/support/factories.ts";
import { type NewEvent, recordEvent } from "../../../people/events/record-event.ts";
import { fanOut } from "../deliveries/fan-out.ts";
import { newSecret } from "../transport/signing.ts";

/** A server with two workspaces, and helpers for tests of the log, of replays and of the feed. */
export async function startManagement(options: TestAppOptions) {
  const app = await startTestApp(options);
  const { db } = app;
  const workspace = await makeWorkspace(db);
  const stranger = await makeWorkspace(db);

  /** A hook as Create Hook creates it, older than every event of the tests. */
  async function makeHook(
    options: {
      readonly scope?: "personal" | "workspace";
      readonly owner?: TestUser;
      readonly of?: TestWorkspace;
      readonly type?: HookType;
      readonly url?: string;
      readonly insertedAt?: Date;
      readonly version?: VersionName;
    } = {},
  ): Promise<{ readonly id: string; readonly secret: string }> {
    const { id, signingSecret: secret } = await insertHook(app, {
      created_by: (options.owner ?? (options.of ?? workspace).admin).id,
      scope: options.scope ?? "workspace",
      version: options.version ?? olderVersion,
      hook_url: options.url ?? "http://hooks.example/in",
      hook_type: options.type ?? "recording_deleted",
      signingSecret: newSecret(),
      ...(options.insertedAt === undefined ? {} : { inserted_at: options.insertedAt }),
    });
    return { id, secret };
  }

  /** Records an event and creates its deliveries. @returns its subject. */
  async function happen(event: Partial<NewEvent> = {}): Promise<string> {
    const subjectId = event.subjectId ?? unknownId();
    await db.kysely.transaction().execute((tx) =>
      recordEvent(tx, {
        workspaceId: workspace.id,
        type: "recording_deleted",
        audience: [],
        data: { id: subjectId },
        ...event,
        subjectId,
      }),
    );
    await fanOut(db);
    return subjectId;
  }

  async function deliveriesOf(hookId: string) {
    const { rows } = await db.pool.query("select * from deliveries where hook_id = $1 order by id", [hookId]);
    return rows;
  }

  /** As if a worker had tried the deliveries of these subjects and saved this state. */
  async function saveState(state: string, subjectIds: readonly string[], attempts = 1): Promise<void> {
    await db.pool.query(
      `update deliveries set state = $1, attempts = $2, payload = '{"old":true}',
         settled_at = case when $1 = 'pending' then null else now() end
       where subject_id = any($3::uuid[])`,
      [state, attempts, subjectIds],
    );
    await db.pool.query(
      `insert into delivery_attempts (delivery_id, attempt, started_at, duration_ms, status, error, response, request_headers)
       select id, n, now() + n * interval '1 ms', 12, case when $1 = 'delivered' then 200 else 500 end,
         case when $1 = 'delivered' then null else 'the response was 500' end, 'words',
         json_build_object('webhook-id', message_id, 'webhook-signature', 'v1,' || n)
       from deliveries, generate_series(1, $2::integer) n where subject_id = any($3::uuid[])`,
      [state, attempts, subjectIds],
    );
  }

  async function hookRow(hookId: string) {
    return (await db.pool.query("select * from hooks where id = $1", [hookId])).rows[0];
  }

  /** Clears the hook's next due time. */
  async function calm(hookId: string): Promise<void> {
    await db.pool.query("update hooks set next_due_at = null where id = $1", [hookId]);
  }

  function get(path: string, token = workspace.token) {
    return call(app, "GET", `/_/api/v1${path}`, undefined, { token, version: null });
  }

  function post(path: string, body: unknown = undefined, token = workspace.token) {
    return call(app, "POST", `/_/api/v1${path}`, body, { token, version: null });
  }

  return {
    app,
    db,
    workspace,
    stranger,
    makeHook,
    happen,
    deliveriesOf,
    saveState,
    hookRow,
    calm,
    get,
    post,
  };
}
