import { sentences } from "../../../../contract/sentences.ts";
import { findNetworkReason } from "../../../platform/outbound/errors.ts";

/** What is known about a part of the installation, in words for an admin. */
export interface Finding {
  /** `off`: it is not set up. */
  readonly state: "ok" | "failing" | "off";
  readonly explanation: string;
  /** What to do about it; null unless something is wrong. */
  readonly remedy: string | null;
}

export const ok = (explanation: string): Finding => ({ state: "ok", explanation, remedy: null });

export const off = (explanation: string): Finding => ({ state: "off", explanation, remedy: null });

export const failing = (explanation: string, remedy: string): Finding => ({
  state: "failing",
  explanation: sentence(explanation),
  remedy,
});

/** Text as a sentence of at most 500 characters on one line. */
export function sentence(text: string): string {
  const line = text.replace(/\s+/g, " ").trim().slice(0, 500);
  return /[.!?]$/.test(line) ? capitalize(line) : `${capitalize(line)}.`;
}

/** Text with its first letter in upper case. */
export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/**
 * The message of an error; of one with several causes, such as a refused connection over IPv4 and IPv6, the first. A failed
 * connection is in words.
 */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") return reasonOf(error.errors[0]);
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TimeoutError") return sentences.check_no_response_in_time;
  const message = error.message || error.name;
  // Parley's own errors have no code, and are in words already.
  const words = "code" in error ? findNetworkReason(error) : null;
  if (words === null) return message;
  // OpenSSL's lines name its source files.
  return /:error:[0-9A-F]+:/.test(message) ? words : `${words} (${message})`;
}
