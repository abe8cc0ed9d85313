import { type Context, correctCall, type Generator, someCall, targetNamed } from "./calls.ts";
import { type Random, seeded } from "./random.ts";
import { type FuzzRequest, request } from "./request.ts";

const pages = [
  "/",
  "/docs",
  "/docs/errors",
  "/docs/migration",
  "/docs/2026-10-01",
  "/docs/assets/docs.css",
  "/openapi",
  "/openapi/2026-10-01.json",
  "/openapi/2025-10-31.json",
  "/healthz",
  "/readyz",
  "/nothing",
  "/_",
  "/_/public-api",
  "/_/public-api/v2",
  "/_/public-api/v2/nothing",
  "/_/public-api/v3/users",
  "/_/public-api/oauth2/authorize",
  "/_/api/v1/anything",
];

/** Replacements for path segments, without spaces, which would end the request line. */
const segments: readonly string[] = [
  "",
  ".",
  "..",
  "%2e%2e",
  "%2E%2e%2f%2e%2e",
  "..%2f..%2f..%2fetc%2fpasswd",
  "..%5c..",
  "%252e%252e",
  "%00",
  "a%00b",
  "%ff",
  "%c0%ae%c0%ae",
  "%ed%a0%80",
  "%f4%90%80%80",
  "%e2%82",
  "%",
  "%g0",
  "%2",
  "%u0041",
  "%20",
  "%0d%0aX-Injected:%20yes",
  "%7F%1b",
  "*",
  ":recording_id",
  "{recording_id}",
  "null",
  "undefined",
  "NaN",
  "__proto__",
  "constructor",
  "toString",
  "0198c2f4-7a31-7cc2-9d52-3f0f7f3c9a11",
  "0198C2F4-7A31-7CC2-9D52-3F0F7F3C9A11",
  "0198c2f4-7a31-7cc2-9d52-3f0f7f3c9a11%00",
  "0198c2f4-7a31-7cc2-9d52-3f0f7f3c9a1",
  "%30198c2f4-7a31-7cc2-9d52-3f0f7f3c9a11",
  "٠198c2f4-7a31-7cc2-9d52-3f0f7f3c9a11",
  "ünïcödé",
  "日本語-タグ",
  "%F0%9F%91%A8%E2%80%8D",
  "😀",
  "a;b=c",
  "a,b",
  "'--",
  '"',
  "<script>",
  "\\..\\..",
  "transcript.txt.vtt",
  "transcript.",
  "a".repeat(1000),
  "a".repeat(1001),
  "%41".repeat(900),
  "-".repeat(12_000),
  "b".repeat(40_000),
];

const queries = [
  "",
  "",
  "",
  "?",
  "?a=b",
  "?__proto__[x]=1&constructor=2",
  "?%",
  "?%ff=%00",
  "?a[]=1&a[b]=2&a=3",
  `?${"q=1&".repeat(2000)}`,
  `?${"q".repeat(14_000)}`,
  "#fragment",
  ";jsessionid=1?x",
];

/** Mutated paths of operations, with valid headers and body, and of pages. */
export const mutatedPath: Generator = (context, random) => {
  const isOperation = random.chance(0.75);
  const call = isOperation
    ? someCall(context, random, random.pick(context.targets))
    : {
        method: random.pick(["GET", "GET", "POST", "PUT", "DELETE", "HEAD"]),
        path: random.pick(pages),
        headers: [],
      };
  const path = bend(call.path, random) + random.pick(queries);
  return request(isOperation ? "mutated path of an operation" : "mutated path of a page", { ...call, path });
};

function bend(path: string, random: Random): string {
  const parts = path.split("/");
  const at = 1 + random.int(parts.length - 1);
  switch (random.int(9)) {
    case 0:
      return path.replace("/", random.pick(["//", "///", "/./", "/../", "/%2f", "/\\"]));
    case 1:
      return `${path}${random.pick(["/", "//", "/.", "/..", "%00", ".json", "/x", "%2f", "%0a"])}`;
    case 2:
      return path.toUpperCase();
    case 3:
      return `${random.pick(["http://127.0.0.1", "https://other.example:1", "http://", "file://", "//other.example"])}${path}`;
    case 4:
      return path.replace(/[a-z]/g, (letter) =>
        random.chance(0.2) ? `%${letter.charCodeAt(0).toString(16)}` : letter,
      );
    case 5:
      return parts.toSpliced(at, 0, random.pick(segments)).join("/");
    default:
      return parts.with(at, random.pick(segments)).join("/");
  }
}

/** Parameters that are not UUIDs, and odd tags for Remove Tag. */
export const mutatedParameter: Generator = (context, random) => {
  const target = random.pick(context.targets.filter((candidate) => candidate.path.includes(":")));
  const path = target.path.replace(/:\w+/g, () => random.pick(segments));
  return request("bent parameter", { ...correctCall(context, random, target), path });
};

/** Remove Tag with an invalid tag on an existing recording. */
export const strangeTag: Generator = (context, random) => {
  const call = correctCall(context, random, targetNamed(context, "removeTag"));
  return request("strange tag", {
    ...call,
    path: call.path.replace(/[^/]*$/, random.pick(segments)),
  });
};

/** A parameter longer than the server accepts, which returns 414. */
export function tooLongParameter(context: Context): FuzzRequest {
  const call = correctCall(context, seeded(4), targetNamed(context, "removeTag"));
  const path = call.path.replace(/[^/]*$/, "a".repeat(1001));
  return request("too long parameter", { ...call, path }, { expects: "414" });
}
