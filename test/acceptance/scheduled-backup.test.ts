import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import pg from "pg";
import { startMailServer } from "../../server/people/accounts/test/mail.ts";
import { createLibrary, failing } from "../support/library.ts";
import { freePort } from "../support/port.ts";
import { parseScrape } from "../support/prometheus.ts";
import { killAtLine, parley, prepareServer } from "../support/server-process.ts";
import { until } from "../support/until.ts";

const folder = mkdtempSync(join(tmpdir(), "parley-scheduled-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const mail = await startMailServer();
after(() => mail.close());
const destination = join(folder, "backups");
const flipped = join(folder, "flipped");
const metricsPort = await freePort();
const server = await prepareServer({
  env: {
    PARLEY_SMTP_URL: mail.url,
    PARLEY_SMTP_FROM: "parley@harbour.example",
    PARLEY_SWEEP_INTERVAL: "1s",
    PARLEY_METRICS_ADDRESS: String(metricsPort),
  },
});
after(() => server.dispose());
// The first start creates the operator's workspace; then there is another one with an admin.
await server.start();
const library = await createLibrary(server);
await library.uploadMedia();
const other = await parley(server, "workspace", "create", "--name", "Quay");
await parley(
  server,
  "user",
  "create",
  "--email",
  "b@quay.example",
  "--name",
  "B",
  "--role",
  "admin",
  "--workspace",
  other,
);
await server.stop();

const withSchedule = (to: string, more: Record<string, string> = {}) =>
  prepareServer({ shared: server, env: { ...server.env, PARLEY_BACKUP_TO: to, ...more } });

async function query(text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(server.env.PARLEY_DATABASE_URL);
  await client.connect();
  return client
    .query(text)
    .then(({ rows }) => rows)
    .finally(() => client.end());
}

async function statusOf(of: { readonly env: Readonly<Record<string, string>> }): Promise<string> {
  const { components } = JSON.parse(
    await parley(of, "status", "--json").catch(({ stdout }: { stdout: string }) => stdout),
  ) as { components: { component: string; state: string; explanation: string }[] };
  const backups = components.find(({ component }) => component === "backups");
  return `${backups?.state} ${backups?.explanation}`;
}

async function failedKinds(): Promise<string[]> {
  const scrape = parseScrape(await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text());
  return ["backup", "verify"].filter((kind) => scrape.value("parley_backup_failed", { kind }) === 1);
}

/** Waits for the next mail, which only the operator's admin gets. */
async function nextMail(pattern: RegExp): Promise<void> {
  const { text, to } = await until("there is a mail", () => mail.mails.shift());
  assert.match(text, pattern);
  assert.deepEqual(to, ["admin@parley.local"]);
  assert.equal(mail.mails.length, 0);
  await query("update installation set backup_failure_mailed_at = null");
}

test("a scheduled backup that can't begin is a failed one, in log, status, metrics and mail", async () => {
  await parley(
    { env: { ...server.env, PARLEY_BACKUP_PASSPHRASE: "the passphrase of before" } },
    "backup",
    destination,
  );
  const worker = await withSchedule(destination, { PARLEY_BACKUP_PASSPHRASE: "another passphrase" });
  await worker.start();
  await nextMail(/Subject: The scheduled backup failed[\s\S]*PARLEY_BACKUP_PASSPHRASE can't decrypt/);
  assert.match(await statusOf(worker), /^failing .*PARLEY_BACKUP_PASSPHRASE can't decrypt/);
  await until("metrics show it", async () => (await failedKinds()).includes("backup") || undefined);
  assert.match(worker.output().stderr, /the scheduled backup failed; it is tried again in an hour/);

  rmSync(destination, { recursive: true });
  writeFileSync(destination, "");
  await query("delete from backup_runs");
  await nextMail(/ENOTDIR/);
  assert.match(await statusOf(worker), /^failing .*can't be used: ENOTDIR/);
  await worker.stop();
});

const hanging = join(folder, "hanging");
const hangingWorker = await withSchedule(hanging);

/** Starts a worker whose scheduled backup hangs, when no backup has succeeded for days. */
async function startHanging(): Promise<void> {
  await query("delete from backup_runs");
  await query("update schema_migrations set applied_at = now() - interval '3 days'");
  mkdirSync(hanging);
  // Opening a pipe waits for its other end, as a file on a lost network disk would.
  execFileSync("mkfifo", [join(hanging, "installation")]);
  await hangingWorker.start();
}

test("the database of a killed verification is ended and removed, by the next one and by a worker", async () => {
  const root = join(server.env.PARLEY_DATA_DIR ?? "", "verify");
  const leftovers = (): string[] => readdirSync(root).filter((name) => name.startsWith("verify-"));
  const intact = join(folder, "intact");
  await parley(server, "backup", intact);
  let cluster = "";
  /** @returns the process that runs its PostgreSQL. */
  async function killVerification(): Promise<number> {
    const isLoading = (line: string): boolean => line.includes('"phase":"database"');
    assert.ok(await killAtLine(server, ["backup", "verify", intact, "--json"], isLoading));
    const [name = ""] = leftovers();
    // Where another system user runs PostgreSQL and can't reach the folder, the database is elsewhere.
    const location = join(root, name, "postgres.location");
    cluster = existsSync(location) ? readFileSync(location, "utf8").trim() : join(root, name, "postgres");
    const [pid = ""] = readFileSync(join(cluster, "postmaster.pid"), "utf8").split("\n");
    assert.ok(isAlive(Number(pid)));
    return Number(pid);
  }
  const first = await killVerification();
  const left = cluster;
  const second = await killVerification();
  assert.equal(leftovers().length, 1);
  assert.ok(!existsSync(left));
  await until("the first PostgreSQL has ended", () => !isAlive(first) || undefined);
  await startHanging();
  await until("the worker has removed it", () => leftovers().length === 0 || undefined);
  assert.ok(!existsSync(cluster));
  await until("its PostgreSQL has ended", () => !isAlive(second) || undefined);
});

test("a backup that hangs is reported by log and mail once it is overdue", async () => {
  await nextMail(/Subject: Backups are overdue[\s\S]*No backup of .* has succeeded for two days/);
  assert.match(hangingWorker.output().stderr, /backups are overdue/);
  await hangingWorker.stop();
  // PostgreSQL may notice a little later that the session which holds the lock of backups has ended.
  await until("the lock is released", async () => {
    const locks = await query(`select 1 from pg_locks where locktype = 'advisory' and database =
      (select oid from pg_database where datname = current_database())`);
    return locks.length === 0;
  });
});

const worker = await withSchedule(flipped);

test("a failed verification is reported as one, until the newest scheduled backup is verified", async () => {
  await query("delete from backup_runs");
  await parley(server, "backup", flipped);
  const media = readdirSync(flipped, { recursive: true, encoding: "utf8" }).find((name) =>
    name.includes("media.mp3/"),
  );
  const path = join(flipped, media ?? "");
  const flip = (): void => {
    const bytes = readFileSync(path);
    bytes[1000] = (bytes[1000] ?? 0) ^ 1;
    writeFileSync(path, bytes);
  };
  flip();
  await worker.start();
  await nextMail(/Subject: The verification of the backup failed[\s\S]*media\.mp3/);
  assert.match(
    worker.output().stderr,
    /the verification of the backup failed; the next scheduled backup is verified again/,
  );
  assert.match(await statusOf(worker), /^failing .*media\.mp3/);
  await until("metrics show it", async () => (await failedKinds()).join() === "verify" || undefined);
  assert.match(await failing(worker, "backup", "verify", flipped), /media\.mp3/);
  flip();
  // Neither another destination nor an older backup shows that the scheduled one is intact.
  const elsewhere = join(folder, "elsewhere");
  const [older = ""] = readdirSync(join(flipped, "backups"));
  await parley(worker, "backup", flipped);
  await parley(worker, "backup", elsewhere);
  await parley(worker, "backup", "verify", elsewhere);
  await parley(worker, "backup", "verify", flipped, "--at", older);
  assert.match(await statusOf(worker), /^failing .*media\.mp3/);
  await parley(worker, "backup", "verify", `${flipped}/`);
  assert.match(await statusOf(worker), /^ok /);
  await until("metrics show it", async () => (await failedKinds()).length === 0 || undefined);
  // A later failure counts too, also one before anything is compared.
  const newest = newestOf(flipped);
  const manifest = readdirSync(newest).find((name) => name.startsWith("manifest.")) ?? "";
  writeFileSync(join(newest, manifest), "{}");
  await failing(worker, "backup", "verify", flipped);
  assert.match(await statusOf(worker), /^failing /);
});

function newestOf(destination: string): string {
  return join(destination, "backups", readdirSync(join(destination, "backups")).sort().at(-1) ?? "");
}

test("old backups that can't be removed are reported, and the new one is verified all the same", async () => {
  // Of another day than the new one, so that the rule would keep it.
  renameSync(newestOf(flipped), join(flipped, "backups", "2026-01-05T030000Z"));
  await query("delete from backup_runs");
  await nextMail(/Subject: Old backups could not be removed[\s\S]*manifest\./);
  const verified = await query("select 1 from backup_runs where kind = 'verify' and state = 'succeeded'");
  assert.equal(verified.length, 1);
  await worker.stop();
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
