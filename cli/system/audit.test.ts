import assert from "node:assert/strict";
import { after, test } from "node:test";
import pg from "pg";
import { parley, prepareServer, runParley } from "../../test/support/server-process.ts";
import { until } from "../../test/support/until.ts";

const server = await prepareServer({ env: { PARLEY_SWEEP_INTERVAL: "1s" } });
await server.start();
after(() => server.dispose());
const workspace = await withClient(async (client) => {
  const { rows } = await client.query<{ id: string }>("select id from workspaces");
  return rows[0]?.id ?? "";
});

async function withClient<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: server.env.PARLEY_DATABASE_URL });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Runs a command that may fail. */
const run = (...args: string[]) => runParley(server, "audit", ...args);

const write = (count: number) =>
  withClient((client) =>
    client.query(
      "insert into audit_log (workspace_id, action, ip) select $1, 'signed_in', '192.0.2.1' from generate_series(1, $2)",
      [workspace, count],
    ),
  );

const tamper = (text: string) =>
  withClient(async (client) => {
    await client.query("set session_replication_role = replica");
    const { rowCount } = await client.query(text);
    assert.ok(rowCount, text);
  });

test("verify prints the last hash of each log while the server runs; --expect finds that hash later", async () => {
  await write(3000);
  // Sealing takes a second or two beside the server's other work.
  const [id, hash = ""] = await until("the whole log is sealed", async () => {
    const { code, stdout, stderr } = await run("verify");
    assert.equal(code, 0, stderr);
    const [id, position, hash = ""] = stdout.trim().split(" ");
    return Number(position) >= 3000 ? [id, hash] : undefined;
  });
  assert.equal(id, workspace);
  await write(5);
  assert.equal((await run("verify", "--expect", hash, "--workspace", workspace)).code, 0);
  const missing = await run("verify", "--expect", "ab".repeat(32));
  assert.equal(missing.code, 1);
  assert.match(missing.stderr, /no entry has the hash abab/);
  const json = JSON.parse((await run("verify", "--json")).stdout);
  assert.deepEqual([json.workspace_id, json.broken], [workspace, null]);
});

test("export prints the log and records itself in it", async () => {
  const lines = (
    await parley(server, "audit", "export", "--workspace", workspace, "--format", "jsonl")
  ).split("\n");
  assert.ok(lines.length > 3000);
  assert.equal(JSON.parse(lines[0] ?? "").position, 1);
  const csv = await parley(server, "audit", "export", "--workspace", workspace);
  assert.match(csv, /,audit_log_exported,/);
  const { code, stderr } = await run("export", "--workspace", "nothing");
  assert.deepEqual(
    [code, stderr.trim()],
    [1, "parley: workspace nothing does not exist; see parley workspace list"],
  );
});

test("verify exits with 1 and names the first broken entry", async () => {
  await tamper("update audit_log set ip = '192.0.2.9' where position = 1234");
  const { code, stdout, stderr } = await run("verify");
  assert.equal(code, 1);
  assert.match(
    stderr,
    new RegExp(
      `^parley: workspace ${workspace}: broken at entry 1234: this entry or the one before it was changed`,
    ),
  );
  assert.match(stdout, new RegExp(`^${workspace} 1233 [0-9a-f]{64}\n$`));
  await tamper("update audit_log set ip = '192.0.2.1' where position = 1234");
  assert.equal((await run("verify")).code, 0);
});

test("verify detects a truncated log by the anchor in the object store until the log is accepted", async () => {
  await until("the anchor covers the whole log", () =>
    withClient(async (client) => {
      const { rows } = await client.query(
        "select 1 from audit_chains where anchored_position = head_position",
      );
      return rows.length === 1;
    }),
  );
  await tamper("delete from audit_log where position > 2000");
  await tamper(
    "update audit_chains c set head_position = 2000, anchored_position = 0, head_hash = l.hash from audit_log l where l.position = 2000",
  );
  const cut = await run("verify");
  assert.equal(cut.code, 1);
  assert.match(
    cut.stderr,
    /broken at entry 2001: the end is missing: the anchor in the object store counts \d+ entries/,
  );
  await until("the server logs a warning", () => server.output().stderr.includes("parley audit verify"));
  assert.equal((await run("accept", "--workspace", workspace)).code, 0);
  assert.equal((await run("verify")).code, 0);
});
