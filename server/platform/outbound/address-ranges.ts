import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/**
 * The IP addresses that webhooks may be sent to. A hook's URL comes from a user and the request from inside the operator's
 * network, so an internal IP address would give users access to that network (SSRF). An IP address must be globally reachable
 * unicast, by the IANA special-purpose registries (RFC 6890), or in a range that the operator allows
 * (`PARLEY_HOOKS_ALLOW_ADDRESSES`).
 */

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** The IP addresses that share their first bits. */
interface AddressRange {
  readonly base: Address;
  readonly prefixBits: number;
}

export type AddressRanges = readonly AddressRange[];

/** IPv4 ranges that are not public. */
const refusedIpv4 = rangesOf(
  "0.0.0.0/8", // this network, unspecified (RFC 791)
  "10.0.0.0/8", // private (RFC 1918)
  "100.64.0.0/10", // carrier-grade NAT (RFC 6598); metadata of Alibaba Cloud is 100.100.100.200
  "127.0.0.0/8", // loopback (RFC 1122)
  "168.63.129.16/32", // Azure's host agent: public, but served by the virtual machine's host
  "169.254.0.0/16", // link-local (RFC 3927); metadata of most clouds is 169.254.169.254
  "172.16.0.0/12", // private (RFC 1918)
  "192.0.0.0/24", // protocol assignments (RFC 6890); metadata of Oracle Cloud is 192.0.0.192
  "192.0.2.0/24", // documentation (RFC 5737)
  "192.88.99.0/24", // 6to4 relays (RFC 7526)
  "192.168.0.0/16", // private (RFC 1918)
  "198.18.0.0/15", // benchmarks (RFC 2544)
  "198.51.100.0/24", // documentation (RFC 5737)
  "203.0.113.0/24", // documentation (RFC 5737)
  "224.0.0.0/4", // multicast (RFC 5771)
  "240.0.0.0/4", // reserved, and broadcast (RFC 1112, RFC 919)
);

/** The only IPv6 range assigned as global unicast (RFC 4291); the metadata of AWS, fd00:ec2::254, is outside. */
const globalIpv6 = rangesOf("2000::/3");

/** The ranges of it that are not public. */
const refusedIpv6 = rangesOf(
  "2001::/23", // protocol assignments: Teredo, benchmarks, ORCHID, drone tags (RFC 2928)
  "2001:db8::/32", // documentation (RFC 3849)
  "2002::/16", // 6to4: a tunnel to the IPv4 in it (RFC 7526 has retired it)
  "3fff::/20", // documentation (RFC 9637)
);

/** IPv4 as IPv6 (RFC 4291, 2.5.5.2). Sockets treat both forms alike. */
const mappedIpv4 = rangesOf("::ffff:0:0/96");

/** IPv4 behind the gateway of an IPv6-only network (RFC 6052). */
const translatedIpv4 = rangesOf("64:ff9b::/96");

/**
 * Parses the setting `PARLEY_HOOKS_ALLOW_ADDRESSES`: comma-separated IP addresses and CIDR ranges of both families, as in
 * "127.0.0.0/8,10.1.2.3,fd00::/8". An empty string is no ranges.
 * @throws Error that names the invalid part.
 */
export function parseRanges(text: string): AddressRanges {
  const parts = text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
  return rangesOf(...parts).map(asIpv4);
}

/** The ranges of the settings, also after a change. */
export function allowedRanges(config: { readonly hooksAllowAddresses: string }): () => AddressRanges {
  let last: { readonly text: string; readonly ranges: AddressRanges } | undefined;
  return () => {
    const text = config.hooksAllowAddresses;
    if (last?.text !== text) last = { text, ranges: parseRanges(text) };
    return last.ranges;
  };
}

/** Mapped IPv6 addresses are checked as IPv4, so a range of them becomes an IPv4 range. */
function asIpv4(range: AddressRange): AddressRange {
  const { base, prefixBits } = range;
  if (prefixBits < 96 || !isIn(base, mappedIpv4)) return range;
  return { base: lastFourBytes(base), prefixBits: prefixBits - 96 };
}

/**
 * Whether a connection to this IP address is allowed: it is public, or in an allowed range. Unusual notations are refused, and
 * so are addresses with a zone (`fe80::1%eth0`), which are link-local.
 */
export function isAllowedAddress(address: string, allowed: AddressRanges): boolean {
  const parsed = parseAddress(address);
  return parsed !== null && isAllowed(parsed, allowed);
}

/** Whether an IP address is in one of the ranges; a mapped one counts as IPv4, and one with a zone is in none. */
export function isInRanges(address: string, ranges: AddressRanges): boolean {
  const parsed = parseAddress(address);
  if (parsed === null) return false;
  return isIn(isIn(parsed, mappedIpv4) ? lastFourBytes(parsed) : parsed, ranges);
}

function isAllowed(address: Address, allowed: AddressRanges): boolean {
  if (isIn(address, allowed)) return true;
  if (address.kind() === "ipv4") return !isIn(address, refusedIpv4);
  if (isIn(address, mappedIpv4) || isIn(address, translatedIpv4))
    return isAllowed(lastFourBytes(address), allowed);
  if (!isIn(address, globalIpv6) || isIn(address, refusedIpv6)) return false;
  return !isIsatap(address) || isAllowed(lastFourBytes(address), allowed);
}

/** RFC 5214: for an interface id of ::5efe:a.b.c.d, a router tunnels to that IPv4 address. */
function isIsatap(address: Address): boolean {
  const [first, second] = (address as ipaddr.IPv6).parts.slice(4, 6);
  return (first === 0 || first === 0x0200) && second === 0x5efe;
}

function lastFourBytes(address: Address): Address {
  return new ipaddr.IPv4(address.toByteArray().slice(-4));
}

function isIn(address: Address, ranges: AddressRanges): boolean {
  return ranges.some(
    ({ base, prefixBits }) => base.kind() === address.kind() && address.match(base, prefixBits),
  );
}

/**
 * `isIP` first: ipaddr.js also accepts notations of old libraries (`127.1`, `0x7f000001`, `0177.0.0.1`). It also reads
 * `::1.2.3.4` as `::ffff:1.2.3.4`, so IPv6 that ends in IPv4 goes through the URL parser, which normalizes it to hex.
 */
function parseAddress(text: string): Address | null {
  const family = isIP(text);
  if (family === 0 || text.includes("%")) return null;
  const isMixed = family === 6 && text.includes(".");
  return ipaddr.parse(isMixed ? new URL(`http://[${text}]`).hostname.slice(1, -1) : text);
}

function rangesOf(...texts: readonly string[]): AddressRange[] {
  return texts.map(rangeOf);
}

function rangeOf(text: string): AddressRange {
  const [, address = "", bits] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const base = parseAddress(address);
  if (base === null) throw new Error(`"${text}" is not an IP address or CIDR range`);
  const width = base.kind() === "ipv4" ? 32 : 128;
  const prefixBits = bits === undefined ? width : Number(bits);
  if (prefixBits > width)
    throw new Error(`"${text}" is not a CIDR range: its prefix has more than ${width} bits`);
  return { base, prefixBits };
}
