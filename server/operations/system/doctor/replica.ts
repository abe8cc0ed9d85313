import type { Replica } from "../../../platform/db/replica.ts";
import { type Check, passed, tryCheck } from "./check.ts";

/** Checks that the server at PARLEY_DATABASE_REPLICA_URL is a replica that can be read. */
export function checkReplica(replica: Replica): Promise<Check> {
  const name = "read replica";
  const remedy =
    "Check PARLEY_DATABASE_REPLICA_URL and that the replica is running. Until then, the primary serves its reads.";
  return tryCheck(name, remedy, async () => {
    const bytes = await replica.measureLag();
    return passed(name, `The replica can be read; it is ${bytes} bytes of changes behind.`);
  });
}
