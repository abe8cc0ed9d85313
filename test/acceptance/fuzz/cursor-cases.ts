import { type Context, callWithBody, type Generator, targetNamed } from "./calls.ts";
import { type Random, seeded } from "./random.ts";
import type { FuzzRequest } from "./request.ts";
import { edgeDates, oddTexts } from "./values.ts";

/** Forged cursors: random, modified, of the other list, or well-formed with impossible times. */
export const forgedCursor: Generator = (context, random) => {
  const id = random.pick(["listRecordings", "listUploads"]);
  const own = id === "listRecordings" ? context.world.cursors.recordings : context.world.cursors.uploads;
  const other = id === "listRecordings" ? context.world.cursors.uploads : context.world.cursors.recordings;
  const cursor = random.pick([
    () => other,
    () => random.bytes(random.int(60)).toString("base64url"),
    () => random.bytes(3000).toString("hex"),
    () => flipped(own, random),
    () => own.slice(0, random.int(own.length)),
    () => own + own,
    () => `${own}=`,
    () => ` ${own}\n`,
    () => own.toUpperCase(),
    () => random.pick(oddTexts),
    () => rewritten(own, random),
    () => rewritten(own, random),
    () => rewritten(own, random),
  ])();
  return callWithBody("forged cursor", context, random, targetNamed(context, id), { cursor });
};

/** Cursors of the right form for every time at the edges, for both lists. */
export function impossibleCursors(context: Context): FuzzRequest[] {
  const random = seeded(5);
  const { recordings, uploads } = context.world.cursors;
  const lists = [
    ["listRecordings", recordings],
    ["listUploads", uploads],
  ] as const;
  return lists.flatMap(([id, cursor]) =>
    impossibleTimes.map((time) => {
      const body = { cursor: withTime(cursor, time) };
      return callWithBody("cursor for an impossible time", context, random, targetNamed(context, id), body);
    }),
  );
}

function withTime(cursor: string, time: string): string {
  const text = Buffer.from(cursor, "base64url").toString();
  return Buffer.from(text.replace(/:-?\d+:/, `:${time}:`)).toString("base64url");
}

function flipped(cursor: string, random: Random): string {
  const at = random.int(cursor.length);
  const alphabet = "ABCxyz019-_+/=%";
  return cursor.slice(0, at) + alphabet[random.int(alphabet.length)] + cursor.slice(at + 1);
}

/** Decodes the cursor, changes its content and encodes it again. */
function rewritten(cursor: string, random: Random): string {
  const text = Buffer.from(cursor, "base64url").toString();
  const number = random.pick(impossibleTimes);
  const changed = random.pick([
    () => text.replace(/:-?\d+:/, `:${number}:`),
    () => text.replace(/:-?\d+:/, `:${random.pick(edgeDates)}:`),
    () => text.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, "ffffffff-ffff-ffff-ffff-ffffffffffff"),
    () => text.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, "not-a-uuid"),
    () => text.replace(/-/, "\0"),
    () => text.replace(/^[a-z]+/, random.pick(["__proto__", "users", "", "recordings", "uploads"])),
    () => `${text}:${text}`,
    () => text.replaceAll(":", "::"),
  ])();
  return Buffer.from(changed).toString("base64url");
}

/** Milliseconds around the limits of JavaScript's and PostgreSQL's timestamps. */
const impossibleTimes: readonly string[] = [
  "0",
  "-0",
  "-1",
  "-62135596800001",
  "-62167219200000",
  "-100000000000000",
  "-210866803200001",
  "-999999999999999",
  "253402300800000",
  "999999999999999",
  "8640000000000000",
  "8640000000000001",
  "-8640000000000000",
  "9".repeat(40),
  "1e3",
  "0x10",
  "1.5",
  "NaN",
];
