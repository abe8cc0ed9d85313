import { createHash } from "node:crypto";
import { basename } from "node:path";
import { errorSuffix } from "../../../shared/files/file-groups.ts";
import { foldCase } from "../../../shared/fold-case.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Database } from "../../platform/db/database.ts";
import { ProblemError } from "../../platform/http/errors/problem.ts";
import type { JobQueue } from "../../platform/jobs/queue.ts";
import { transition } from "../../processing/uploads/lifecycle/transition.ts";
import { lockUploadById } from "../../processing/uploads/queries.ts";
import { importRecording } from "../imports/service.ts";
import type { ImportDependencies } from "./dependencies.ts";
import type { WatchedFolder } from "./folder/index.ts";
import { findUploadOf } from "./queries.ts";

/** The user who owns what is imported from a folder. */
export function ownerPrincipal(workspaceId: string, owner: { id: string; email: string }): Principal {
  return {
    tokenId: owner.id,
    tokenType: "personal_access_token",
    scope: "personal",
    workspaceId,
    userId: owner.id,
    role: "member",
    emailKey: foldCase(owner.email),
    name: owner.email,
    expiresAt: null,
    sees: [owner.id, workspaceId],
  };
}

/**
 * Lists a file that could not even be sent among the owner's uploads, as a failed one. The same error of the same file is
 * listed once.
 */
export async function listFailure(
  deps: ImportDependencies,
  owner: Principal,
  { name, identity, reason }: { readonly name: string; readonly identity: string; readonly reason: string },
): Promise<void> {
  const { db, jobs } = deps;
  const externalId = `watched folder ${createHash("sha256").update(identity).digest("hex")}`;
  const known = await findUploadOf(db.kysely, owner.userId, externalId);
  if (known !== undefined && known.status !== "awaiting") return;
  try {
    const { row } = await importRecording(deps, owner, {
      external_id: externalId,
      title: basename(name).slice(0, 500).toWellFormed(),
      media: { format: "mp4" },
    });
    await failUpload(db, jobs, row.id, reason);
  } catch (error) {
    // Without storage there is no upload either; the error is beside the file.
    if (!(error instanceof ProblemError)) throw error;
    deps.log.warn({ err: error }, "could not list the failure of a watched file among the uploads");
  }
}

async function failUpload(
  db: Database,
  jobs: JobQueue,
  uploadId: string,
  failureReason: string,
): Promise<void> {
  await db.kysely.transaction().execute(async (tx) => {
    const row = await lockUploadById(tx, uploadId);
    if (row?.status === "awaiting") await transition(tx, jobs, row, "url_expired", { failureReason });
  });
}

/**
 * Writes an error beside its file.
 * @param retry how the file is tried again.
 * @returns whether it could be written: a folder may be read-only.
 */
export async function writeErrorFile(
  { log }: Pick<ImportDependencies, "log">,
  watchedFolder: WatchedFolder,
  path: string,
  texts: readonly string[],
): Promise<boolean> {
  try {
    await watchedFolder.writeText(
      `${path}${errorSuffix}`,
      `${texts.filter((text) => text !== "").join("\n\n")}\n`,
    );
    return true;
  } catch (error) {
    log.warn(
      { err: error, file: watchedFolder.nameOf(path) },
      "could not write an error file to a watched folder",
    );
    return false;
  }
}

/** Removes the file with the error of an earlier attempt. */
export async function removeErrorFile(
  { log }: Pick<ImportDependencies, "log">,
  watchedFolder: WatchedFolder,
  path: string,
): Promise<void> {
  await watchedFolder
    .remove(`${path}${errorSuffix}`)
    .catch((error) => log.warn({ err: error }, "could not remove an error file from a watched folder"));
}
