import { because } from "../../../../contract/causes/causes.ts";
import { createSemaphore } from "../../../platform/concurrency.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import { type PasswordCost, passwordCost } from "./passwords.ts";

/**
 * Limits how many passwords are hashed at a time. Hashing takes 64 MiB and 0.1 s on purpose, so a flood of sign-ins
 * must exhaust neither memory nor CPU: excess requests wait, and are refused once the queue is full.
 */
export interface PasswordWork {
  /**
   * @param work receives the cost of new hashes.
   * @throws ProblemError `unavailable`, with `Retry-After`, when the queue is full.
   */
  run<T>(work: (cost: PasswordCost) => Promise<T>): Promise<T>;
}

declare module "fastify" {
  interface FastifyInstance {
    passwordWork: PasswordWork;
  }
}

export function createPasswordWork({
  concurrency = 2,
  maxWaiting = 50,
  cost = passwordCost,
}: {
  readonly concurrency?: number;
  readonly maxWaiting?: number;
  readonly cost?: PasswordCost | undefined;
} = {}): PasswordWork {
  const semaphore = createSemaphore(concurrency);
  return {
    async run(work) {
      if (semaphore.waiting >= maxWaiting)
        throw new ProblemError("unavailable", because("sign_ins_busy"), {
          headers: { "retry-after": "5" },
        });
      return semaphore.run(() => work(cost));
    },
  };
}
