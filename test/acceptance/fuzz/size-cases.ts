import { type Context, callWithBody, correctCall, type Generator, targetNamed } from "./calls.ts";
import { seeded } from "./random.ts";
import { type FuzzRequest, request } from "./request.ts";

const mib = 1024 * 1024;

/** Bodies beyond the limits: 2 MB where 1 MiB is allowed, 70 MB where a transcript is allowed. */
export function tooLarge(context: Context): (() => FuzzRequest)[] {
  const random = seeded(2);
  const small = [
    "listRecordings",
    "getRecording",
    "updateRecording",
    "addTag",
    "shareToTeam",
    "listUsers",
    "token",
  ];
  const large = ["createUpload", "updateUpload"];
  const sized = (id: string, bytes: number, chunks?: readonly number[]) => () =>
    request(
      "too large",
      {
        ...correctCall(context, random, targetNamed(context, id)),
        body: Buffer.concat([Buffer.from('{"title":"'), Buffer.alloc(bytes, "a"), Buffer.from('"}')]),
        ...(chunks === undefined ? {} : { chunks }),
      },
      { expects: "4xx" },
    );
  return [
    ...small.flatMap((id) => [sized(id, 2 * mib), sized(id, 2 * mib, [60_000])]),
    ...large.flatMap((id) => [sized(id, 70 * mib), sized(id, 70 * mib, [1_000_000])]),
  ];
}

/** Many violations below a very long property name: the error response must not grow with it. */
export const longNames: Generator = (context, random) => {
  const id = random.pick(["listRecordings", "updateRecording", "createUpload"]);
  const name = "n".repeat(50_000 + random.int(400_000));
  const texts = Array.from({ length: 120 }, () => '"\\u0000"').join(",");
  const body = Buffer.from(`{"${name}":[${texts}]}`);
  return callWithBody("long names", context, random, targetNamed(context, id), body, { expects: "4xx" });
};

/** Bodies just below the upload limit that are the most expensive to read. */
export interface HeavyBody {
  readonly name: string;
  readonly bytes: () => Buffer;
}

const upload = (segments: string): string =>
  `{"media_type":"transcript","attributes":{"transcript":{"language":"en","segments":[${segments}]}}}`;

/** Repeats an item until it fills the bytes. */
const filled = (piece: string, bytes: number): string =>
  `${piece},`.repeat(bytes / (piece.length + 1)) + piece;

export const heavyBodies: readonly HeavyBody[] = [
  { name: "millions of zeros as segments", bytes: () => Buffer.from(upload(filled("0", 11 * mib))) },
  { name: "millions of empty arrays as segments", bytes: () => Buffer.from(upload(filled("[]", 11 * mib))) },
  { name: "millions of empty objects as segments", bytes: () => Buffer.from(upload(filled("{}", 11 * mib))) },
  {
    name: "millions of empty texts in an unknown property",
    bytes: () => Buffer.from(`{"x":[${filled('""', 11 * mib)}]}`),
  },
  {
    name: "millions of names",
    bytes: () => Buffer.from(`{${Array.from({ length: 4_000_000 }, (_, n) => `"${n}":""`).join(",")}}`),
  },
  {
    name: "violations below a name of 11 MB",
    bytes: () => Buffer.from(`{"${"n".repeat(11 * mib)}":[${filled('"\\u0000"', 800)}]}`),
  },
  { name: "a text of 11 MB", bytes: () => Buffer.from(`{"title":"${"a".repeat(11 * mib)}"}`) },
  { name: "11 MB of brackets", bytes: () => Buffer.alloc(11 * mib, "[") },
];
