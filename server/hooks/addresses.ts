import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/**
 * Which addresses hooks may be sent to. A hook's URL comes from a user, the request comes from inside the operator's
 * network: whoever can name an address there could reach what is reachable from here (SSRF). So an address has to be
 * globally reachable unicast, as the IANA special-purpose registries (RFC 6890) have it, or lie in a range that the
 * operator allows (`PARLEY_HOOKS_ALLOW_ADDRESSES`).
 */

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** A range of addresses: those that share its first bits. */
interface AddressRange {
  readonly base: Address;
  readonly prefixBits: number;
}

export type AddressRanges = readonly AddressRange[];

/** IPv4 that no receiver of hooks has. */
const refusedIpv4 = rangesOf(
  "0.0.0.0/8", // this network, unspecified (RFC 791)
  "10.0.0.0/8", // private (RFC 1918)
  "100.64.0.0/10", // carrier-grade NAT (RFC 6598); metadata of Alibaba Cloud is 100.100.100.200
  "127.0.0.0/8", // loopback (RFC 1122)
  "168.63.129.16/32", // Azure's host agent: a public number, but answered by the host of the virtual machine
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

/** The only IPv6 that is handed out as global unicast (RFC 4291); metadata of AWS, fd00:ec2::254, lies outside. */
const globalIpv6 = rangesOf("2000::/3");

/** What in there is not. */
const refusedIpv6 = rangesOf(
  "2001::/23", // protocol assignments: Teredo, benchmarks, ORCHID, drone tags (RFC 2928)
  "2001:db8::/32", // documentation (RFC 3849)
  "2002::/16", // 6to4: a tunnel to the IPv4 in it (RFC 7526 has retired it)
  "3fff::/20", // documentation (RFC 9637)
);

/** IPv4 written as IPv6 (RFC 4291, 2.5.5.2). Sockets treat both forms alike. */
const mappedIpv4 = rangesOf("::ffff:0:0/96");

/** IPv4 behind the gateway of a network that has only IPv6 (RFC 6052). */
const translatedIpv4 = rangesOf("64:ff9b::/96");

/**
 * Reads the setting `PARLEY_HOOKS_ALLOW_ADDRESSES`: addresses and CIDR ranges of both families, with commas between,
 * as in "127.0.0.0/8,10.1.2.3,fd00::/8". Nothing at all is no range.
 * @throws Error naming the part that is neither.
 */
export function parseRanges(text: string): AddressRanges {
  const parts = text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
  return rangesOf(...parts).map(asIpv4);
}

/** An address of the mapped form is judged by its IPv4, so a range of such addresses has to be one of IPv4. */
function asIpv4(range: AddressRange): AddressRange {
  const { base, prefixBits } = range;
  if (prefixBits < 96 || !isIn(base, mappedIpv4)) return range;
  return { base: lastFourBytes(base), prefixBits: prefixBits - 96 };
}

/**
 * Whether a connection to this address may be made: it is public, or in a range that is allowed. What cannot be read
 * as an address in its usual notation is refused, and so is one with a zone (`fe80::1%eth0`), which is link-local.
 */
export function isAllowedAddress(address: string, allowed: AddressRanges): boolean {
  const parsed = parseAddress(address);
  return parsed !== null && isAllowed(parsed, allowed);
}

function isAllowed(address: Address, allowed: AddressRanges): boolean {
  if (isIn(address, allowed)) return true;
  if (address.kind() === "ipv4") return !isIn(address, refusedIpv4);
  if (isIn(address, mappedIpv4) || isIn(address, translatedIpv4))
    return isAllowed(lastFourBytes(address), allowed);
  if (!isIn(address, globalIpv6) || isIn(address, refusedIpv6)) return false;
  return !isIsatap(address) || isAllowed(lastFourBytes(address), allowed);
}

/** RFC 5214: a router tunnels to the IPv4 at the end of an address whose interface is ::5efe:a.b.c.d. */
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
 * `isIP` first: ipaddr.js also reads what only old libraries understand (`127.1`, `0x7f000001`, `0177.0.0.1`). It takes
 * `::1.2.3.4` for `::ffff:1.2.3.4` too, so IPv6 that ends in IPv4 goes through the URL parser, which writes hex.
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
  if (base === null) throw new Error(`"${text}" is neither an address nor a range of addresses`);
  const width = base.kind() === "ipv4" ? 32 : 128;
  const prefixBits = bits === undefined ? width : Number(bits);
  if (prefixBits > width) throw new Error(`"${text}" is no range: at most ${width} bits can be fixed`);
  return { base, prefixBits };
}
