import { pino } from "pino";
import { createEncryptor } from "../../platform/crypto/encryptor.ts";
import { openSecrets } from "../../platform/crypto/secret.ts";
import type { JobContext } from "../../platform/jobs/define.ts";
import { startPump } from "../../platform/jobs/pump.ts";
import { promoteUploadKind } from "../../processing/uploads/promotion/promote.ts";
import { promoteMediaKind } from "../../processing/uploads/promotion/promote-media.ts";
import { validateUploadKind } from "../../processing/uploads/promotion/validate-file.ts";

/**
 * Runs the jobs of imports in this process, for a command. A running server's workers share them; without a server this
 * worker runs all.
 * @returns stops it.
 */
export async function runLocalWorker(
  deps: Pick<JobContext, "db" | "jobs" | "store" | "config">,
): Promise<() => Promise<void>> {
  const encryptor = createEncryptor(await openSecrets(deps.config.secret, deps.store, deps.db));
  const pump = startPump(
    { ...deps, encryptor, log: pino({ level: "silent" }) },
    // Nobody else waits for this process.
    [promoteUploadKind, validateUploadKind, promoteMediaKind].map((kind) => ({
      ...kind,
      hasReservedSlots: () => false,
    })),
  );
  return () => pump.stop(30_000);
}
