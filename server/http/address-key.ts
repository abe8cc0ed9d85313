import ipaddr from "ipaddr.js";

/**
 * As whom an address counts when requests are counted: IPv6 by its /64, since whoever has one address of it has all;
 * IPv4 written as IPv6 as what it is. What is no address counts as it is written.
 */
export function addressKey(ip: string): string {
  if (!ipaddr.isValid(ip)) return ip.slice(0, 100);
  const address = ipaddr.process(ip);
  if (address.kind() === "ipv4") return address.toString();
  const parts = (address as ipaddr.IPv6).parts.slice(0, 4).map((part) => part.toString(16));
  return `${parts.join(":")}::/64`;
}
