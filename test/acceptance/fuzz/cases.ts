import { bentAddress, bentParameter, strangeTag, tooLongParameter } from "./address-cases.ts";
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
import { brokenFraming, brokenOff, goodThenRubbish } from "./framing-cases.ts";
import { badAuthorization, badVersion, oddContentType, oddHeaders, oddMethod } from "./header-cases.ts";
import { bentQuery } from "./query-cases.ts";
import { seededFor } from "./random.ts";
import type { FuzzRequest } from "./request.ts";
import { longNames, tooLarge } from "./size-cases.ts";

/** How often each generator gets its turn, relative to the others. */
const weights: readonly (readonly [weight: number, generator: Generator])[] = [
  [140, changedProperties],
  [110, oddContent],
  [80, extraProperties],
  [100, brokenJson],
  [20, deepNesting],
  [60, forgedCursor],
  [140, bentAddress],
  [80, bentParameter],
  [30, strangeTag],
  [100, bentQuery],
  [40, badAuthorization],
  [40, badVersion],
  [50, oddContentType],
  [90, oddHeaders],
  [60, oddMethod],
  [140, brokenFraming],
  [80, brokenOff],
  [20, goodThenRubbish],
  [3, longNames],
];

const drawn = weights.flatMap(([weight, generator]) => Array.from({ length: weight }, () => generator));

/**
 * The requests of a run: what must not be left to chance comes first, the rest is drawn.
 * @returns a function that makes the request with this index.
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
