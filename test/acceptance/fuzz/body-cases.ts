import { type Context, callWithBody, type Generator, readsBody } from "./calls.ts";
import { type Json, nested, type Path, pathsIn, Raw, replaceAt, typeOf, valueAt, write } from "./json.ts";
import { type Random, seeded } from "./random.ts";
import type { FuzzRequest } from "./request.ts";
import type { Target } from "./targets.ts";
import { anyValues, edgeDates, notJson, oddNumbers, oddTexts, unstorableTexts } from "./values.ts";

const withSample = (context: Context): readonly Target[] =>
  context.targets.filter((target) => target.sample !== null && Object.keys(target.sample).length > 0);

/** Every property of every operation with values of every other type, missing, and with unstorable text. */
export function everyWrongType(context: Context): FuzzRequest[] {
  const random = seeded(1);
  return withSample(context).flatMap((target) => {
    const sample = target.sample ?? {};
    const send = (kind: string, path: Path, value: Json | undefined, expects: "any" | "4xx"): FuzzRequest =>
      callWithBody(kind, context, random, target, replaceAt(sample, path, value), { expects });
    const wrong = pathsIn(sample).flatMap((path) => {
      const type = typeOf(valueAt(sample, path));
      const values = anyValues.filter((value) => !(value instanceof Raw) && typeOf(value) !== type);
      return [
        ...values.map((value) =>
          send(`wrong type at ${path.join(".")}`, path, value, isTaken(path, value) ? "any" : "4xx"),
        ),
        send(`null at ${path.join(".")}`, path, null, "any"),
        ...(type === "string"
          ? unstorableTexts.map((text) => send(`unstorable text at ${path.join(".")}`, path, text, "4xx"))
          : []),
      ];
    });
    const missing = target.required.map((name) => send(`missing ${name}`, [name], undefined, "4xx"));
    return [...wrong, ...missing];
  });
}

/** Formats of real clients that the server accepts on purpose (design, "Bodies, what real clients send"). */
function isTaken(path: Path, value: Json): boolean {
  const place = path.join(".");
  if (place === "include") return Array.isArray(value) && value.every((name) => typeof name === "string");
  if (place === "include.ai_template_sections") return typeof value === "boolean";
  // The include of a hook can be any object.
  return place.startsWith("include.");
}

/** One to four properties changed at random. */
export const changedProperties: Generator = (context, random) => {
  const target = random.pick(withSample(context));
  let body: Json = target.sample ?? {};
  for (let changes = 1 + random.int(4); changes > 0; changes--) {
    const paths = pathsIn(body).filter((path) => !(valueAt(body, path) instanceof Raw));
    if (paths.length === 0) break;
    body = replaceAt(body, random.pick(paths), someValue(random));
  }
  return callWithBody("changed properties", context, random, target, body);
};

function someValue(random: Random): Json | undefined {
  const choice = random.int(12);
  if (choice === 0) return undefined;
  if (choice <= 3) return random.pick(oddTexts);
  if (choice <= 5) return random.pick(oddNumbers);
  if (choice <= 7) return random.pick(edgeDates);
  if (choice === 8) return random.pick(unstorableTexts);
  return random.pick(anyValues);
}

/** Valid but unusual text, numbers and dates: mostly accepted, so that they are stored. */
export const oddContent: Generator = (context, random) => {
  const target = random.pick(withSample(context));
  let body: Json = target.sample ?? {};
  for (const path of pathsIn(body)) {
    const value = valueAt(body, path);
    if (!random.chance(0.15)) continue;
    if (typeof value === "number") body = replaceAt(body, path, random.pick(oddNumbers));
    else if (typeof value === "string") {
      const isDate = String(path.at(-1)).endsWith("_datetime");
      body = replaceAt(body, path, random.pick(isDate ? edgeDates : oddTexts));
    }
  }
  return callWithBody("odd content", context, random, target, body);
};

/** Property names that are special in JavaScript, duplicated or very long. */
export const extraProperties: Generator = (context, random) => {
  const target = random.pick(withSample(context));
  const text = write(target.sample ?? {});
  const extra = random.pick([
    '"__proto__":{"isAdmin":true,"include":{"attributes":true}}',
    '"__proto__":null',
    '"__proto__":[1]',
    '"constructor":{"prototype":{"polluted":true}}',
    '"prototype":{"polluted":true}',
    '"toString":"x","valueOf":1,"hasOwnProperty":false,"then":true,"toJSON":1',
    '"\\u0000":1,"\\ud800":2,"":3,"/":4,"~":5',
    '"x\\u0000":"a\\u0000"',
    `"${"n".repeat(20_000)}":true`,
    `"a":${nested(100_000, "array").text}`,
    `"a":${nested(100_000, "object").text}`,
    Array.from({ length: 20_000 }, (_, n) => `"p${n}":${n}`).join(","),
    `"media_type":"video","media_type":["transcript"],"title":1,"include":7`,
  ]);
  // Before or after the valid properties: of duplicate names the last one counts.
  const places = [...text.matchAll(/\{(?=")/g)].map((match) => match.index + 1);
  const at = random.pick(places);
  const body = `${text.slice(0, at)}${extra},${text.slice(at)}`;
  return callWithBody("extra properties", context, random, target, Buffer.from(body));
};

/** Invalid JSON and UTF-8, which must be refused wherever a body is read. */
export const brokenJson: Generator = (context, random) => {
  const target = random.pick(withSample(context).filter(readsBody));
  const text = write(target.sample ?? {});
  const at = 1 + random.int(text.length - 1);
  const [before, after] = [text.slice(0, at), text.slice(at)];
  const place = random.pick(pathsIn(target.sample ?? {}));
  const bodies: (() => Buffer)[] = [
    () => Buffer.from(before),
    () => Buffer.from(write(replaceAt(target.sample ?? {}, place, random.pick(notJson)))),
    () => Buffer.from(`${text}${random.pick(["}", "]", ",", "{}", "\0", text, "//"])}`),
    () => Buffer.from(`${random.pick(["\ufeff\ufeff", ")]}',\n", "\0", "callback("])}${text}`),
    () => Buffer.concat([Buffer.from(before), random.pick(badUtf8), Buffer.from(after)]),
    () => Buffer.from(text, "utf16le"),
    () => Buffer.from("[".repeat(1 + random.int(200_000))),
    () => Buffer.from('{"a":'.repeat(1 + random.int(100_000))),
    () => Buffer.concat([Buffer.from("x"), random.bytes(1 + random.int(400))]),
    () =>
      Buffer.from(random.pick(["[]", "[{}]", "null", "true", "7", '"text"', write([target.sample ?? {}])])),
  ];
  return callWithBody("broken JSON", context, random, target, random.pick(bodies)(), { expects: "4xx" });
};

/** Invalid UTF-8: lone continuation bytes, overlong forms, surrogates, beyond the last code point. */
const badUtf8: readonly Buffer[] = ["ff", "80", "c0af", "eda080", "f4908080", "e282", "f09f92", "fe"].map(
  (hex) => Buffer.from(hex, "hex"),
);

/** A hundred thousand levels, as the body or as the value of a property. */
export const deepNesting: Generator = (context, random) => {
  const target = random.pick(withSample(context).filter(readsBody));
  const deep = nested(random.pick([33, 1000, 100_000]), random.pick(["array", "object"]));
  const body = random.chance(0.2)
    ? deep
    : replaceAt(target.sample ?? {}, random.pick(pathsIn(target.sample ?? {})), deep);
  return callWithBody("deep nesting", context, random, target, body, { expects: "4xx" });
};
