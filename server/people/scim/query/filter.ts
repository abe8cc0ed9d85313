import { type RawBuilder, type SqlBool, sql } from "kysely";
import type { Filter } from "scim2-parse-filter";
import { parseTimestamp } from "../../../../shared/times/timestamp.ts";
import { ScimError } from "../scim-error.ts";

/** Characters; providers send fewer than 300. */
const maxLength = 1000;

/** Comparisons in one filter, each of which PostgreSQL may run for every row. */
const maxTerms = 20;

/** Brackets, parentheses and `not` inside each other. */
const maxDepth = 8;

export type Condition = RawBuilder<SqlBool>;
type Operator = "eq" | "ne" | "co" | "sw" | "ew" | "gt" | "ge" | "lt" | "le";

/** How an attribute is compared in SQL. */
export type Attribute =
  /** Compared without case; `equals` finds rows by an index. */
  | { readonly kind: "text"; readonly column: RawBuilder<string | null>; readonly equals?: Equals }
  | { readonly kind: "exact"; readonly column: RawBuilder<string | null> }
  | { readonly kind: "boolean"; readonly column: Condition }
  | { readonly kind: "time"; readonly column: RawBuilder<Date> }
  /** Has the same value in every resource. */
  | { readonly kind: "constant"; readonly value: string }
  /** A reference or id, which is equal to a value or not. */
  | { readonly kind: "reference"; readonly equals: Equals };
type Equals = (value: string) => Condition;

/** Attributes by their name in lower case, such as `name.familyname`. */
export type Attributes = ReadonlyMap<string, Attribute>;

/**
 * Parses a filter. Control characters are refused before: the parser takes exponential time for line breaks in a text that
 * has no end.
 * @throws ScimError `invalidFilter`.
 */
export async function parseFilter(text: string): Promise<Filter> {
  if (text.length > maxLength) throw invalidFilter(`has more than ${maxLength} characters`);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it finds.
  if (/[\u0000-\u001f\u007f]/.test(text) || !text.isWellFormed())
    throw invalidFilter("contains a control character or half of a surrogate pair");
  const { parse } = await import("scim2-parse-filter");
  let filter: Filter;
  try {
    filter = parse(text);
  } catch {
    throw invalidFilter('can\'t be read; write it as: userName eq "ada@example.com"');
  }
  measure(filter, { terms: 0 }, 0);
  return filter;
}

/** What a filter is about. */
export interface FilterTarget {
  readonly resource: "User" | "Group";
  readonly attributes: Attributes;
  /** Attributes that other kinds of resources of the same list have: here they match nothing. */
  readonly elsewhere?: Attributes;
}

/** The filter as a condition of SQL, in which every value is a parameter. @throws ScimError `invalidFilter`. */
export async function readFilter(text: string | undefined, target: FilterTarget): Promise<Condition> {
  return text === undefined ? sql<SqlBool>`true` : compile(await parseFilter(text), target, "");
}

/** @throws ScimError `invalidFilter` when there are too many comparisons or they are nested too deeply. */
function measure(filter: Filter, count: { terms: number }, depth: number): void {
  if (depth > maxDepth) throw invalidFilter(`is nested more than ${maxDepth} levels deep`);
  if (filter.op === "and" || filter.op === "or")
    for (const part of filter.filters) measure(part, count, depth + 1);
  else if (filter.op === "not") measure(filter.filter, count, depth + 1);
  else if (filter.op === "[]") measure(filter.valFilter, count, depth + 1);
  else count.terms += 1;
  if (count.terms > maxTerms) throw invalidFilter(`has more than ${maxTerms} comparisons`);
}

function compile(filter: Filter, target: FilterTarget, prefix: string): Condition {
  switch (filter.op) {
    case "and":
    case "or": {
      const parts = filter.filters.map((part) => compile(part, target, prefix));
      return sql`(${sql.join(parts, filter.op === "and" ? sql` and ` : sql` or `)})`;
    }
    case "not":
      return sql`(not coalesce(${compile(filter.filter, target, prefix)}, false))`;
    case "[]":
      return compile(filter.valFilter, target, `${prefix}${nameOf(filter.attrPath, target.resource)}.`);
    default: {
      const { attributes, elsewhere, resource } = target;
      const name = prefix + nameOf(filter.attrPath, resource);
      const attribute = attributes.get(name);
      if (attribute === undefined && elsewhere?.has(name)) return sql`false`;
      if (attribute === undefined)
        throw invalidFilter(
          `names ${name.slice(0, 100)}; only these can be filtered: ${[...attributes.keys()].join(", ")}`,
        );
      return filter.op === "pr"
        ? isPresent(attribute)
        : compare(attribute, filter.op, filter.compValue, name);
    }
  }
}

/** The name in lower case, without the URN of the resource's own schema. Source: RFC 7644, section 3.10. */
function nameOf(path: string, resource: string): string {
  const name = path.toLowerCase();
  const urn = `urn:ietf:params:scim:schemas:core:2.0:${resource.toLowerCase()}:`;
  return name.startsWith(urn) ? name.slice(urn.length) : name;
}

function isPresent(attribute: Attribute): Condition {
  if (attribute.kind === "text" || attribute.kind === "exact")
    return sql`coalesce(${attribute.column}, '') <> ''`;
  if (attribute.kind === "reference") throw invalidFilter("can compare references with eq and ne only");
  return sql`true`;
}

function compare(
  attribute: Attribute,
  op: Operator,
  value: string | number | boolean | null,
  name: string,
): Condition {
  if (value === null && op === "eq") return sql`(not ${isPresent(attribute)})`;
  if (value === null && op === "ne") return isPresent(attribute);
  switch (attribute.kind) {
    case "boolean":
      return compareBoolean(attribute.column, op, value, name);
    case "time":
      return compareTime(attribute.column, op, value, name);
    case "constant":
      if (op !== "eq" && op !== "ne") throw invalidFilter(`can compare ${name} with eq and ne only`);
      return sql`${(String(value).toLowerCase() === attribute.value.toLowerCase()) === (op === "eq")}::boolean`;
    case "reference":
      if (op !== "eq" && op !== "ne") throw invalidFilter(`can compare ${name} with eq and ne only`);
      return op === "eq" ? attribute.equals(String(value)) : sql`(not ${attribute.equals(String(value))})`;
    default:
      if (typeof value !== "string") throw invalidFilter(`must compare ${name} with a text in quotes`);
      if (op === "eq" && attribute.kind === "text" && attribute.equals !== undefined)
        return attribute.equals(value);
      return attribute.kind === "exact"
        ? compareText(attribute.column, op, sql`${value}::text`)
        : compareText(sql`parley_lower(${attribute.column})`, op, sql`parley_lower(${value}::text)`);
  }
}

/** Entra writes booleans as texts too. */
function compareBoolean(column: Condition, op: Operator, value: unknown, name: string): Condition {
  const text = String(value).toLowerCase();
  if ((op !== "eq" && op !== "ne") || (text !== "true" && text !== "false"))
    throw invalidFilter(`can compare ${name} with eq true and eq false only`);
  return (text === "true") === (op === "eq") ? sql`(${column})` : sql`(not (${column}))`;
}

const orders = { eq: "=", ne: "<>", gt: ">", ge: ">=", lt: "<", le: "<=" } as const;

function compareTime(column: RawBuilder<Date>, op: Operator, value: unknown, name: string): Condition {
  const time = typeof value === "string" ? parseTimestamp(value) : null;
  if (time === null) throw invalidFilter(`must compare ${name} with a time such as "2026-01-31T12:00:00Z"`);
  if (op === "co" || op === "sw" || op === "ew") throw invalidFilter(`can't search ${name} for a part`);
  return sql`(${column} ${sql.raw(orders[op])} ${time})`;
}

function compareText(column: RawBuilder<unknown>, op: Operator, value: RawBuilder<unknown>): Condition {
  switch (op) {
    case "eq":
      return sql`(${column} = ${value})`;
    case "ne":
      return sql`(${column} is distinct from ${value})`;
    case "co":
      return sql`coalesce(strpos(${column}, ${value}) > 0, false)`;
    case "sw":
      return sql`coalesce(starts_with(${column}, ${value}), false)`;
    case "ew":
      return sql`coalesce(right(${column}, length(${value})) = ${value}, false)`;
    default:
      return sql`coalesce(${column} collate "C" ${sql.raw(orders[op])} ${value} collate "C", false)`;
  }
}

function invalidFilter(detail: string): ScimError {
  return new ScimError(400, `the filter ${detail}`, "invalidFilter");
}
