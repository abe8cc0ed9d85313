import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, normalize } from "node:path";
import { test } from "node:test";
import { readSources, root } from "./sources.ts";

/** The anchors of a page, as GitHub makes them of its headings. */
function anchorsOf(page: string): string[] {
  return [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replace(/\s/g, "-"),
  );
}

test("links: every relative link in a Markdown page leads to a file, and to a heading of it", () => {
  const broken = readSources([".md"]).flatMap(({ path, text }) =>
    [...text.replace(/`[^`\n]*`/g, "").matchAll(/\]\(([^()\s]+)\)/g)]
      .map(([, target = ""]) => target)
      .filter((target) => !/^[a-z]+:/.test(target))
      .filter((target) => {
        const [file = "", anchor] = target.split("#");
        const page = file === "" ? path : normalize(join(path, "..", file));
        if (!existsSync(join(root, page))) return true;
        return anchor !== undefined && !anchorsOf(readFileSync(join(root, page), "utf8")).includes(anchor);
      })
      .map((target) => `${path}: ${target}`),
  );
  assert.deepEqual(broken, []);
});

test("links: docs/decisions/README.md lists every decision, once", () => {
  const folder = join(root, "docs/decisions");
  const listed = readFileSync(join(folder, "README.md"), "utf8").matchAll(/\((\d{4}-[^)]+)\)/g);
  const decisions = readdirSync(folder).filter((name) => /^\d/.test(name));
  assert.deepEqual([...listed].map(([, name]) => name).sort(), decisions.sort());
});

test("ARCHITECTURE.md names every folder of the web app and every feature of the server, and no file that is gone", () => {
  const page = readFileSync(join(root, "ARCHITECTURE.md"), "utf8");
  const paths = readSources([".ts", ".tsx", ".md", ".sql", ".po", ".css"]).map(({ path }) => `/${path}`);
  const folders = new Set(
    paths.flatMap((path) => /^\/(?:web|server\/\w+)\/([\w-]+)\//.exec(path)?.[1] ?? []),
  );
  assert.deepEqual(
    [...folders].filter((folder) => !page.includes(`${folder}/`)),
    [],
  );
  const named = [...page.matchAll(/`([\w.][\w./-]*(?:\.(?:tsx?|md|sql)|\/))`/g)].map(([, path = ""]) => path);
  assert.ok(named.length > 80);
  const isThere = (name: string) =>
    paths.some((path) => (name.endsWith("/") ? path.includes(`/${name}`) : path.endsWith(`/${name}`)));
  assert.deepEqual(
    named.filter((name) => !isThere(name)),
    [],
  );
});

test("no comment names a file that is gone", () => {
  const sources = readSources();
  const paths = sources.map(({ path }) => `/${path}`);
  const gone = sources.flatMap(({ path, text }) =>
    [...text.matchAll(/^\s*(?:\/\/|\/?\*).*$/gm)]
      .flatMap(([line]) => [...line.matchAll(/[\s(`]((?:[\w-]+\/)*[\w-]+\.tsx?)\b/g)])
      .filter(([, name = ""]) => !paths.some((one) => one.endsWith(`/${name}`)))
      .map(([, name = ""]) => `${path}: ${name}`),
  );
  assert.deepEqual(gone, []);
});
