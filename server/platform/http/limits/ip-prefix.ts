import ipaddr from "ipaddr.js";

/**
 * The prefix by which a client is counted: the IPv4 address, or the /64 of an IPv6 address, because one subscriber has
 * the whole /64. IPv4-mapped IPv6 addresses count as IPv4. Text that is not an IP address is returned as it is.
 */
export function ipPrefixOf(ip: string): string {
  if (!ipaddr.isValid(ip)) return ip.slice(0, 100);
  const address = ipaddr.process(ip);
  if (address.kind() === "ipv4") return address.toString();
  const parts = (address as ipaddr.IPv6).parts.slice(0, 4).map((part) => part.toString(16));
  return `${parts.join(":")}::/64`;
}
