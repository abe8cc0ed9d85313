import { sql } from "kysely";
import { z } from "zod";
import { TagsInput } from "../../../contract/recordings/fields.ts";
import { settingsName } from "../../../shared/files/file-groups.ts";
import { decodeText } from "../../../shared/files/text-encoding.ts";
import type { WatchDir } from "../../platform/config/config.ts";
import type { Executor } from "../../platform/db/database.ts";
import { WatchError, type WatchedFolder } from "./folder/index.ts";

/** What becomes of the source of a recording. */
type SourceRule = "leave" | "move" | "delete";

/** The file `parley.json` of a folder. Each field replaces that of the folder above. */
const FolderSettings = z.strictObject({
  workspace: z.uuid("must be the ID of a workspace").optional(),
  owner: z.email("must be the email of a user").max(320).optional(),
  team: z.string("must be the name or ID of a team").trim().min(1).max(200).optional(),
  tags: TagsInput.optional(),
  audio_tracks: z.enum(["mix", "speakers"], 'must be "mix" or "speakers"').optional(),
  source: z.enum(["leave", "move", "delete"], 'must be "leave", "move" or "delete"').optional(),
});
type FolderSettings = z.output<typeof FolderSettings>;

/** The settings of a folder with those of the folders above it. */
export interface MergedSettings extends FolderSettings {
  /** The file that is named when a setting is wrong: the innermost there is. */
  readonly file: string;
}

/** Settings with the rows of the database that they name. */
export interface ResolvedSettings {
  readonly workspaceId: string;
  readonly ownerId: string;
  readonly ownerEmail: string;
  readonly teamId: string | null;
  readonly tags: readonly string[];
  /** What becomes of several audio tracks in one file. */
  readonly audioTracks: "mix" | "speakers";
  readonly source: SourceRule;
}

/** A setting of a folder is wrong: none of its files are imported. */
export class SettingsError extends WatchError {
  /** The path of the file with the settings. */
  readonly file: string;
  /** The settings without it, which say whom it concerns. */
  readonly others: MergedSettings;

  constructor(file: string, others: MergedSettings, message: string, remedy: string) {
    super(message, remedy);
    this.file = file;
    this.others = others;
  }
}

const maxSettingsBytes = 100_000;

const remedy = `Correct ${settingsName}; files are imported at the next check.`;

/** The settings of a watched folder without any file. */
export const noSettings: MergedSettings = { file: settingsName };

/** Adds the settings of a folder to those of the folder above it. @throws SettingsError that names the field. */
export async function readSettings(
  watchedFolder: WatchedFolder,
  folder: string,
  above: MergedSettings,
): Promise<MergedSettings> {
  const file = folder === "" ? settingsName : `${folder}/${settingsName}`;
  const name = watchedFolder.nameOf(file);
  let given: unknown;
  try {
    given = JSON.parse(decodeText(await watchedFolder.readBytes(file, maxSettingsBytes)).text);
  } catch (error) {
    if (error instanceof SyntaxError)
      throw new SettingsError(file, above, `${name} is not valid JSON: ${error.message}.`, remedy);
    if (!(error instanceof WatchError) || error.isOutdated) throw error;
    throw new SettingsError(file, above, error.message, error.remedy);
  }
  const { success, data, error } = FolderSettings.safeParse(given);
  if (!success) throw new SettingsError(file, above, `${name}: ${describe(error)}.`, remedy);
  return { ...above, ...data, file };
}

function describe({ issues: [issue] }: z.ZodError): string {
  if (issue?.code === "unrecognized_keys")
    return `${issue.keys.join(", ")} is not a setting; the settings are ${Object.keys(FolderSettings.shape).join(", ")}`;
  const field = issue?.path.join(".");
  return field ? `${field} ${issue?.message}` : 'it must be an object, such as {"owner": "ada@example.com"}';
}

/** Which folders had settings at the latest checks. */
export interface SeenSettings {
  /** Notes whether a check has found settings in a folder. */
  note(folder: string, isThere: boolean): void;
  has(folder: string): boolean;
}

/** @param keptMs how long settings that are missing count as being replaced: many programs delete a file to save it. */
export function createSeenSettings(keptMs: number): SeenSettings {
  const seenAt = new Map<string, number>();
  return {
    note(folder, isThere) {
      const now = performance.now();
      if (isThere) seenAt.set(folder, now);
      else if (now - (seenAt.get(folder) ?? now) >= keptMs) seenAt.delete(folder);
    },
    has: (folder) => seenAt.has(folder),
  };
}

/**
 * Settings of a folder with those of all folders above it.
 * @throws WatchError that is outdated when settings are missing that were there a moment ago.
 */
export async function readSettingsOf(
  watchedFolder: WatchedFolder,
  folder: string,
  seen: SeenSettings,
): Promise<MergedSettings> {
  let merged = noSettings;
  const parts = folder === "" ? [] : folder.split("/");
  for (let depth = 0; depth <= parts.length; depth += 1) {
    const path = parts.slice(0, depth).join("/");
    merged = await readSettings(watchedFolder, path, merged).catch((error) => {
      // Most folders have no settings, and opening the file costs less than listing the folder.
      if (error instanceof WatchError && error.isOutdated && !seen.has(path)) return merged;
      throw error;
    });
  }
  return merged;
}

/** Finds the workspace, the owner and the team of a folder. @throws SettingsError that names the setting. */
export async function resolveSettings(
  db: Executor,
  dir: WatchDir,
  watchedFolder: WatchedFolder,
  settings: MergedSettings,
): Promise<ResolvedSettings> {
  const others = { file: settings.file, workspace: settings.workspace };
  const refuse = (what: string, todo = remedy): never => {
    throw new SettingsError(settings.file, others, `${watchedFolder.nameOf(settings.file)}: ${what}.`, todo);
  };
  const workspaceId = await findWorkspace(db, dir, settings, refuse);
  const owner = await findOwner(db, workspaceId, settings.owner);
  if (owner === undefined)
    return refuse(
      settings.owner === undefined
        ? "the workspace has no active admin to own the recordings, so owner is required"
        : `owner ${settings.owner} is not an active admin or member of the workspace`,
    );
  const teamId = settings.team === undefined ? null : await findTeam(db, workspaceId, settings.team);
  if (teamId === undefined) return refuse(`team ${settings.team} is not a team of the workspace`);
  return {
    workspaceId,
    ownerId: owner.id,
    ownerEmail: owner.email,
    teamId,
    tags: settings.tags ?? [],
    audioTracks: settings.audio_tracks ?? "mix",
    source: settings.source ?? "leave",
  };
}

async function findWorkspace(
  db: Executor,
  dir: WatchDir,
  { workspace }: MergedSettings,
  refuse: (what: string, todo?: string) => never,
): Promise<string> {
  const wanted = workspace?.toLowerCase();
  if (dir.workspaceId !== null && wanted !== undefined && wanted !== dir.workspaceId)
    return refuse(`workspace differs from ${dir.workspaceId}, which PARLEY_WATCH_DIRS names for this folder`);
  const id = dir.workspaceId ?? wanted ?? null;
  const rows = await db
    .selectFrom("workspaces")
    .select("id")
    .$if(id !== null, (query) => query.where("id", "=", id))
    .limit(2)
    .execute();
  const [found, other] = rows;
  if (found === undefined)
    return refuse(
      id === null ? "there is no workspace yet" : `there is no workspace ${id}`,
      "Correct workspace, or the ID in PARLEY_WATCH_DIRS. `parley workspace list` prints the IDs.",
    );
  if (other !== undefined)
    return refuse(
      "there are several workspaces, and workspace is not set",
      "Set workspace, or write WORKSPACE_ID=/folder in PARLEY_WATCH_DIRS. `parley workspace list` prints the IDs.",
    );
  return found.id;
}

/** The user with this email, or else the workspace's first admin. */
async function findOwner(
  db: Executor,
  workspaceId: string,
  email: string | undefined,
): Promise<{ id: string; email: string } | undefined> {
  return db
    .selectFrom("users")
    .select(["id", "email"])
    .where("workspace_id", "=", workspaceId)
    .where("deactivated_at", "is", null)
    .$call((query) =>
      email === undefined
        ? query.where("role", "=", "admin")
        : query.where(sql<boolean>`email_key = parley_lower(${email})`).where("role", "<>", "viewer"),
    )
    .orderBy("created_at")
    .orderBy("id")
    .limit(1)
    .executeTakeFirst();
}

async function findTeam(db: Executor, workspaceId: string, team: string): Promise<string | undefined> {
  const row = await db
    .selectFrom("teams")
    .select("id")
    .where("workspace_id", "=", workspaceId)
    .where(sql<boolean>`(id::text = lower(${team}) or name_key = parley_fold(${team}))`)
    .orderBy("created_at")
    .limit(1)
    .executeTakeFirst();
  return row?.id;
}
