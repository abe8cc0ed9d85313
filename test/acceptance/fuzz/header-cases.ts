import { METHODS } from "node:http";
import { correctCall, type Generator } from "./calls.ts";
import { extraHeaders, type Header } from "./extra-headers.ts";
import { write } from "./json.ts";
import { request } from "./request.ts";

/** The headers with one name removed or replaced. */
const without = (headers: readonly Header[], name: string, ...instead: readonly Header[]): Header[] => [
  ...headers.filter(([other]) => other !== name),
  ...instead,
];

/** Invalid Authorization headers. */
export const badAuthorization: Generator = (context, random) => {
  const target = random.pick(context.targets.filter((candidate) => candidate.id !== "token"));
  const call = correctCall(context, random, target);
  const token = context.world.tokens.admin;
  const changed = token.slice(0, -1) + (token.endsWith("A") ? "B" : "A");
  const value = random.pick([
    "",
    "Bearer",
    "Bearer ",
    token,
    `Basic ${Buffer.from(`admin:${token}`).toString("base64")}`,
    `Bearer ${changed}`,
    `Bearer ${token}x`,
    `Bearer ${token} ${token}`,
    `Bearer ${token}, Bearer ${token}`,
    `Bearer  ${changed}`,
    `Bearer\t${token}`,
    `Bearer:${token}`,
    `Bearer "${token}"`,
    `Bearer ${token.toUpperCase()}`,
    `Bearer ${token.replace("parley_pat", "parley_wat")}`,
    `Bearer ${"A".repeat(15_000)}`,
    "Bearer \xff\xfe\x80",
    `Token ${token}`,
    `Digest username="admin", response="${token}"`,
    "Bearer null",
    "Bearer ' or 1=1 --",
    `Bearer parley_pat_${"_".repeat(43)}`,
  ]);
  const headers = without(call.headers, "Authorization", ["Authorization", value]);
  return request("bad authorization", { ...call, headers }, { expects: "4xx" });
};

/** Targets with a version: not the token endpoint and not the management API. */
function isVersioned({ path }: { readonly path: string }): boolean {
  return path.startsWith("/_/public-api/v2/");
}

/** The version header missing, duplicated or misspelled. */
export const badVersion: Generator = (context, random) => {
  const target = random.pick(context.targets.filter(isVersioned));
  const call = correctCall(context, random, target);
  const name = "Public-Api-Version";
  const instead: Header[] = random.pick<Header[]>([
    [],
    [[name, ""]],
    [[name, "2026-10-02"]],
    [[name, "2026-10-01, 2026-10-01"]],
    [
      [name, "2026-10-01"],
      [name, "2025-10-31"],
    ],
    [[name, "__proto__"]],
    [[name, "constructor"]],
    [[name, "latest"]],
    [[name, "\xe9\x80"]],
    [[name, "2".repeat(10_000)]],
    [["Public_Api_Version", "2026-10-01"]],
  ]);
  return request(
    "bad version",
    { ...call, headers: without(call.headers, name, ...instead) },
    { expects: "4xx" },
  );
};

/** Reads must work with any Content-Type (design, "Bodies, what real clients send"). */
export const oddContentType: Generator = (context, random) => {
  const target = random.pick(
    context.targets.filter((candidate) => candidate.isRead && candidate.method === "POST"),
  );
  const call = correctCall(context, random, target);
  const values = [
    "text/plain",
    "text/html; charset=utf-16",
    "application/xml",
    "application/x-www-form-urlencoded",
    "multipart/form-data",
    "multipart/form-data; boundary=----x",
    "application/json; charset=latin1",
    "application/json; charset=utf-8; charset=utf-8",
    "application/json;",
    "application/json, text/plain",
    "APPLICATION/JSON",
    "application/vnd.api+json",
    "json",
    "*/*",
    "/",
    ";;;",
    "application/",
    "undefined",
    "",
    "application/json\xff",
    `application/${"x".repeat(9000)}`,
  ];
  const instead: Header[] = random.chance(0.1) ? [] : [["Content-Type", random.pick(values)]];
  const isOk = target.versions.includes("2026-10-01");
  const headers = without(without(call.headers, "Content-Type", ...instead), "Public-Api-Version", [
    "Public-Api-Version",
    isOk ? "2026-10-01" : "2025-10-31",
  ]);
  const body = Buffer.from(write(random.chance(0.3) ? {} : (target.sample ?? {})));
  // List Hooks may return 404 here.
  const expects = target.id === "listHooks" ? "any" : "2xx";
  return request("odd content type", { ...call, headers, body }, { expects, target });
};

/** Too many, too long, repeated or foreign headers. */
export const oddHeaders: Generator = (context, random) => {
  const target = random.pick(context.targets);
  const call = correctCall(context, random, target);
  const more = random.pick(extraHeaders)(random);
  const isFirst = random.chance(0.5);
  const headers = isFirst ? [...more, ...call.headers] : [...call.headers, ...more];
  // Requests after an upgrade have their own test.
  const ending = more.some(([name]) => name === "Upgrade") ? "close" : "keep";
  return request("odd headers", { ...call, headers }, { ending });
};

/** Methods that the path does not have, and all methods of Node except CONNECT. */
export const oddMethod: Generator = (context, random) => {
  const target = random.pick(context.targets);
  const call = correctCall(context, random, target);
  const method = random.pick(METHODS.filter((name) => name !== "CONNECT"));
  const path = random.chance(0.2)
    ? random.pick(["*", "/", "/docs", "/nothing", "/openapi/2026-10-01.json"])
    : call.path;
  return request("odd method", { ...call, method, path });
};
