import { channel } from "node:diagnostics_channel";

/** A kind of fact that metrics count. Publishing costs next to nothing while nobody subscribes. */
export interface Signal<T extends object> {
  publish(fact: T): void;
  /** @returns ends the subscription. */
  subscribe(listener: (fact: T) => void): () => void;
}

function signal<T extends object>(name: string): Signal<T> {
  const facts = channel(`parley:${name}`);
  return {
    publish(fact) {
      if (facts.hasSubscribers) facts.publish(fact);
    },
    subscribe(listener) {
      const forward = (fact: unknown): void => listener(fact as T);
      facts.subscribe(forward);
      return () => void facts.unsubscribe(forward);
    },
  };
}

/** A request that has begun. */
export const requestStarted = signal<object>("request-started");

/** A response that was sent, or a client that disconnected before. */
export const requestFinished = signal<{
  /** Id of the operation in contract/, `other` for another route, `unknown` for a path without one. Never a path. */
  readonly operation: string;
  /** API version; `none` where the operation has none, or the request named no valid one. */
  readonly version: string;
  readonly status: number;
  readonly seconds: number;
}>("request-finished");

/** A job that ran to its end or threw. */
export const jobFinished = signal<{
  readonly queue: string;
  readonly result: "success" | "failure";
  readonly seconds: number;
}>("job-finished");

/** An upload that has reached its last state. */
export const uploadFinished = signal<{
  readonly mediaType: string;
  readonly result: "success" | "failure";
  readonly isAutomatic: boolean;
  /** Null after success. */
  readonly failure: {
    readonly uploadId: string;
    /** The status in which it failed. */
    readonly stage: string;
    readonly reason: string;
    readonly detail: string | null;
    readonly bytes: number | null;
    readonly container: string | null;
  } | null;
  /** From the arrival of the file, or the creation of an upload without one. */
  readonly seconds: number;
}>("upload-finished");

/** Something that a recording or a clip is shown with, and is complete without, could not be created. */
export const companionFailed = signal<{
  readonly recordingId: string;
  readonly clipId?: string | undefined;
  readonly companion: "waveform" | "thumbnail" | "storyboard" | "speakers" | "all";
  readonly detail: string;
}>("companion-failed");

/** An attempt to transcribe or to summarize a recording. `error` is retried, `failure` is not. */
export const modelAttempted = signal<{
  readonly model: "transcription" | "language_model";
  readonly result: "success" | "error" | "failure";
}>("model-attempted");

/** A saved result of a delivery. */
export const deliveryResult = signal<{
  readonly result: "delivered" | "retry" | "exhausted" | "gone" | "withheld";
  /** Of the request; null if none was sent. */
  readonly seconds: number | null;
}>("delivery-result");

/** A time during which the process could do nothing else. */
export const eventLoopBlocked = signal<{ readonly seconds: number }>("event-loop-blocked");
