import type { FastifyBaseLogger } from "fastify";
import { z } from "zod";
import { sentences } from "../../../contract/sentences.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Database } from "../../platform/db/database.ts";
import { defineJob } from "../../platform/jobs/define.ts";
import { CanceledError, installModel } from "./install.ts";
import { LockedError } from "./install-lock.ts";
import { findModelInstall, markModelInstall, saveInstallProgress } from "./queries.ts";
import { ModelError } from "./store.ts";

/** How often the progress is written. */
const progressEveryMs = 500;

/**
 * The job that installs a model for an admin. If it is killed, its next run resumes a download; if the admin
 * cancels it, its row is gone and it stops. Failures that the admin can correct are stored for them.
 * @param signal stops the job; the next run resumes.
 */
async function installModelJob(
  deps: {
    readonly db: Database;
    readonly config: Pick<Config, "dataDir" | "modelMirror">;
    readonly log: Pick<FastifyBaseLogger, "info" | "warn">;
  },
  installId: string,
  signal: AbortSignal,
): Promise<void> {
  const { db, config, log } = deps;
  const install = await findModelInstall(db.kysely, installId);
  if (install === undefined || !(await markModelInstall(db.kysely, installId, "running", null))) return;
  const cancelled = new AbortController();
  let done: Parameters<typeof saveInstallProgress>[2] = { bytesDone: 0, bytesTotal: null };
  // Also while nothing arrives, so that a stalled download can be cancelled.
  const progress = setInterval(() => {
    saveInstallProgress(db.kysely, installId, done)
      .then((exists) => {
        if (!exists) cancelled.abort(new CanceledError());
      })
      .catch((error: Error) =>
        log.warn({ err: error }, "could not write the progress of a model's installation"),
      );
  }, progressEveryMs);
  try {
    await installModel(
      config.dataDir,
      install.name,
      install.path === null
        ? { type: "download", mirror: config.modelMirror }
        : { type: "file", path: install.path },
      {
        onProgress: (bytesDone, bytesTotal) => {
          done = { bytesDone, bytesTotal };
        },
        signal: AbortSignal.any([signal, cancelled.signal]),
      },
    );
    await markModelInstall(db.kysely, installId, "done", null);
    log.info({ model: install.name }, "model installed");
  } catch (error) {
    if (cancelled.signal.aborted) return;
    signal.throwIfAborted();
    // The queue tries again: the other process may be a former run that has not ended yet.
    if (error instanceof LockedError) throw error;
    const reason = readable(error);
    log.warn({ err: error, model: install.name }, "model not installed");
    await markModelInstall(db.kysely, installId, "failed", reason);
  } finally {
    clearInterval(progress);
  }
}

function readable(error: unknown): string {
  return error instanceof ModelError ? error.message : sentences.model_store;
}

const payload = z.object({ installId: z.string() });

declare module "../../platform/jobs/define.ts" {
  interface JobPayloads {
    install_model: z.infer<typeof payload>;
  }
}

export const installModelKind = defineJob({
  name: "install_model",
  label: (i18n) => i18n.t("Install model"),
  schema: payload,
  subject: "speech_model",
  owner: null,
  concurrency: 1,
  discard:
    "the installation of a model is canceled in Settings → Transcription or Language model; it can only be retried here",
  handler: (deps, { installId }) => installModelJob(deps, installId, deps.signal),
});
