import type { Caller } from "./callers.ts";
import type { Credentials } from "./people.ts";
import type { World } from "./world.ts";

/** What one operation is asked with; what is left out is empty. */
export interface Ask {
  readonly params?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly query?: string;
  /** When another version than the newest is to be spoken. */
  readonly version?: string;
  /** When somebody of the same kind, made for this request, is to ask in the caller's place. */
  readonly credentials?: Credentials;
}

export type MakeAsk = (world: World, caller: Caller) => Ask | Promise<Ask>;
