import {
  brokenJson,
  changedProperties,
  deepNesting,
  everyWrongType,
  extraProperties,
  oddContent,
} from "./body-cases.ts";
import type { Context, Generator } from "./calls.ts";
import { forgedCursor, impossibleCursors } from "./cursor-cases.ts";
import { aborted, brokenFraming, validThenGarbage } from "./framing-cases.ts";
import { badAuthorization, badVersion, oddContentType, oddHeaders, oddMethod } from "./header-cases.ts";
import { mutatedParameter, mutatedPath, strangeTag, tooLongParameter } from "./path-cases.ts";
import { mutatedQuery } from "./query-cases.ts";
import { seededFor } from "./random.ts";
import type { FuzzRequest } from "./request.ts";
import { longNames, tooLarge } from "./size-cases.ts";

/** Relative frequency of each generator. */
const weights: readonly (readonly [weight: number, generator: Generator])[] = [
  [140, changedProperties],
  [110, oddContent],
  [80, extraProperties],
  [100, brokenJson],
  [20, deepNesting],
  [60, forgedCursor],
  [140, mutatedPath],
  [80, mutatedParameter],
  [30, strangeTag],
  [100, mutatedQuery],
  [40, badAuthorization],
  [40, badVersion],
  [50, oddContentType],
  [90, oddHeaders],
  [60, oddMethod],
  [140, brokenFraming],
  [80, aborted],
  [20, validThenGarbage],
  [3, longNames],
];

const drawn = weights.flatMap(([weight, generator]) => Array.from({ length: weight }, () => generator));

/**
 * The requests of a run: fixed cases first, then random ones.
 * @returns a function that creates the request with an index.
 */
export function caseMaker(context: Context, seed: number): (index: number) => FuzzRequest {
  const fixed: (() => FuzzRequest)[] = [
    ...tooLarge(context),
    ...[tooLongParameter(context), ...impossibleCursors(context), ...everyWrongType(context)].map(
      (request) => () => request,
    ),
  ];
  return (index) => {
    const prepared = fixed[index];
    if (prepared !== undefined) return prepared();
    const random = seededFor(seed, index);
    return random.pick(drawn)(context, random);
  };
}
