import { createHash } from "node:crypto";
import { cpSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** What a program needs to run. */
const parts = [
  "cli",
  "contract",
  "demo",
  "docs",
  "migrations",
  "scripts",
  "server",
  "shared",
  "web",
  "package.json",
  "package-lock.json",
];

/**
 * Builds a next version of the program for the calling test file: a copy with a higher version and more migrations.
 * @param migrations the SQL of each by its name.
 * @returns its folder.
 */
export function makeNextVersion(version: string, migrations: Readonly<Record<string, string>>): string {
  // The same in each run, so that its compiled code stays cached, but another for each test file: they run at the same time.
  const caller = process.argv[1] ?? root;
  const folder = join(
    tmpdir(),
    `parley-next-${createHash("sha256").update(caller).digest("hex").slice(0, 12)}`,
  );
  rmSync(folder, { recursive: true, force: true });
  after(() => rmSync(folder, { recursive: true, force: true }));
  for (const part of parts)
    cpSync(join(root, part), join(folder, part), {
      recursive: true,
      filter: (path) => !/\/(dist|images)$/.test(path),
    });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as object;
  writeFileSync(join(folder, "package.json"), JSON.stringify({ ...manifest, version }));
  for (const [name, sql] of Object.entries(migrations))
    writeFileSync(join(folder, "migrations", `${name}.sql`), sql);
  return folder;
}
