import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import pg from "pg";
import { APP_ROLE, SUPERUSER } from "./settings.ts";
import { filledStage, postmastersIn, query, stage } from "./test/support.ts";
import type { Connection } from "./types.ts";

const rootOnly = process.getuid?.() === 0 ? {} : { skip: "needs root" };

/** As `cp -a` does, sockets and postmaster.pid included. */
const copy = (from: string, to: string): void => {
  execFileSync("cp", ["-a", from, to]);
};

function asSuperuser(connection: Connection, dataDir: string): Connection {
  const password = readFileSync(join(dataDir, "postgres.password"), "utf8").trim();
  return { ...connection, user: SUPERUSER, password };
}

for (const [what, name] of [
  ["", "data"],
  [" with a path too long for a socket inside", "long-".repeat(30)],
] as const) {
  test(`a data folder${what}, copied while its server runs: server and tool of the copy leave the original alone`, async (t) => {
    const { folder, dataDir, start } = await filledStage(t, name);
    const original = start();
    const { connection, postmaster } = await original.ready();
    await query(connection, "create table kept as select 1 as n");
    await query(asSuperuser(connection, dataDir), "checkpoint");
    const copied = join(folder, `copy-of-${name}`);
    copy(dataDir, copied);

    const tool = start({ dataDir: copied, purpose: "tool" });
    const ofTool = await tool.ready();
    assert.notEqual(ofTool.postmaster, postmaster);
    const other = start({ dataDir: copied });
    const ofOther = await other.ready();
    assert.equal(
      ofOther.postmaster,
      ofTool.postmaster,
      "both servers run, each with a PostgreSQL of its own",
    );
    await query(ofOther.connection, "update kept set n = 2");
    assert.deepEqual(await query(connection, "select n from kept"), [{ n: 1 }]);
    assert.deepEqual(await query(ofOther.connection, "select n from kept"), [{ n: 2 }]);
    await tool.stop();
    await other.stop();
    assert.deepEqual(postmastersIn(dataDir), [postmaster]);
    assert.deepEqual(await query(connection, "select n from kept"), [{ n: 1 }]);

    // The same process numbers and lines again, but no socket of its own to be reached at.
    rmSync(join(copied, "postgres", "socket"), { recursive: true, force: true });
    cpSync(join(dataDir, "postgres", "postmaster.pid"), join(copied, "postgres", "postmaster.pid"));
    const again = start({ dataDir: copied });
    assert.notEqual((await again.ready()).postmaster, postmaster);
    await again.stop();
    await original.stop();
  });
}

test("a renamed data folder keeps its running PostgreSQL", async (t) => {
  const { folder, dataDir, start } = await filledStage(t);
  const first = start();
  const { postmaster } = await first.ready();
  await first.kill("SIGKILL");
  const moved = join(folder, "moved");
  execFileSync("mv", [dataDir, moved]);
  const second = start({ dataDir: moved });
  assert.equal((await second.ready()).postmaster, postmaster);
  await second.stop();
});

test(
  "root, a database in the system folder: a copied pointer is refused, a moved one is followed",
  rootOnly,
  async (t) => {
    const { folder, start } = stage(t);
    const closed = join(folder, "closed");
    mkdirSync(closed, { mode: 0o700 });
    const dataDir = join(closed, "data");
    const first = start({ dataDir });
    await first.ready();
    const copied = join(closed, "copied");
    copy(dataDir, copied);
    const { message } = await start({ dataDir: copied, purpose: "tool" }).failed();
    assert.match(message, /is a copy of .*closed.data without its database/);
    await first.stop();
    execFileSync("mv", [dataDir, join(closed, "moved")]);
    const second = start({ dataDir: join(closed, "moved") });
    await second.ready();
    await second.stop();
  },
);

test("the program connects as an ordinary role that owns its database and may create trusted extensions", async (t) => {
  const { start } = await filledStage(t);
  const server = start();
  const { connection } = await server.ready();
  assert.equal(connection.user, APP_ROLE);
  const [role] = await query(
    connection,
    "select rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls from pg_roles where rolname = current_user",
  );
  assert.deepEqual(Object.values(role ?? {}), [false, false, false, false, false]);
  for (const name of ["pg_trgm", "btree_gin", "unaccent"])
    await query(connection, `create extension ${name}`);
  await assert.rejects(query(connection, "select pg_read_file('PG_VERSION')"), /permission denied/);
  await assert.rejects(query(connection, "copy (select 1) to program 'true'"), /permission denied/);
  await server.stop();
});

test("a database that the superuser filled: everything becomes the ordinary role's, once and whole", async (t) => {
  const { dataDir, start } = await filledStage(t);
  const first = start();
  const superuser = asSuperuser((await first.ready()).connection, dataDir);
  const client = new pg.Client(superuser);
  await client.connect();
  await client.query(`
    alter database parley owner to ${SUPERUSER};
    create extension pg_trgm; create schema "Odd Name";
    create type mood as enum ('good'); create domain positive as int check (value > 0);
    create table "Odd Name"."T" (id int generated always as identity, s serial, m mood, p positive);
    create view seen as select * from "Odd Name"."T"; create materialized view held as select 1 as n;
    create sequence free; create table parted (n int) partition by range (n);
    create function one(int) returns int language sql return $1; create procedure two() language sql begin atomic; end;
    create type pair as (a int, b int); create type span as range (subtype = int);
    create text search configuration plain (copy = simple);`);
  await client.end();
  await first.stop();

  const second = start();
  const { connection } = await second.ready();
  await query(connection, 'insert into "Odd Name"."T" (m, p) values (\'good\', 1)');
  for (const statement of [
    'alter table "Odd Name"."T" add column more int',
    'create or replace view seen as select * from "Odd Name"."T"',
    "refresh materialized view held",
    "alter type mood add value 'bad'",
    "alter sequence free restart",
    "create or replace function one(int) returns int language sql return $1 + 1",
    "drop procedure two()",
    "drop type pair, span",
    "drop text search configuration plain",
    "drop table parted",
    "drop domain positive cascade",
    "create schema another",
    "select similarity('a', 'b')",
  ])
    await query(connection, statement);
  await second.stop();
});
