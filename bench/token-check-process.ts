import { mkdtempSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { buildApp } from "../server/app.ts";
import { openHookSender } from "../server/connections/webhooks/transport/open-sender.ts";
import { readConfig } from "../server/platform/config/config.ts";
import { createEncryptor } from "../server/platform/crypto/encryptor.ts";
import { createSigner } from "../server/platform/crypto/link-signer.ts";
import { openDatabase } from "../server/platform/db/database.ts";
import { openJobQueue } from "../server/platform/jobs/queue.ts";
import { openStore } from "../server/platform/storage/open.ts";

/** A server that asks the database about each token once only: what requests cost when the token check is free. */
export interface TokenCheckTask {
  readonly databaseUrl: string;
  readonly baseUrl: string;
  /** Otherwise tokens are checked as always, in the same kind of process. */
  readonly isFree: boolean;
}

process.on("message", async ({ databaseUrl, baseUrl, isFree }: TokenCheckTask) => {
  const folder = mkdtempSync(join(tmpdir(), "parley-bench-token-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  const config = readConfig(
    {
      PARLEY_DATABASE_URL: databaseUrl,
      PARLEY_DATA_DIR: folder,
      PARLEY_BASE_URL: baseUrl,
      PARLEY_RATE_LIMIT_PER_MINUTE: "0",
    },
    folder,
  );
  const onError = (error: Error): void => console.error(error);
  const log = pino({ level: "silent" });
  const opened = openDatabase({ connectionString: databaseUrl }, { onError });
  // Its checks are not sent together with reads, so that they can be left out.
  const db = isFree ? { ...opened, isDirect: false } : opened;
  if (isFree) rememberTokens(db.pool);
  const jobs = await openJobQueue({ pool: db.pool, onError });
  const app = await buildApp({
    webFolder: null,
    db,
    jobs,
    store: await openStore(config),
    signer: createSigner("bench"),
    encryptor: createEncryptor("bench"),
    sender: openHookSender(config),
    config,
    log,
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  process.send?.({ port: (app.server.address() as AddressInfo).port });
});
process.on("disconnect", () => process.exit());

/** Returns the result of the token check's statement from memory once it is known. */
function rememberTokens(pool: { query: unknown }): void {
  const ask = (pool.query as (...args: unknown[]) => Promise<unknown>).bind(pool);
  const known = new Map<string, Promise<unknown>>();
  pool.query = (...args: unknown[]): Promise<unknown> => {
    const [statement] = args as [{ name?: string; values: [Buffer] }];
    if (!/^find_.*_by_hash$/.test(statement.name ?? "")) return ask(...args);
    const key = statement.values[0].toString("hex");
    const answer = known.get(key) ?? ask(...args);
    known.set(key, answer);
    return answer;
  };
}
