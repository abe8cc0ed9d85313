import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { areas, features, platform, roots } from "./allowed-imports.ts";
import { root as checkout, importsAtStart, importsOf, readSources } from "./sources.ts";

/** Tests and test support may import any folder. */
const sources = readSources().filter(({ path }) => !/\.test\.ts$|(^|\/)test\//.test(path));

/** The feature or part of the platform that a file of server/ belongs to; null for the files that compose the server, and for other roots. */
function folderOf(path: string): string | null {
  const [root, area, folder, rest] = path.split("/");
  if (root !== "server" || folder === undefined || area === undefined) return null;
  // A file directly in platform/ is its own part.
  return rest === undefined ? `${area}/${folder.replace(/\.ts$/, "")}` : `${area}/${folder}`;
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

test("an area of server/ imports only itself and those before it", () => {
  const rank = (folder: string): number => areas.findIndex((area) => folder.startsWith(`${area}/`));
  const wrong = imports.filter(({ from, to }) => to !== null && rank(to) > rank(from));
  assert.deepEqual(
    wrong.map(({ path, target }) => `${path} imports ${target}`),
    [],
  );
  assert.ok(imports.every(({ from }) => rank(from) >= 0));
});

test("folders beside each other do not import each other in a circle, at any level", () => {
  const edges = sources.flatMap((source) =>
    importsOf(source).map((target) => [source.path, target] as const),
  );
  const folders = new Set(sources.flatMap(({ path }) => parentsOf(path)));
  const found = [...folders].filter((folder) => {
    const graph = new Map<string, Set<string>>();
    for (const [from, to] of edges) {
      const [a, b] = [childOf(folder, from), childOf(folder, to)];
      if (a === null || b === null || a === b) continue;
      graph.set(a, (graph.get(a) ?? new Set()).add(b));
    }
    return findCircle(graph) !== null;
  });
  assert.deepEqual(found, []);
});

/** The folders above a file, without the root. */
function parentsOf(path: string): string[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
}

/** The folder directly in `folder` that a file lies in; null for a file elsewhere or directly in it. */
function childOf(folder: string, path: string): string | null {
  if (!path.startsWith(`${folder}/`)) return null;
  const [child = "", rest] = path.slice(folder.length + 1).split("/");
  return rest === undefined ? null : child;
}

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

test("contract/ and shared/ import no packages but zod, entities and tus-js-client", () => {
  for (const source of sources.filter(({ path }) => /^(contract|shared)\//.test(path)))
    for (const target of importsOf(source))
      assert.ok(
        ["zod", "entities/decode", "tus-js-client"].includes(target) || /^(contract|shared)\//.test(target),
        `${source.path} imports ${target}`,
      );
});

/** The packages that the files of these top-level folders import. */
function packagesOf(...folders: string[]): Set<string> {
  const imported = sources
    .filter(({ path }) => folders.some((folder) => path.startsWith(`${folder}/`)) && !/\/test\//.test(path))
    .flatMap((source) => importsOf(source).filter((target) => !target.includes(".ts")))
    .map((target) => target.split("/", target.startsWith("@") ? 2 : 1).join("/"))
    .filter(
      (name) =>
        !name.startsWith("node:") &&
        !builtinModules.includes(name) &&
        !(name in roots) &&
        !name.startsWith("virtual:"),
    );
  return new Set(imported);
}

test("the running program imports only dependencies; webAppPackages are what web/ imports besides", () => {
  const manifest = JSON.parse(readFileSync(join(checkout, "package.json"), "utf8"));
  const dependencies = new Set(Object.keys(manifest.dependencies));
  // Vite builds the web app; the generated database types name a type of pg's own dependency.
  const program = packagesOf("server", "cli", "contract", "shared", "demo");
  assert.deepEqual([...program].filter((name) => !dependencies.has(name)).sort(), [
    "postgres-interval",
    "vite",
  ]);
  const forWebApp = [...packagesOf("web")].filter((name) => !dependencies.has(name));
  assert.deepEqual(forWebApp.sort(), manifest.webAppPackages);
});

test("the routes of a server load these packages at start-up, and others when they are needed", () => {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const packages = new Set<string>();
  const seen = new Set(["server/app.ts"]);
  for (const path of seen)
    for (const target of importsAtStart(byPath.get(path))) {
      if (byPath.has(target)) seen.add(target);
      else if (!target.startsWith("node:")) packages.add(target);
    }
  assert.ok(seen.size > 400, `${seen.size} files`);
  assert.deepEqual([...packages].sort(), [
    ...["@fastify/static", "cookie", "entities/decode", "fastify", "ipaddr.js", "kysely", "lru-cache", "pg"],
    ...["tldts", "zod"],
  ]);
});

test("acceptance tests do not import the server", () => {
  for (const source of readSources().filter(({ path }) => path.startsWith("test/acceptance/")))
    for (const target of importsOf(source))
      assert.ok(
        !target.startsWith("server/") || target.includes("/test/"),
        `${source.path} imports ${target}`,
      );
});

function assertAcyclic(graph: ReadonlyMap<string, ReadonlySet<string>>): void {
  assert.equal(findCircle(graph), null);
}

/** The path of a circle; null without one. */
function findCircle(graph: ReadonlyMap<string, ReadonlySet<string>>): string | null {
  const done = new Set<string>();
  const visit = (node: string, trail: readonly string[]): string | null => {
    if (trail.includes(node)) return [...trail, node].join(" -> ");
    if (done.has(node)) return null;
    for (const next of graph.get(node) ?? []) {
      const found = visit(next, [...trail, node]);
      if (found !== null) return found;
    }
    done.add(node);
    return null;
  };
  for (const node of graph.keys()) {
    const found = visit(node, []);
    if (found !== null) return found;
  }
  return null;
}
