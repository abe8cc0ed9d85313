import { invalidValue } from "../scim-error.ts";
import { type Projection, readProjection } from "./projection.ts";

/** Resources on a page: the default, and the most. */
const defaultCount = 100;
export const maxCount = 500;

/** A list as a client asks for it. */
export interface ListQuery {
  readonly filter: string | undefined;
  /** The first resource, from 1. */
  readonly startIndex: number;
  readonly count: number;
  readonly projection: Projection;
}

/**
 * Reads the parameters of a list, of a URL or a search's body. Numbers outside the range become the nearest valid ones.
 * Source: RFC 7644, section 3.4.2.4.
 */
export function readListQuery(given: Readonly<Record<string, unknown>>): ListQuery {
  const { filter } = given;
  if (filter !== undefined && filter !== null && typeof filter !== "string")
    throw invalidValue("filter must be one text");
  return {
    filter: filter === "" || filter === null ? undefined : filter,
    startIndex: Math.max(1, readWhole(given.startIndex, "startIndex") ?? 1),
    count: Math.min(maxCount, Math.max(0, readWhole(given.count, "count") ?? defaultCount)),
    projection: readProjection(given),
  };
}

function readWhole(given: unknown, name: string): number | undefined {
  if (given === undefined || given === null || given === "") return undefined;
  if (!/^-?\d{1,9}$/.test(String(given))) throw invalidValue(`${name} must be a whole number`);
  return Number(given);
}

/** A page of a list. Source: RFC 7644, section 3.4.2. */
export function listResponse(
  total: number,
  startIndex: number,
  resources: readonly object[],
): Record<string, unknown> {
  return {
    schemas: ["urn:ietf:params:scim:api:messages:2.0:ListResponse"],
    totalResults: total,
    startIndex,
    itemsPerPage: resources.length,
    Resources: resources,
  };
}
