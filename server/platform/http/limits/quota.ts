import { because, type QuotaCause } from "../../../../contract/causes/causes.ts";
import type { Tx } from "../../db/database.ts";
import { lockQuota } from "../../db/quota-lock.ts";
import { ProblemError } from "../errors/problem.ts";

/** A quota for something that a user may have a limited number of. */
export interface CountedQuota {
  /** Names the quota among all quotas. */
  readonly name: string;
  /** Id of the user it is counted for. */
  readonly owner: string;
  /** How many there may be; 0: any number. */
  readonly limit: number;
  /** How many there are. */
  count(): Promise<number>;
  /** Why one more is refused. */
  readonly refusal: QuotaCause;
}

/**
 * Refuses one more than the quota allows. The caller creates it in the same transaction; concurrent requests wait for its
 * end, so together they stay within the quota.
 * @throws ProblemError `quota_exceeded` that names the limit and the remedy.
 */
export async function enforceQuota(tx: Tx, quota: CountedQuota): Promise<void> {
  if (quota.limit === 0) return;
  await lockQuota(tx, quota.name, quota.owner);
  if ((await quota.count()) >= quota.limit) throw quotaExceeded(quota);
}

function quotaExceeded({ limit, refusal }: Pick<CountedQuota, "limit" | "refusal">): ProblemError {
  return new ProblemError("quota_exceeded", because(refusal, { limit }));
}
