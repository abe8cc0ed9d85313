import assert from "node:assert/strict";
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { test } from "node:test";
import type { Page } from "playwright-core";
import sharp from "sharp";
import { root } from "../shape/sources.ts";
import { until } from "../support/until.ts";
import { type BrowserApp, navigate, type SharedVisit, startSharedVisit } from "./support.ts";

/** Whether to take the guide's screenshots again: `UPDATE_DOCS=1`. */
export const isUpdating = process.env.UPDATE_DOCS !== undefined;

const folder = "docs/guide/images";
const limits = { eachBytes: 150_000, allBytes: 3_000_000 } as const;

/** The context of one guide job. */
export interface Walk {
  readonly page: Page;
  readonly app: BrowserApp;
  /** Takes a screenshot for docs/guide/images/NAME.png. */
  picture(name: string): Promise<void>;
}

const taken = new Set<string>();

/** The page of the last job, if that succeeded. */
let last: { readonly visited: SharedVisit; readonly userId: string | undefined } | undefined;

/** Goes to a path, within the page of the last job if that had the same user. */
async function open(app: BrowserApp, path: string, userId: string | undefined): Promise<SharedVisit> {
  const before = last;
  last = undefined;
  if (before === undefined || userId === undefined || before.userId !== userId) {
    await before?.visited.leave();
    return startSharedVisit(app, path, userId === undefined ? {} : { userId });
  }
  const { visited } = before;
  await navigate(visited.page, path);
  return visited;
}

/**
 * Performs one job of the guide in a browser, with the labels the guide uses. Console errors other than `expected` fail it.
 * Jobs of the same user in succession share a page.
 * @param options.email of the signed-in user; signed out without.
 */
export function job(
  app: BrowserApp,
  title: string,
  { path, email, expected }: { path: string; email?: string; expected?: RegExp },
  walk: (walk: Walk) => Promise<void>,
): void {
  test(`guide: ${title}`, async () => {
    const person =
      email === undefined
        ? undefined
        : await app.db.kysely
            .selectFrom("users")
            .select("id")
            .where("email", "=", email)
            .executeTakeFirstOrThrow();
    const visited = await open(app, path, person?.id);
    await walk({ page: visited.page, app, picture: (name) => takePicture(visited.page, name) });
    assert.deepEqual(
      visited.complaints.splice(0).filter((text) => expected === undefined || !expected.test(text)),
      [],
    );
    last = { visited, userId: person?.id };
  });
}

async function takePicture(page: Page, name: string): Promise<void> {
  taken.add(`${name}.png`);
  if (!isUpdating) return;
  // Not networkidle: a playing video keeps loading.
  await until("images and videos are loaded", () =>
    page.evaluate<boolean>(
      "[...document.images].every((one) => one.complete) && [...document.querySelectorAll('video')].every((one) => one.readyState >= 2)",
    ),
  );
  await page.evaluate("Promise.allSettled([...document.images].map((image) => image.decode()))");
  await page.evaluate("Promise.allSettled(document.getAnimations().map((one) => one.finished))");
  // Notifications of the previous step would cover this one.
  await page.evaluate(
    "document.querySelectorAll('[class*=Notifications-root]').forEach((one) => { one.style.visibility = 'hidden'; })",
  );
  const shot = await page.screenshot({ caret: "hide" });
  const path = join(root, folder, `${name}.png`);
  mkdirSync(dirname(path), { recursive: true });
  // Few colors are enough for text; fewer if video frames make the file large.
  for (const colors of [128, 64, 32]) {
    const small = await sharp(shot)
      .png({ palette: true, colors, effort: 10, compressionLevel: 9 })
      .toBuffer();
    writeFileSync(path, small);
    if (small.length < limits.eachBytes) return;
  }
  assert.fail(`${name}.png is too large`);
}

/** Checks, after all jobs, that screenshots and pages match. */
export function checkGuide(): void {
  test("guide: every screenshot is taken here, shown on a page and small, and every link resolves", () => {
    const pages = globSync(["README.md", "docs/guide/*.md"], { cwd: root });
    const shown = new Set<string>();
    for (const path of pages) {
      for (const [, target = ""] of readFileSync(join(root, path), "utf8").matchAll(
        /\]\(([^)\s#]+)[^)]*\)/g,
      )) {
        if (/^[a-z]+:/.test(target)) continue;
        const file = normalize(join(dirname(path), target));
        if (file.startsWith(folder)) shown.add(file.slice(folder.length + 1));
        assert.ok(existsSync(join(root, file)), `${path} leads to ${target}`);
      }
    }
    const files = globSync(`${folder}/*`, { cwd: root }).map((path) => path.slice(folder.length + 1));
    if (isUpdating)
      for (const name of files.filter((one) => !taken.has(one))) rmSync(join(root, folder, name));
    assert.deepEqual([...taken].sort(), [...shown].sort(), "taken, and shown");
    assert.deepEqual(files.filter((one) => !isUpdating || taken.has(one)).sort(), [...taken].sort());
    const sizes = [...taken].map((name) => statSync(join(root, folder, name)).size);
    for (const size of sizes) assert.ok(size < limits.eachBytes, `${size} bytes`);
    assert.ok(sizes.reduce((sum, size) => sum + size, 0) < limits.allBytes);
  });
}
