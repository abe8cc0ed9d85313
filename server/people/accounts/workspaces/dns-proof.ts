import { Resolver } from "node:dns/promises";
import { setTimeout as wait } from "node:timers/promises";

/** What a lookup found. `unreachable`: no DNS server responded, so nothing is known. */
export type DnsProof = "found" | "missing" | "unreachable";

/** Slow enough for a cold cache, fast enough for a person who waits. */
const timeoutMs = 8000;

/** Errors that mean that the name has no such record; every other error leaves that open. */
const absent = new Set(["ENODATA", "ENOTFOUND"]);

/**
 * Looks up whether a name has a TXT record with this value.
 * @param servers IP addresses with an optional port to ask; none: those of the system.
 */
export async function lookUpTxt(
  record: { readonly name: string; readonly value: string },
  servers: readonly string[],
): Promise<DnsProof> {
  const resolver = new Resolver({ timeout: 2000, tries: 2 });
  if (servers.length > 0) resolver.setServers([...servers]);
  const done = new AbortController();
  try {
    const late = wait(timeoutMs, "unreachable" as const, { signal: done.signal });
    // Ending the wait is no failure of the lookup.
    late.catch(() => undefined);
    return await Promise.race([resolve(resolver, record), late]);
  } finally {
    done.abort();
    resolver.cancel();
  }
}

async function resolve(
  resolver: Resolver,
  { name, value }: { readonly name: string; readonly value: string },
): Promise<DnsProof> {
  try {
    const records = await resolver.resolveTxt(name);
    // A TXT record is a list of strings of at most 255 bytes that belong together.
    return records.some((parts) => parts.join("").trim() === value) ? "found" : "missing";
  } catch (error) {
    return absent.has((error as { code?: string }).code ?? "") ? "missing" : "unreachable";
  }
}
