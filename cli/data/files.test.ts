import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import pg from "pg";
import { failing } from "../../test/support/library.ts";
import { parley, prepareServer, runParley } from "../../test/support/server-process.ts";

// Never started: the command line works without a running server.
const server = await prepareServer();
after(() => server.dispose());
const objects = join(server.env.PARLEY_DATA_DIR ?? "", "objects");

/** Runs `parley files adopt`; returns its standard error and whether it succeeded. */
async function adopt(...options: string[]): Promise<{ stderr: string; isDone: boolean }> {
  const { stdout, stderr, code } = await runParley(server, "files", "adopt", ...options);
  assert.equal(stdout, "");
  return { stderr: stderr.trim(), isDone: code === 0 };
}

const readMarker = () => JSON.parse(readFileSync(join(objects, "parley", "database"), "utf8"));

test("files adopt marks a store without unknown objects, and requires --yes to delete unknown ones", async () => {
  const first = await adopt();
  assert.deepEqual(first, { isDone: true, stderr: "the store belongs to this database now" });
  assert.match(readMarker().installation, /^[0-9a-f-]{36}$/);

  // The marker of another installation.
  writeFileSync(join(objects, "parley", "database"), JSON.stringify({ installation: "another", high: 5 }));
  const recording = join(objects, "recordings", "0190c8f0-0000-7000-8000-000000000001");
  mkdirSync(recording, { recursive: true });
  for (const name of ["media.mp4", "thumbnail.jpg"]) writeFileSync(join(recording, name), "a file");
  const refused = await adopt();
  assert.equal(refused.isDone, false);
  assert.match(
    refused.stderr,
    /the store has 2 objects unknown to this database.*next sweep.*deletes.*--yes$/,
  );
  assert.equal(refused.stderr.split("\n").length, 1, refused.stderr);
  assert.equal(readMarker().installation, "another");

  const confirmed = await adopt("--yes");
  assert.equal(confirmed.isDone, true);
  assert.match(confirmed.stderr, /this database now; the next sweep deletes 2 objects/);
  assert.notEqual(readMarker().installation, "another");
});

test("files verify reports an empty store as intact, and a damaged file with exit code 1", async () => {
  const run = (...options: string[]) => parley(server, "files", "verify", ...options);
  assert.deepEqual(JSON.parse(await run("--json")), { checked: 0, bytes: 0, damaged: [] });
  const repaired = JSON.parse(await run("--repair", "--json"));
  assert.deepEqual(repaired, { checked: 0, bytes: 0, damaged: [], created: [], failed: [] });
  const client = new pg.Client({ connectionString: server.env.PARLEY_DATABASE_URL });
  await client.connect();
  const workspace = await parley(server, "workspace", "create", "--name", "Files");
  const { rows } = await client.query(
    `insert into recordings (id, workspace_id, title, start_datetime, end_datetime, duration_ms, media_type, source, share_state,
       external)
     values (gen_random_uuid(), $1, 'R', now(), now(), 0, 'audio', 'upload', 'restricted', false) returning id`,
    [workspace],
  );
  await client.query(
    "insert into stored_files (key, recording_id, workspace_id, bytes, sha256) values ($1, $2, $3, 1, sha256('x'))",
    [`recordings/${rows[0].id}/media.mp3`, rows[0].id, workspace],
  );
  await client.end();
  const { code, stdout } = await runParley(server, "files", "verify");
  assert.deepEqual([code, stdout], [1, `recordings/${rows[0].id}/media.mp3: it is not in the store\n`]);
});

test("commands that use the store refuse one of another database and don't touch its secret", async () => {
  const own = readFileSync(join(objects, "parley", "database"));
  writeFileSync(join(objects, "parley", "database"), JSON.stringify({ installation: "another", high: 5 }));
  try {
    for (const command of [
      ["secret", "accept", "--yes"],
      ["demo"],
      ["audit", "verify"],
      ["files", "verify"],
    ]) {
      const stderr = await failing(server, ...command);
      assert.match(stderr, /^parley: the local file store .* belongs to another database/, command.join(" "));
      assert.equal(stderr.trim().split("\n").length, 1, stderr);
    }
    assert.equal(existsSync(join(objects, "parley", "secret")), false);
  } finally {
    writeFileSync(join(objects, "parley", "database"), own);
  }
});
