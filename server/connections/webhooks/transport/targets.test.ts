import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { after, test } from "node:test";
import { redirect, startHookReceiver } from "../../../../test/support/hook-receiver.ts";
import { parseRanges } from "../../../platform/outbound/address-ranges.ts";
import type { HookLookup } from "../../../platform/outbound/guarded-connect.ts";
import { createHookSender, type HookResponse } from "./send.ts";

/** An internal server that must never be reached; it listens wherever the hostile URLs lead. */
const inside = await startHookReceiver();

/** A lookup that knows only these host names. */
function names(known: Readonly<Record<string, readonly string[]>>): HookLookup {
  return async (hostname) => {
    const addresses = known[hostname];
    if (addresses === undefined) throw Object.assign(new Error(`who is ${hostname}`), { code: "ENOTFOUND" });
    return addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  };
}

/** Sends one request with a sender of its own. */
async function sendTo(url: string, lookup?: HookLookup, allow = ""): Promise<HookResponse> {
  const sender = createHookSender({ allowAddresses: parseRanges(allow), timeoutMs: 5000, lookup });
  try {
    return await sender.send({ url, headers: {}, body: "{}" });
  } finally {
    await sender.close();
    assert.equal(sender.connections(), 0);
  }
}

test("target: an internal IP address is refused in every notation, before any connection is opened", async () => {
  const { port } = inside;
  const connectionsBefore = inside.connections().ever;
  for (const [host, address] of [
    ["127.0.0.1", "127.0.0.1"],
    ["127.1", "127.0.0.1"],
    ["127.0.1", "127.0.0.1"],
    ["127.0.0.1.", "127.0.0.1"],
    ["127.255.255.254", "127.255.255.254"],
    ["2130706433", "127.0.0.1"],
    ["0x7f000001", "127.0.0.1"],
    ["0x7F.0x0.0x0.0x1", "127.0.0.1"],
    ["0177.0.0.01", "127.0.0.1"],
    ["017700000001", "127.0.0.1"],
    ["%31%32%37.0.0.1", "127.0.0.1"],
    ["１２７.０.０.１", "127.0.0.1"],
    ["①②⑦.⓪.⓪.①", "127.0.0.1"],
    ["127。0。0。1", "127.0.0.1"],
    ["0", "0.0.0.0"],
    ["0.0.0.0", "0.0.0.0"],
    ["10.0.0.1", "10.0.0.1"],
    ["172.16.0.1", "172.16.0.1"],
    ["192.168.1.1", "192.168.1.1"],
    ["100.64.0.1", "100.64.0.1"],
    ["169.254.169.254", "169.254.169.254"],
    ["0xa9fea9fe", "169.254.169.254"],
    ["2852039166", "169.254.169.254"],
    ["100.100.100.200", "100.100.100.200"],
    ["168.63.129.16", "168.63.129.16"],
    ["255.255.255.255", "255.255.255.255"],
    ["224.0.0.1", "224.0.0.1"],
    ["[::]", "::"],
    ["[::1]", "::1"],
    ["[0:0:0:0:0:0:0:1]", "::1"],
    ["[::ffff:127.0.0.1]", "::ffff:7f00:1"],
    ["[::FFFF:7F00:1]", "::ffff:7f00:1"],
    ["[0:0:0:0:0:ffff:10.0.0.1]", "::ffff:a00:1"],
    ["[::127.0.0.1]", "::7f00:1"],
    ["[64:ff9b::127.0.0.1]", "64:ff9b::7f00:1"],
    ["[64:ff9b:1::a00:1]", "64:ff9b:1::a00:1"],
    ["[2002:7f00:1::]", "2002:7f00:1::"],
    ["[2001:0:7f00:1::]", "2001:0:7f00:1::"],
    ["[2a00:1450::5efe:127.0.0.1]", "2a00:1450::5efe:7f00:1"],
    ["[fe80::1]", "fe80::1"],
    ["[fd00:ec2::254]", "fd00:ec2::254"],
    ["[ff02::1]", "ff02::1"],
  ] as const) {
    for (const scheme of ["http", "https"]) {
      const answer = await sendTo(`${scheme}://${host}:${port}/`);
      assert.equal(
        answer.error,
        `the IP address ${address} is not allowed: it is not public; the operator can allow it with PARLEY_HOOKS_ALLOW_ADDRESSES`,
        host,
      );
      assert.equal(answer.status, null);
    }
  }
  assert.equal(inside.connections().ever, connectionsBefore);
});

test("target: a URL that parsers read differently is refused without a lookup", async () => {
  let lookups = 0;
  const counting: HookLookup = async () => {
    lookups++;
    return [{ address: "127.0.0.1", family: 4 }];
  };
  for (const url of [
    `http://example.com@127.0.0.1:${inside.port}/`,
    `http://@127.0.0.1:${inside.port}/`,
    `http://example.com\\@127.0.0.1:${inside.port}/`,
    `http://127.0.0.1:${inside.port}\\@example.com/`,
    "http://[fe80::1%25lo]/",
    "http://example.com:25/",
    "ftp://example.com/",
    "file:///etc/passwd",
    "",
  ]) {
    const answer = await sendTo(url, counting, "0.0.0.0/0");
    assert.match(answer.error ?? "none", /^the URL must /, url);
  }
  assert.equal(lookups, 0);
});

test("target: a host name with an internal IP address is refused, even if it also has public ones", async () => {
  const lookup = names({
    "plain.test": ["127.0.0.1"],
    "six.test": ["::1"],
    "mapped.test": ["::ffff:127.0.0.1"],
    "mixed.test": ["93.184.215.14", "10.0.0.1"],
    "second.test": ["2606:4700::1111", "fd00::1"],
    "zone.test": ["fe80::1%eth0"],
    "odd.test": ["not an address"],
    "metadata.google.internal": ["169.254.169.254"],
    localhost: ["127.0.0.1", "::1"],
    "localhost.": ["127.0.0.1"],
    "deep.localhost": ["127.0.0.1"],
    "printer.local": ["192.168.1.20"],
  });
  const connectionsBefore = inside.connections().ever;
  for (const [host, address] of [
    ["plain.test", "127.0.0.1"],
    ["PLAIN.test", "127.0.0.1"],
    ["six.test", "::1"],
    ["mapped.test", "::ffff:127.0.0.1"],
    ["mixed.test", "10.0.0.1"],
    ["second.test", "fd00::1"],
    ["zone.test", "fe80::1%eth0"],
    ["odd.test", "not an address"],
    ["metadata.google.internal", "169.254.169.254"],
    ["localhost", "127.0.0.1"],
    ["localhost.", "127.0.0.1"],
    ["deep.localhost", "127.0.0.1"],
    ["printer.local", "192.168.1.20"],
  ] as const) {
    const answer = await sendTo(`http://${host}:${inside.port}/`, lookup);
    assert.equal(
      answer.error,
      `the IP address ${address} is not allowed: it is not public; the operator can allow it with PARLEY_HOOKS_ALLOW_ADDRESSES`,
      host,
    );
  }
  assert.equal(inside.connections().ever, connectionsBefore);
});

test("target: the system's own lookup is checked too", async () => {
  const answer = await sendTo(`http://localhost:${inside.port}/`);
  assert.match(
    answer.error ?? "none",
    /^the IP address (127\.0\.0\.1|::1) is not allowed: .*PARLEY_HOOKS_ALLOW_ADDRESSES$/,
  );
});

test("target: unknown host names and refused ones have different errors", async () => {
  const lookup = names({ "empty.test": [] });
  assert.equal((await sendTo("http://who.test/", lookup)).error, "the host name does not exist");
  assert.equal(
    (await sendTo("http://empty.test/", lookup)).error,
    "the host name empty.test has no IP address",
  );
});

test("rebinding: the connection uses the IP address that was checked, even if the host name has changed", async () => {
  const outside = await startHookReceiver({ address: "127.0.0.1" });
  const trap = await startHookReceiver({ address: "127.0.0.2", port: outside.port });
  let lookups = 0;
  const rebinding: HookLookup = async () => [
    { address: lookups++ === 0 ? "127.0.0.1" : "127.0.0.2", family: 4 },
  ];
  const sender = createHookSender({ allowAddresses: parseRanges("127.0.0.1"), lookup: rebinding });
  after(() => sender.close());
  const send = () => sender.send({ url: `http://rebind.test:${outside.port}/`, headers: {}, body: "{}" });
  assert.equal((await send()).status, 200);
  assert.equal(lookups, 1);
  await sender.close();
  assert.equal(outside.requests[0]?.headers.host, `rebind.test:${outside.port}`);
  assert.equal(
    (await sendTo(`http://rebind.test:${outside.port}/`, rebinding, "127.0.0.1")).error,
    "the IP address 127.0.0.2 is not allowed: it is not public; the operator can allow it with PARLEY_HOOKS_ALLOW_ADDRESSES",
  );
  assert.equal(trap.connections().ever, 0);
});

test("rebinding: a socket connected to another IP address is closed before a byte is sent", async () => {
  const outside = await startHookReceiver({ address: "127.0.0.1" });
  const trap = await startHookReceiver({ address: "127.0.0.2", port: outside.port });
  // The lookup returns another IP address than was checked: only the socket itself shows it.
  let reads = 0;
  const shifting = {
    family: 4,
    get address() {
      return reads++ === 0 ? "127.0.0.1" : "127.0.0.2";
    },
  };
  const answer = await sendTo(`http://shift.test:${outside.port}/`, async () => [shifting], "127.0.0.1");
  assert.equal(
    answer.error,
    "the IP address 127.0.0.2 is not allowed: it is not public; the operator can allow it with PARLEY_HOOKS_ALLOW_ADDRESSES",
  );
  assert.equal(trap.requests.length, 0);
});

test("target: of several allowed IP addresses the reachable one is used", async () => {
  const receiver = await startHookReceiver({ address: "127.0.0.1" });
  const lookup = names({ "two.test": ["127.0.0.3", "127.0.0.1"] });
  const answer = await sendTo(`http://two.test:${receiver.port}/`, lookup, "127.0.0.0/8");
  assert.equal(answer.status, 200);
  const nobody = await sendTo("http://two.test:9/", lookup, "127.0.0.0/8");
  assert.match(nobody.error ?? "none", /port 9/);
  await receiver.close();
  const refused = await sendTo(`http://two.test:${receiver.port}/`, lookup, "127.0.0.0/8");
  assert.equal(refused.error, "the connection was refused");
});

test("redirect: never followed; the error names its target", async () => {
  const receiver = await startHookReceiver();
  const before = inside.connections().ever;
  for (const code of [301, 302, 303, 307, 308]) {
    receiver.script(redirect(`${inside.url}/private`, code));
    const answer = await sendTo(receiver.url, undefined, "127.0.0.0/8");
    assert.equal(answer.ok, false);
    assert.equal(answer.status, code);
    assert.equal(
      answer.error,
      `the response was a redirect (${code}), which is not followed, to ${inside.url}/private`,
    );
  }
  receiver.script(redirect(`http://169.254.169.254/${"x".repeat(5000)}`));
  const answer = await sendTo(receiver.url, undefined, "127.0.0.0/8");
  assert.ok((answer.error ?? "").length < 300);
  assert.equal(inside.connections().ever, before);
  assert.equal(receiver.requests.length, 6);
});

test("proxy: environment variables have no effect", async () => {
  const receiver = await startHookReceiver();
  const proxy = await startHookReceiver();
  const script = `
    const { createHookSender } = await import(${JSON.stringify(new URL("./send.ts", import.meta.url).href)});
    const { parseRanges } = await import(${JSON.stringify(new URL("../../../platform/outbound/address-ranges.ts", import.meta.url).href)});
    const sender = createHookSender({ allowAddresses: parseRanges(process.argv[2]) });
    const answer = await sender.send({ url: process.argv[1], headers: {}, body: "{}" });
    await sender.close();
    process.stdout.write(JSON.stringify(answer));`;
  const run = async (allow: string): Promise<HookResponse> => {
    const variables = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
    const child = spawn(process.execPath, ["--input-type=module", "-e", script, receiver.url, allow], {
      stdio: ["ignore", "pipe", "inherit"],
      env: {
        ...process.env,
        ...Object.fromEntries(variables.map((name) => [name, proxy.url])),
        NO_PROXY: "",
        no_proxy: "",
        NODE_USE_ENV_PROXY: "1",
        NODE_TLS_REJECT_UNAUTHORIZED: "1",
      },
    });
    let output = "";
    for await (const part of child.stdout) output += part;
    return JSON.parse(output) as HookResponse;
  };
  assert.equal((await run("127.0.0.1")).status, 200);
  // Also for refused targets: a proxy must not bypass the check.
  assert.equal(
    (await run("")).error,
    "the IP address 127.0.0.1 is not allowed: it is not public; the operator can allow it with PARLEY_HOOKS_ALLOW_ADDRESSES",
  );
  assert.equal(receiver.requests.length, 1);
  assert.equal(proxy.connections().ever, 0);
});
