import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import pg from "pg";
import { parley, prepareServer, type ServerProcess } from "../../support/server-process.ts";
import { until } from "../../support/until.ts";

/** Ids of existing objects. */
export interface Ids {
  readonly users: readonly string[];
  readonly teams: readonly string[];
  readonly recordings: readonly string[];
  /** Staged uploads, which can be updated. */
  readonly stagedUploads: readonly string[];
  readonly highlight: string;
  readonly story: string;
  readonly hook: string;
}

/** A running server with some data. */
export interface World {
  readonly server: ServerProcess;
  readonly port: number;
  readonly db: pg.Pool;
  readonly tokens: { readonly admin: string; readonly member: string; readonly workspace: string };
  readonly ids: Ids;
  /** Valid cursors. */
  readonly cursors: { readonly recordings: string; readonly uploads: string };
  /** Sends a request with the admin's token that must succeed. */
  call(method: string, path: string, body?: unknown): Promise<{ readonly text: string; json(): unknown }>;
  dispose(): Promise<void>;
}

// biome-ignore lint/suspicious/noExplicitAny: set-up reads a few fields of responses that other tests check.
type AnyJson = any;

/** Starts a server with three tokens, a team, six recordings and a dozen staged uploads. */
export async function createWorld(): Promise<World> {
  // Small pages, so that lists return cursors.
  const server = await prepareServer({ env: { PARLEY_PAGE_SIZE: "3" } });
  await server.start();
  const admin = "admin@parley.local";
  const member = "member@parley.local";
  // One after another, in one process.
  await parley(server, "user", "create", "--email", member, "--name", "Member");
  const team = await parley(server, "team", "create", "--name", "Crew", "--member", admin);
  const adminToken = await parley(server, "token", "create", "--email", admin);
  const workspaceToken = await parley(server, "token", "create", "--email", admin, "--workspace");
  const memberToken = await parley(server, "token", "create", "--email", member);

  const call: World["call"] = async (method, path, body) => {
    const url = path.startsWith("/_/") ? path : `/_/public-api/v2${path}`;
    const response = await fetch(server.url + url, {
      method,
      headers: { authorization: `Bearer ${adminToken}`, "public-api-version": "2026-10-01" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    assert.equal(response.status, 200, `${method} ${path}: ${text.slice(0, 1000)}`);
    return { text, json: () => JSON.parse(text) };
  };
  const post = async (path: string, body: unknown): Promise<AnyJson> =>
    (await call("POST", path, body)).json();

  const segments = [
    { speaker_key: "s1", start: 0, end: 4000, text: "Good morning." },
    { speaker_key: "s2", start: 4200, end: 9000, text: "Shall we?" },
  ];
  const create = async (title: string, autoPromote: boolean): Promise<string> => {
    const attributes = { title, transcript: { language: "en", segments } };
    return (
      await post("/uploads/create", { media_type: "transcript", auto_promote: autoPromote, attributes })
    ).id;
  };
  const numbers = Array.from({ length: 12 }, (_, n) => n);
  const stagedUploads = await Promise.all(numbers.map((n) => create(`Waiting ${n}`, false)));
  const promoted = await Promise.all(numbers.slice(6).map((n) => create(`Harbour ${n}`, true)));
  const recordings = await Promise.all(
    promoted.map((id) =>
      until(
        `upload ${id} is promoted`,
        async () => (await post(`/uploads/${id}`, {})).recording_id ?? undefined,
      ),
    ),
  );
  const users: AnyJson = await post("/users", {});
  const db = new pg.Pool({ connectionString: server.env.PARLEY_DATABASE_URL ?? "", max: 2 });
  const highlight = await post(`/_/api/v1/recordings/${recordings[0]}/highlights`, {
    text: "The price",
    timestamp: 0,
    duration: 4000,
  });
  const story = await post("/_/api/v1/stories", { title: "Prices", highlight_ids: [highlight.id] });
  // Inserted directly, because the API's reachability test would leave the machine. No event of its type happens here.
  const hook = await db.query<{ id: string }>(
    `insert into hooks (id, workspace_id, created_by, scope, version, hook_url, hook_type, include, secret)
     select gen_random_uuid(), workspace_id, id, 'workspace', '2026-10-01', 'https://127.0.0.1:9/', 'recording_deleted',
       '{}', 'unreadable' from users where email_key = $1 returning id`,
    [admin],
  );
  return {
    server,
    port: Number(new URL(server.url).port),
    db,
    tokens: { admin: adminToken, member: memberToken, workspace: workspaceToken },
    ids: {
      users: users.users.map((user: AnyJson) => user.id),
      teams: [team],
      recordings,
      stagedUploads,
      highlight: highlight.id,
      story: story.id,
      hook: hook.rows[0]?.id ?? "",
    },
    cursors: {
      recordings: (await post("/recordings", {})).cursor,
      uploads: (await post("/uploads", {})).cursor,
    },
    call,
    async dispose() {
      await db.end();
      await server.dispose();
    },
  };
}

/** The process id of the child that runs `serve`; null without /proc. */
export function serverPid(): number | null {
  if (process.platform !== "linux") return null;
  const children = readdirSync("/proc/self/task").flatMap((task) =>
    readFileSync(`/proc/self/task/${task}/children`, "utf8").trim().split(" "),
  );
  const pids = children
    .filter((pid) => pid !== "" && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("\0serve\0"))
    .map(Number);
  assert.equal(pids.length, 1, "more than one server is running");
  return pids[0] ?? null;
}

/** Current and peak memory of a process in megabytes. */
export function memoryOf(pid: number): { readonly now: number; readonly peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const read = (name: string): number =>
    Math.round(Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) / 1024);
  return { now: read("VmRSS"), peak: read("VmHWM") };
}
