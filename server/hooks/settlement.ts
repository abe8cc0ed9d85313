/** How an attempt ended, or that none was made. */
export interface Settlement {
  readonly id: string;
  /** The batch that held it when it was looked for; null: it was a row of its own. */
  readonly batch_id: string | null;
  readonly state: "pending" | "delivered" | "exhausted" | "gone" | "withheld";
  readonly due_at: Date | null;
  /** As UTF-8. */
  readonly payload: Buffer | null;
  /** Null: nothing was sent. */
  readonly attempt: {
    readonly number: number;
    readonly started_at: Date;
    readonly duration_ms: number;
    readonly status: number | null;
    readonly error: string | null;
    readonly answer: string;
    /** The header webhook-signature; empty where nothing was sent. */
    readonly signature: string;
  } | null;
}

/** What the attempts mean for the hook. */
export interface HookVerdict {
  /** Undefined: as it was. */
  readonly failingSince?: Date | null;
  readonly disable?: string;
  /** Until when the receiver asks for rest. */
  readonly pauseUntil?: Date;
}

/** Results of one hook. */
export interface HookResults {
  readonly hookId: string;
  readonly settlements: readonly Settlement[];
  readonly verdict: HookVerdict;
}
