import { type Generator, someCall } from "./calls.ts";
import type { Random } from "./random.ts";
import { request } from "./request.ts";
import { edgeDates, oddTexts } from "./values.ts";

const cursors = [
  "YXVkaXQ6MDow",
  Buffer.from("audit:999999999999999999:999999999999999999").toString("base64url"),
  Buffer.from("events:999999999999999999:0").toString("base64url"),
  Buffer.from("audit:1:2:3").toString("base64url"),
  "=",
];

/** An operation's query parameters with odd values, alone, duplicated and as lists. */
export const mutatedQuery: Generator = (context, random) => {
  const target = random.pick(context.targets.filter(({ query }) => query.length > 0));
  const call = someCall(context, random, target);
  const pairs = target.query
    .filter(() => random.chance(0.5))
    .flatMap((name) => {
      const pair = `${random.chance(0.1) ? `${name}[]` : name}=${someText(random)}`;
      return random.chance(0.1) ? [pair, `${name}=${someText(random)}`] : [pair];
    });
  return request("mutated query", { ...call, path: `${call.path}?${pairs.join("&")}` }, { target });
};

function someText(random: Random): string {
  return random.pick([
    () => encodeURIComponent(String(random.pick(oddTexts)).toWellFormed()).slice(0, 6000),
    () => encodeURIComponent(String(random.pick(edgeDates))),
    () => random.pick(cursors),
    () =>
      random.pick([
        "",
        "0",
        "-1",
        "1e9",
        "99999999999999999999",
        "true",
        "null",
        "%00",
        "%ff",
        "csv",
        "jsonl",
      ]),
    () => random.pick(["signed_in", "recording_viewed", "transcript,speakers", "recording_added"]),
    () => random.bytes(1 + random.int(30)).toString("base64url"),
  ])();
}
