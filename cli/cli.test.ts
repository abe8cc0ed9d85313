import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import pg from "pg";
import { bundledPackages } from "../server/platform/module-loading.ts";
import { refused } from "../test/support/library.ts";
import { parley, prepareServer } from "../test/support/server-process.ts";

// Never started: the command line works without a running server.
const server = await prepareServer({ hasAccount: false });
const { env } = server;
after(() => server.dispose());
const main = fileURLToPath(new URL("./main.ts", import.meta.url));
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const fails = (...args: string[]): Promise<string> => refused(server, ...args);

async function withClient<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: env.PARLEY_DATABASE_URL });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

test("user create without a workspace says how to create one", async () => {
  assert.match(
    await fails("user", "create", "--email", "a@a.example", "--name", "A"),
    /parley workspace create/,
  );
});

test("a misspelled setting is named by every command, and has no effect on its result", async () => {
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    [main, "workspace", "list", "--json"],
    { env: { ...process.env, ...env, PARLEY_PROT: "1" } },
  );
  assert.equal(
    stderr,
    "parley: PARLEY_PROT (did you mean PARLEY_PORT?) is not a setting of Parley and has no effect; correct or remove it\n",
  );
  assert.doesNotMatch(stdout, /PARLEY_PROT/);
});

test("a command loads each of the packages with hundreds of modules from one file", async () => {
  const probe =
    "process.on('exit', () => process.stdout.write(['kysely', 'zod'].map((name) => import.meta.resolve(name)).join(' ')))";
  const file = join(env.PARLEY_DATA_DIR ?? "", "probe.mjs");
  await writeFile(file, probe);
  const { stdout } = await promisify(execFile)(process.execPath, ["--import", file, main, "--help"]);
  assert.deepEqual(
    stdout.trimEnd().split("\n").at(-1)?.split(" "),
    bundledPackages().map(({ file }) => pathToFileURL(file).href),
  );
});

test("workspace, user, team and token print only the value on standard output", async () => {
  const workspace = await parley(
    server,
    "workspace",
    "create",
    "--name",
    "Cli",
    "--email-domain",
    "Cli.Example",
    "--email-domain",
    "@two.example",
  );
  assert.match(workspace, uuid);
  const user = await parley(
    server,
    "user",
    "create",
    "--email",
    "a@cli.example",
    "--name",
    "A",
    "--role",
    "admin",
  );
  assert.match(user, uuid);
  assert.match(
    await parley(
      server,
      "user",
      "create",
      "--email",
      "b@cli.example",
      "--name",
      "B",
      "--workspace",
      workspace,
    ),
    uuid,
  );
  assert.match(
    await parley(
      server,
      "team",
      "create",
      "--name",
      "T",
      "--member",
      "a@cli.example",
      "--member",
      "B@cli.example",
    ),
    uuid,
  );
  const token = await parley(
    server,
    "token",
    "create",
    "--email",
    "A@cli.example",
    "--workspace",
    "--expires-in",
    "30d",
  );
  assert.match(token, /^parley_wat_[\w-]{43}$/);
  assert.match(await parley(server, "token", "create", "--email", "b@cli.example"), /^parley_pat_[\w-]{43}$/);
  await withClient(async (client) => {
    const { rows } = await client.query("select email_domains from workspaces where id = $1", [workspace]);
    assert.deepEqual(rows[0].email_domains, ["cli.example", "two.example"]);
    const members = await client.query("select count(*)::int as count from team_members");
    assert.equal(members.rows[0].count, 2);
    // The database contains only the token's hash.
    const tokens = await client.query(
      "select t::text as text, expires_at from access_tokens t where type = 'workspace_access_token'",
    );
    assert.equal(tokens.rows[0].text.includes(token.slice(11)), false);
    const days = (tokens.rows[0].expires_at.getTime() - Date.now()) / 86_400_000;
    assert.ok(days > 29.9 && days < 30.1);
  });
});

test("--json prints an object", async () => {
  const printed = JSON.parse(await parley(server, "token", "create", "--email", "b@cli.example", "--json"));
  assert.match(printed.token, /^parley_pat_/);
  assert.match(printed.id, uuid);
  assert.equal(printed.expires_at, null);
});

test("--password-stdin is stored only as an argon2id hash", async () => {
  const child = spawn(
    process.execPath,
    [main, "user", "create", "--email", "p@cli.example", "--name", "P", "--password-stdin"],
    {
      env: { ...process.env, ...env },
      stdio: ["pipe", "ignore", "inherit"],
    },
  );
  child.stdin.end("correct horse battery\n");
  assert.equal(await new Promise((resolve) => child.once("exit", resolve)), 0);
  await withClient(async (client) => {
    const { rows } = await client.query("select password_hash from users where email = 'p@cli.example'");
    assert.match(rows[0].password_hash, /^\$argon2id\$v=19\$m=65536,t=3,p=4\$[\w+/]{22}\$[\w+/]{43}$/);
  });
});

test("errors are one line with the reason", async () => {
  for (const [args, reason] of [
    [
      ["user", "create", "--email", "a@CLI.example", "--name", "A"],
      /a user with the email .* already exists/,
    ],
    [["user", "create", "--email", "nobody", "--name", "A"], /is not an email address/],
    [["user", "create", "--email", "c@c.example", "--name", " "], /needs a name/],
    [
      ["user", "create", "--email", "c@c.example", "--name", "C", "--workspace", "x"],
      /there is no workspace x/,
    ],
    [["team", "create", "--name", "T"], /a team named T already exists/],
    [
      ["team", "create", "--name", "U", "--member", "nobody@x.example"],
      /no user with the email nobody@x.example/,
    ],
    [["token", "create", "--email", "nobody@x.example"], /no user with the email/],
    [["token", "create", "--email", "b@cli.example", "--workspace"], /only admins/],
    [["workspace", "create", "--name", "W", "--email-domain", "not a domain"], /is not an email domain/],
  ] as const) {
    const stderr = await fails(...args);
    assert.match(stderr, reason);
    assert.equal(stderr.split("\n").length, 1, stderr);
  }
  await withClient(async (client) => {
    assert.equal((await client.query("select 1 from teams where name = 'U'")).rows.length, 0);
    assert.equal((await client.query("select 1 from workspaces where name = 'W'")).rows.length, 0);
  });
});

test("with several workspaces, --workspace is required", async () => {
  await parley(server, "workspace", "create", "--name", "Another");
  assert.match(await fails("team", "create", "--name", "X"), /several workspaces.*--workspace/);
});

test("errors name missing and invalid options", async () => {
  assert.match(await fails("user", "create", "--name", "A"), /--email/);
  assert.match(
    await fails("user", "create", "--email", "a@b.c", "--name", "A", "--role", "king"),
    /admin, member/,
  );
  assert.match(await fails("token", "create", "--email", "a@b.c", "--expires-in", "soon"), /duration/);
  assert.match(await fails("dance"), /unknown command/);
});

test("a reader that closes the pipe ends no command with an error", async () => {
  const workspace = await parley(server, "workspace", "create", "--name", "Piped");
  for (const args of [
    ["--help"],
    ["status"],
    ["doctor"],
    ["jobs", "list", "--json"],
    ["workspace", "create", "--name", "Another"],
    ["audit", "export", "--workspace", workspace],
    ["backup", join(server.env.PARLEY_DATA_DIR ?? "", "backups"), "--json"],
  ]) {
    const child = spawn(process.execPath, [main, ...args], {
      env: { ...process.env, ...server.env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    child.stdout.destroy();
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
    assert.doesNotMatch(stderr, /EPIPE| at /, args.join(" "));
    // Something of this server may be failing.
    if (args[0] !== "status" && args[0] !== "doctor") assert.equal(code, 0, args.join(" "));
  }
});

test("import ends with what was read and what was not, and fails if a row can't be imported", async () => {
  const workspace = await parley(
    server,
    "workspace",
    "create",
    "--name",
    "Lists",
    "--email-domain",
    "l.example",
  );
  const user = ["--name", "A", "--role", "admin", "--workspace", workspace];
  await parley(server, "user", "create", "--email", "a@l.example", ...user);
  const list = join(server.env.PARLEY_DATA_DIR ?? "", "list.csv");
  const rows = "title;start;place\nA;2026-03-04 10:15;x\nB;03/04/2026 10:15;x\n";
  await writeFile(list, Buffer.from(`\ufeff${rows}`, "utf16le"));
  for (const options of [["--dry-run"], []]) {
    const args = [main, "import", list, "--from", "csv", "--workspace", workspace, ...options];
    const failure: { code: number; stdout: string; stderr: string } = await promisify(execFile)(
      process.execPath,
      args,
      { env: { ...process.env, ...env, TZ: "Europe/Berlin" } },
    ).then(
      () => assert.fail("it should have failed"),
      (error) => error,
    );
    assert.equal(failure.code, 1);
    assert.match(failure.stdout, /^B .*\tnot imported: the start "03\/04\/2026 10:15" can be .*write it as/);
    assert.deepEqual(failure.stderr.trimEnd().split("\n"), [
      "note: times without a zone are read in Europe/Berlin; set TZ if they are of another zone",
      "note: columns that are not used: place",
      options.length > 0
        ? "found 2 recordings (0 video, 0 audio, 2 transcript), 0 of them imported already, 1 can't be imported"
        : "found 2 recordings (0 video, 0 audio, 2 transcript): 1 imported, 0 were imported before, 1 not imported",
    ]);
  }
  await writeFile(list, "title;start\n");
  assert.match(await fails("import", list, "--from", "csv", "--workspace", workspace), /has no rows/);
});
