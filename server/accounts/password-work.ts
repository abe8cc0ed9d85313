import { ProblemError } from "../http/problem.ts";

/**
 * Hashing a password takes 64 MiB and a tenth of a second on purpose. A few run at once and some wait; who comes when
 * even the queue is full is asked to come again, so that a flood of sign-ins takes neither memory nor the processors.
 */
export interface PasswordWork {
  /** @throws ProblemError `unavailable`, with `Retry-After`, when too many wait already. */
  run<T>(work: () => Promise<T>): Promise<T>;
}

declare module "fastify" {
  interface FastifyInstance {
    passwordWork: PasswordWork;
  }
}

/** @param limits how many run at once, and how many may wait for that. */
export function createPasswordWork(
  limits: { readonly atOnce: number; readonly waiting: number } = { atOnce: 2, waiting: 50 },
): PasswordWork {
  const queue: (() => void)[] = [];
  let running = 0;

  return {
    async run(work) {
      if (running < limits.atOnce) running += 1;
      else {
        if (queue.length >= limits.waiting)
          throw new ProblemError("unavailable", "too many people sign in at this moment; try again shortly", {
            headers: { "retry-after": "5" },
          });
        // Whoever ends hands the place on, so that nobody who comes meanwhile takes it.
        await new Promise<void>((resolve) => queue.push(resolve));
      }
      try {
        return await work();
      } finally {
        const next = queue.shift();
        if (next) next();
        else running -= 1;
      }
    },
  };
}
