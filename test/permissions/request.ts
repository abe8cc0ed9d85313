import type { Caller } from "./callers.ts";
import type { Credentials } from "./users.ts";
import type { World } from "./world.ts";

/** A request to an operation; fields left out are empty. */
export interface OperationRequest {
  readonly params?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly query?: string;
  /** API version if not the newest. */
  readonly version?: string;
  /** Credentials of a fresh caller of the same kind, used instead of the shared caller's. */
  readonly credentials?: Credentials;
}

export type BuildRequest = (world: World, caller: Caller) => OperationRequest | Promise<OperationRequest>;
