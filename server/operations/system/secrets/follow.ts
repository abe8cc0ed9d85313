import type { FastifyBaseLogger } from "fastify";
import type { OpenSecrets } from "../../../platform/crypto/secret.ts";

/**
 * Has a process follow the secrets of the installation. While they can't be read, or one is missing, those known stay.
 * @param onChange called after they have changed.
 */
export function createSecretFollower(
  secrets: Pick<OpenSecrets, "follow" | "secrets">,
  onChange: () => Promise<void>,
  log: Pick<FastifyBaseLogger, "info" | "warn">,
): () => Promise<void> {
  let hasFailed = false;
  return async () => {
    try {
      if (await secrets.follow()) {
        log.info(
          { ids: secrets.secrets.map(({ id }) => id.toString("hex")) },
          "following a change of the secrets",
        );
        await onChange();
      }
      hasFailed = false;
    } catch (error) {
      if (!hasFailed) log.warn({ err: error }, "the secrets can't be followed; the last ones stay");
      hasFailed = true;
    }
  };
}
