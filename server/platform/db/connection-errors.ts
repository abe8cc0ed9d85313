import { StoreError } from "../storage/store.ts";
import { readOnlyDatabase } from "./client.ts";

/** What sockets and the lookup of names report while a database moves. */
const networkErrors: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOENT",
  "EPIPE",
  "ETIMEDOUT",
]);

/**
 * Whether an error means that PostgreSQL could not be reached or went away, so that a retry makes sense. Errors of a file
 * store and of files (`path`) can have the same codes.
 */
export function isConnectionError(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof StoreError || "path" in error) return false;
  const code = (error as { code?: unknown }).code;
  if (typeof code === "string") {
    // Class 08: connection exception; 57P0x: the server shuts down, crashed or starts; 53300: too many connections.
    if (/^08/.test(code) || /^57P0[1-5]$/.test(code) || code === "53300") return true;
    // A standby: the primary moved, and this connection does not lead to it.
    if (code === readOnlyDatabase || networkErrors.has(code)) return true;
  }
  return /Connection terminated|Query read timeout|timeout exceeded when trying to connect|Client has encountered a connection error/.test(
    error.message,
  );
}
