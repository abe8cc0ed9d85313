import assert from "node:assert/strict";
import { test } from "node:test";
import { isAllowedAddress, parseRanges } from "./address-ranges.ts";

const none = parseRanges("");

test("IP addresses: public ones are allowed", () => {
  for (const address of [
    "1.1.1.1",
    "8.8.8.8",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.1",
    "168.63.129.15",
    "169.253.255.255",
    "172.15.255.255",
    "172.32.0.0",
    "192.0.1.0",
    "192.167.255.255",
    "192.169.0.0",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "2606:4700:4700::1111",
    "2001:4860:4860::8888",
    "2001:200::1",
    "2a00:1450:4001:80b::200e",
    "3fff:1000::1",
    "::ffff:8.8.8.8",
    "::ffff:808:808",
    "64:ff9b::8.8.8.8",
    "2a00:1450::5efe:8.8.8.8",
  ])
    assert.equal(isAllowedAddress(address, none), true, address);
});

test("IP addresses: everything but globally reachable unicast is refused", () => {
  for (const address of [
    ...["0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255", "127.0.0.1"],
    ...["127.255.255.254", "169.254.0.1", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.0.192"],
    ...["192.0.2.1", "192.88.99.1", "192.168.0.1", "198.18.0.1", "198.19.255.255", "198.51.100.1"],
    ...["203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255"],
    // Metadata of clouds.
    ...["169.254.169.254", "169.254.170.2", "100.100.100.200", "168.63.129.16", "fd00:ec2::254"],
    // IPv6 outside 2000::/3.
    ...[
      "::",
      "::1",
      "100::1",
      "fc00::1",
      "fd12:3456::1",
      "fe80::1",
      "fec0::1",
      "ff02::1",
      "4000::1",
      "5f00::1",
    ],
    // Special within it.
    ...[
      "2001::1",
      "2001:0:4136:e378:8000:63bf:3fff:fdd2",
      "2001:2::1",
      "2001:10::1",
      "2001:20::1",
      "2001:30::1",
    ],
    ...["2001:db8::1", "3fff::1", "3fff:fff::1"],
    // IPv4 in other forms.
    ...[
      "::ffff:127.0.0.1",
      "::ffff:7f00:1",
      "::ffff:10.0.0.1",
      "::ffff:a9fe:a9fe",
      "0:0:0:0:0:FFFF:7F00:0001",
    ],
    ...["::127.0.0.1", "::10.0.0.1", "::8.8.8.8", "::ffff:0:127.0.0.1", "::ffff:0:8.8.8.8"],
    ...["2002:7f00:1::", "2002:a9fe:a9fe::1", "2002:808:808::1"],
    ...["64:ff9b::127.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "64:ff9b:1::8.8.8.8"],
    ...["2a00:1450::5efe:127.0.0.1", "2a00:1450::200:5efe:10.0.0.1"],
  ])
    assert.equal(isAllowedAddress(address, none), false, address);
});

test("IP addresses: unusual notations are refused, in an allowed range too", () => {
  const everything = parseRanges("0.0.0.0/0,::/0");
  for (const address of [
    ...[
      "",
      " ",
      "localhost",
      "none",
      "1.2.3",
      "127.1",
      "2130706433",
      "0x7f.0.0.1",
      "0177.0.0.1",
      "127.0.0.01",
    ],
    ...[
      "1.2.3.4 ",
      "1.2.3.4:80",
      "1.2.3.4/32",
      "256.1.1.1",
      "[::1]",
      "::1%lo",
      "fe80::1%eth0",
      ":::",
      "1::2::3",
    ],
    ...["１.1.1.1", "8.8.8.8\0", "2606:4700::1%25eth0"],
  ])
    assert.equal(isAllowedAddress(address, everything), false, JSON.stringify(address));
});

test("IP addresses: an allowed range allows its addresses in every form, and no others", () => {
  const ranges = parseRanges("127.0.0.0/8, 10.1.2.3,fd00::/8");
  for (const address of [
    ...["127.0.0.1", "127.255.0.1", "::ffff:127.0.0.1", "::ffff:7f00:1", "10.1.2.3", "::ffff:10.1.2.3"],
    ...["fd00::1", "fdff::1", "8.8.8.8", "64:ff9b::10.1.2.3"],
  ])
    assert.equal(isAllowedAddress(address, ranges), true, address);
  for (const address of [
    "10.1.2.2",
    "10.1.2.4",
    "fc00::1",
    "::1",
    "169.254.169.254",
    "::127.0.0.1",
    "2002:7f00:1::",
  ])
    assert.equal(isAllowedAddress(address, ranges), false, address);
});

test("IP addresses: a range of mapped addresses is an IPv4 range", () => {
  const ranges = parseRanges("::ffff:10.0.0.0/104");
  assert.equal(isAllowedAddress("10.200.0.1", ranges), true);
  assert.equal(isAllowedAddress("::ffff:10.200.0.1", ranges), true);
  assert.equal(isAllowedAddress("192.168.0.1", ranges), false);
});

test("ranges: commas, spaces and addresses with bits after the prefix are accepted", () => {
  assert.deepEqual(parseRanges(""), []);
  assert.deepEqual(parseRanges(" , "), []);
  assert.equal(parseRanges("10.0.0.0/8,,::1,").length, 2);
  assert.equal(isAllowedAddress("10.200.3.4", parseRanges("10.1.2.3/8")), true);
  assert.equal(isAllowedAddress("192.168.0.1", parseRanges("0.0.0.0/0")), true);
});

test("ranges: the error names the invalid part", () => {
  for (const [text, message] of [
    ["localhost", /"localhost" is not an IP address or CIDR range/],
    ["127.0.0.1,10.0.0.0/33", /"10.0.0.0\/33" is not a CIDR range: its prefix has more than 32 bits/],
    ["fd00::/129", /more than 128 bits/],
    ["10.0.0.0/", /not an IP address/],
    ["10.0.0.0/-1", /not an IP address/],
    ["10.0.0.0/8/8", /not an IP address/],
    ["10.0.0.0/255.0.0.0", /not an IP address/],
    ["10/8", /not an IP address/],
    ["0x7f.0.0.1", /not an IP address/],
    ["fe80::1%eth0", /not an IP address/],
    ["*", /not an IP address/],
  ] as const)
    assert.throws(() => parseRanges(text), { message }, text);
});
