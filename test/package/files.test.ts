import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { BlockList } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { readConfig, unknownSettings } from "../../server/platform/config/config.ts";
import { skipWithout } from "../support/programs.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (name: string): string => readFileSync(join(root, name), "utf8");

/** The instructions of the Dockerfile. */
const dockerfile = read("Dockerfile")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => {
    const [name = "", ...rest] = line.split(" ");
    return { name, value: rest.join(" ") };
  });
const values = (name: string): string[] =>
  dockerfile.filter((one) => one.name === name).map(({ value }) => value);

/** Fails for a setting that does not exist or has an invalid value. */
function assertSettings(env: Readonly<Record<string, string>>): void {
  assert.deepEqual(unknownSettings(env), []);
  assert.equal(typeof readConfig(env, "/app").host, "string");
}

interface Service {
  readonly image?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly deploy?: { readonly replicas: number };
  readonly volumes?: readonly string[];
  readonly depends_on?: Readonly<Record<string, unknown>> | readonly string[];
  readonly command?: string;
  readonly networks?: Readonly<Record<string, { readonly ipv4_address?: string }>>;
}

interface Network {
  readonly ipam: { readonly config: readonly { readonly subnet: string; readonly ip_range?: string }[] };
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, null>>;
  readonly networks?: Readonly<Record<string, Network>>;
}

/** A compose file with values for its variables. */
function readCompose(name: string): Compose {
  const text = read(name).replace(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_all, variable, kind, given) =>
    kind === "-" ? given : ({ DOMAIN: "parley.example.com" }[variable as string] ?? "password1"),
  );
  return parse(text, { merge: true });
}

test("Dockerfile: every instruction is known, settings are valid, and the image runs as a user without root", () => {
  const known = "FROM WORKDIR COPY RUN ENV USER VOLUME EXPOSE HEALTHCHECK ENTRYPOINT CMD".split(" ");
  for (const { name } of dockerfile) assert.ok(known.includes(name), name);
  const stages = values("FROM").map((value) => value.split(" AS ")[1]);
  for (const value of values("COPY")) {
    const [stage] = /(?<=--from=)\S+/.exec(value) ?? [];
    if (stage !== undefined) assert.ok(stages.includes(stage), value);
    else for (const source of value.split(" ").slice(0, -1)) assert.ok(existsSync(join(root, source)), value);
  }
  assertSettings(Object.fromEntries(values("ENV").map((value) => value.split("="))));
  assert.deepEqual(values("USER"), ["parley"]);
  assert.deepEqual(values("VOLUME"), ["/data"]);
  assert.match(values("HEALTHCHECK")[0] ?? "", /\/readyz/);
  for (const name of ["ENTRYPOINT", "CMD"]) assert.ok(Array.isArray(JSON.parse(values(name)[0] ?? "")), name);
});

test(".dockerignore: leaves what the program runs, and excludes everything else", () => {
  const lines = read(".dockerignore").split("\n");
  const kept = lines.filter((line) => line.startsWith("!")).map((line) => line.slice(1));
  for (const name of kept) assert.ok(existsSync(join(root, name)), name);
  const folders = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  // Which the build of the web app reads.
  assert.ok(kept.includes("lingui.config.ts"));
  const notNeeded = /^(?:\..*|bench|data|deploy|docs|node_modules|packages|test)$/;
  for (const { name } of folders) assert.equal(kept.includes(name), !notNeeded.test(name), name);
});

for (const [name, services] of [
  ["compose.yaml", ["parley"]],
  ["compose.scale.yaml", ["api", "worker"]],
] as const)
  test(`${name}: settings are valid, volumes exist, and Parley runs on a read-only root without capabilities`, () => {
    const compose = readCompose(name);
    const ours = Object.entries(compose.services).filter(([, { image }]) => image === "parley");
    assert.deepEqual(ours.map(([service]) => service).sort(), services);
    for (const [, service] of ours) {
      assert.equal(service.read_only, true);
      assert.deepEqual(service.cap_drop, ["ALL"]);
      assertSettings(service.environment ?? {});
      if (services.length > 1) assert.equal(service.deploy?.replicas, 2);
    }
    for (const { volumes = [], depends_on = [] } of Object.values(compose.services)) {
      for (const volume of volumes) assert.ok((volume.split(":")[0] ?? "") in compose.volumes, volume);
      const needed = Array.isArray(depends_on) ? depends_on : Object.keys(depends_on);
      for (const service of needed) assert.ok(service in compose.services, service);
    }
  });

test("compose.scale.yaml: no other container can get the proxy's IP address, which the API processes trust", () => {
  const { services, networks } = readCompose("compose.scale.yaml");
  const [config] = networks?.default?.ipam.config ?? [];
  const proxy = services.proxy?.networks?.default?.ipv4_address ?? "";
  const isIn = (range = ""): boolean => {
    const list = new BlockList();
    const [ip = "", bits] = range.split("/");
    list.addSubnet(ip, Number(bits));
    return list.check(proxy);
  };
  assert.equal(services.api?.environment?.PARLEY_TRUSTED_PROXIES, proxy);
  assert.equal(isIn(config?.subnet), true);
  assert.equal(isIn(config?.ip_range ?? config?.subnet), false);
});

test("compose.scale.yaml: the database accepts the connections of as many processes as its first lines recommend", () => {
  const [, api, worker] = /--scale api=(\d+) --scale worker=(\d+)/.exec(read("compose.scale.yaml")) ?? [];
  const [, max] =
    /max_connections=(\d+)/.exec(readCompose("compose.scale.yaml").services.database?.command ?? "") ?? [];
  // The pool of 16, up to two for metrics, and one each to show that it runs and to be notified of work.
  const needed = (Number(api) + Number(worker)) * 20;
  assert.ok(needed < Number(max), `${needed} of ${max}`);
});

test("parley.service: settings are valid, and the program that it starts exists", () => {
  const lines = read("deploy/parley.service")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#") && !line.startsWith("["));
  for (const line of lines) assert.match(line, /^[A-Z]\w+=/);
  const all = (key: string): string[] =>
    lines.filter((line) => line.startsWith(`${key}=`)).map((line) => line.slice(key.length + 1));
  assertSettings(Object.fromEntries(all("Environment").map((value) => value.split("="))));
  assert.match(
    all("ExecStart")[0] ?? "",
    /^\/opt\/parley\/node_modules\/node\/bin\/node cli\/main\.ts serve$/,
  );
  assert.deepEqual(all("KillMode"), ["mixed"]);
});

test("the documented folder of backups is writable for the unit and mounted into the container", () => {
  const docs = read("docs/operations/install.md");
  const [, destination = ""] = /PARLEY_BACKUP_TO=(\/\S+)/.exec(read("docs/operations/backup.md")) ?? [];
  const [, section = ""] = /\n## systemd\n(.*?)\n## /s.exec(docs) ?? [];
  for (const line of [`ReadWritePaths=${destination}`, `RequiresMountsFor=${destination}`])
    assert.ok(section.includes(`   ${line}\n`), line);
  const [, lines = ""] = /\n## Containers\n.*?```yaml\n(.*?)```/s.exec(docs) ?? [];
  const { environment, volumes } = parse(lines);
  const mounted = `${destination}:${environment.PARLEY_BACKUP_TO}`;
  assert.deepEqual(volumes, [mounted]);
  assert.ok(read("compose.yaml").includes(`# - ${mounted}\n`));
});

test("parley.service: systemd rates its exposure as low", { skip: skipWithout("systemd-analyze") }, () => {
  const file = join(root, "deploy", "parley.service");
  // Fails above the threshold, in tenths.
  execFileSync("systemd-analyze", ["security", "--offline=yes", "--threshold=25", file], { stdio: "ignore" });
});
