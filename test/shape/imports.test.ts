import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { features, platform, roots } from "./allowed-imports.ts";
import { root as checkout, importsOf, readSources } from "./sources.ts";

/** Tests and test support may import any folder. */
const sources = readSources().filter(({ path }) => !/\.test\.ts$|(^|\/)test\//.test(path));

/** The folder of server/ that a file belongs to; null for the files that compose the server, and for other roots. */
function folderOf(path: string): string | null {
  const [root, folder, part, rest] = path.split("/");
  if (root !== "server" || part === undefined || folder === undefined) return null;
  if (folder !== "platform") return folder;
  // A file directly in platform/ is its own part.
  return rest === undefined ? `platform/${part.replace(/\.ts$/, "")}` : `platform/${part}`;
}

const allowed = new Map<string, ReadonlySet<string>>([
  ...Object.entries(platform).map(([name, list]) => [name, new Set(list)] as const),
  ...Object.entries(features).map(
    ([name, list]) => [name, new Set([...list, ...Object.keys(platform)])] as const,
  ),
]);

const imports = sources.flatMap((source) => {
  const from = folderOf(source.path);
  if (from === null) return [];
  return importsOf(source).flatMap((target) => {
    if (!target.startsWith("server/")) return [];
    const to = folderOf(target);
    return to === from ? [] : [{ path: source.path, target, from, to }];
  });
});

test("every folder of server/ is in the list of allowed imports", () => {
  const folders = new Set(sources.flatMap(({ path }) => folderOf(path) ?? []));
  assert.deepEqual([...folders].sort(), [...allowed.keys()].sort());
});

test("a folder of server/ imports only what the list allows", () => {
  for (const { path, target, from, to } of imports) {
    assert.notEqual(to, null, `${path} imports ${target}, which composes the server`);
    assert.ok(
      to !== null && allowed.get(from)?.has(to),
      `${path} imports ${target}: ${from} may not import ${to}`,
    );
  }
});

test("the list of allowed imports names no import that is gone", () => {
  const used = new Set(imports.map(({ from, to }) => `${from} -> ${to}`));
  for (const [from, list] of Object.entries({ ...platform, ...features }))
    for (const to of list) assert.ok(used.has(`${from} -> ${to}`), `${from} no longer imports ${to}`);
});

test("the allowed imports of server/ have no cycle", () => {
  assertAcyclic(allowed);
});

test("the folders of web/ have no cycle", () => {
  const folder = (path: string): string => path.split("/").slice(0, -1).slice(0, 2).join("/");
  const graph = new Map<string, Set<string>>();
  for (const source of sources.filter(({ path }) => path.startsWith("web/"))) {
    for (const target of importsOf(source)) {
      const [from, to] = [folder(source.path), folder(target)];
      if (!target.startsWith("web/") || from === to || from === "web" || to === "web") continue;
      graph.set(from, (graph.get(from) ?? new Set()).add(to));
    }
  }
  assert.ok(graph.size > 5, "the imports of web/ were not found");
  assertAcyclic(graph);
});

test("a top-level folder imports only what the list allows", () => {
  for (const source of sources) {
    const [root = ""] = source.path.split("/");
    const list = roots[root];
    if (list === undefined || !source.path.includes("/")) continue;
    for (const target of importsOf(source)) {
      const [other = ""] = target.split("/");
      const isOurs = /\.(ts|tsx|css)$/.test(target) && target.includes("/") && !target.startsWith("@");
      assert.ok(
        !isOurs || other === root || list.includes(other),
        `${source.path} imports ${target}: ${root}/ may not import ${other}/`,
      );
    }
  }
});

test("contract/ imports no packages but zod and entities", () => {
  for (const source of sources.filter(({ path }) => path.startsWith("contract/")))
    for (const target of importsOf(source))
      assert.ok(
        ["zod", "entities/decode"].includes(target) || target.startsWith("contract/"),
        `${source.path} imports ${target}`,
      );
});

/** The packages that the files of these top-level folders import. */
function packagesOf(...folders: string[]): Set<string> {
  const imported = sources
    .filter(({ path }) => folders.some((folder) => path.startsWith(`${folder}/`)) && !/\/test\//.test(path))
    .flatMap((source) => importsOf(source).filter((target) => !target.includes(".ts")))
    .map((target) => target.split("/", target.startsWith("@") ? 2 : 1).join("/"))
    .filter((name) => !name.startsWith("node:") && !builtinModules.includes(name) && !(name in roots));
  return new Set(imported);
}

test("the running program imports only dependencies; webAppPackages are what web/ imports besides", () => {
  const manifest = JSON.parse(readFileSync(join(checkout, "package.json"), "utf8"));
  const dependencies = new Set(Object.keys(manifest.dependencies));
  // Vite builds the web app; the generated database types name a type of pg's own dependency.
  const program = packagesOf("server", "cli", "contract", "demo");
  assert.deepEqual([...program].filter((name) => !dependencies.has(name)).sort(), [
    "postgres-interval",
    "vite",
  ]);
  const forWebApp = [...packagesOf("web")].filter((name) => !dependencies.has(name));
  assert.deepEqual(forWebApp.sort(), manifest.webAppPackages);
});

test("acceptance tests do not import the server", () => {
  for (const source of readSources().filter(({ path }) => path.startsWith("test/acceptance/")))
    for (const target of importsOf(source))
      assert.ok(
        !target.startsWith("server/") || target.includes("/test/"),
        `${source.path} imports ${target}`,
      );
});

/** Fails with the path of the first cycle. */
function assertAcyclic(graph: ReadonlyMap<string, ReadonlySet<string>>): void {
  const done = new Set<string>();
  const visit = (node: string, trail: readonly string[]): void => {
    assert.ok(!trail.includes(node), `a cycle: ${[...trail, node].join(" -> ")}`);
    if (done.has(node)) return;
    for (const next of graph.get(node) ?? []) visit(next, [...trail, node]);
    done.add(node);
  };
  for (const node of graph.keys()) visit(node, []);
}
