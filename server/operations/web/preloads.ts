import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { pagePaths } from "../../../contract/pages.ts";

type PagePath = (typeof pagePaths)[number];

/** The modules of the pages on which users usually start. */
const pageModules: Partial<Record<PagePath, string>> = {
  "/": "library/page.tsx",
  "/recordings/:recording_id": "recording/page.tsx",
  "/search": "search/page.tsx",
  "/uploads": "uploads/page.tsx",
  "/uploads/:upload_id": "uploads/upload-page.tsx",
  "/highlights": "highlights/page.tsx",
  "/stories": "stories/page.tsx",
};

/** A file of Vite's manifest. */
interface BuiltFile {
  readonly file: string;
  readonly imports?: readonly string[];
  readonly css?: readonly string[];
}

/** The first request of every page. */
const session = toFetch("/_/api/v1/session/me");

/**
 * Elements for the head of a recording's page that make the browser load its data in parallel with the app.
 * @param id as it is in the page's URL, because the app's requests repeat it.
 */
export function preloadRecording(id: string): string {
  const path = `/_/api/v1/recordings/${id}`;
  return [path, `${path}/transcript`].map((one) => `${toFetch(one)}\n    `).join("");
}

/**
 * Elements for a page's head that make the browser load the page's code and the session in parallel with the app, which
 * saves two round trips.
 * @param folder the folder of the built app.
 * @returns them by page; none where the build says nothing of its files, which are then loaded one after the other.
 * @throws Error when a page's module is not in the build.
 */
export async function readPreloads(folder: string): Promise<ReadonlyMap<PagePath, string>> {
  const manifest = await readManifest(folder);
  if (manifest === null) return new Map();
  // The document loads these itself.
  const known = filesOf(manifest, "index.html", new Set());
  return new Map(
    Object.entries(pageModules).map(([path, module]) => {
      const files = [...filesOf(manifest, module, new Set())].filter((file) => !known.has(file));
      return [path as PagePath, [session, ...files.map(toElement)].join("\n    ")];
    }),
  );
}

function filesOf(
  manifest: Readonly<Record<string, BuiltFile>>,
  name: string,
  found: Set<string>,
): Set<string> {
  const built = manifest[name];
  if (built === undefined) throw new Error(`the built web app has no ${name}`);
  if (found.has(built.file)) return found;
  found.add(built.file);
  for (const style of built.css ?? []) found.add(style);
  for (const other of built.imports ?? []) filesOf(manifest, other, found);
  return found;
}

function toFetch(path: string): string {
  return `<link rel="preload" as="fetch" crossorigin="anonymous" href="${path}" />`;
}

function toElement(file: string): string {
  return file.endsWith(".css")
    ? `<link rel="stylesheet" crossorigin href="/${file}" />`
    : `<link rel="modulepreload" crossorigin href="/${file}" />`;
}

async function readManifest(folder: string): Promise<Readonly<Record<string, BuiltFile>> | null> {
  try {
    return JSON.parse(await readFile(join(folder, ".vite", "manifest.json"), "utf8"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
