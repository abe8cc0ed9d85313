import { pino } from "pino";
import { counted } from "../../../../shared/counted.ts";
import type { Config } from "../../../platform/config/config.ts";
import { createEncryptor } from "../../../platform/crypto/encryptor.ts";
import { openSecrets, readSecretState } from "../../../platform/crypto/secret.ts";
import type { Database } from "../../../platform/db/database.ts";
import { openInstallationStore } from "../../move/stores.ts";
import { readRotationProgress, readSecretStatus } from "../secrets/status.ts";
import { type Check, passed, tryCheck, warning } from "./check.ts";

/** Checks that the secrets are those of the database, and whether a previous one is still needed. */
export async function checkSecrets(db: Database, config: Config): Promise<Check[]> {
  const name = "secret";
  const { fingerprints } = await readSecretState(db.kysely);
  // A database that no server has used yet.
  if (fingerprints.length === 0) return [];
  const remedy = "Give all processes the secrets that stored values are encrypted with.";
  const check = await tryCheck(name, remedy, async () => {
    const { store } = await openInstallationStore({ db, config, log: pino({ level: "silent" }) });
    try {
      const open = await openSecrets(config.secret, store, db, { isReader: true });
      const progress = await readRotationProgress(db.kysely);
      if (progress !== null)
        return warning(
          name,
          `A rotation has not finished: ${progress.total - progress.done} of ${counted(progress.total, "stored value")} are still encrypted with another secret.`,
          "Keep all secrets. `parley secrets rotate` starts or continues it, `parley secrets status` says what it waits for.",
        );
      const { state, remaining, values } = await readSecretStatus(db, open, createEncryptor(open));
      if (state === "incomplete")
        return warning(
          name,
          `${remaining} of ${counted(values, "stored value")} are still encrypted with another secret.`,
          "Keep all secrets, and run `parley secrets rotate` to encrypt them again.",
        );
      if (state === "removable")
        return warning(
          name,
          "No stored value needs the previous secret.",
          config.secret === null
            ? "Remove it with `parley secrets drop`."
            : "Remove it from PARLEY_SECRET of all processes.",
        );
      return passed(name, "The secret is the one that stored values are encrypted with.");
    } finally {
      await store.close();
    }
  });
  return [check];
}
