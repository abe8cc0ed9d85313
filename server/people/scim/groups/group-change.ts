import type { Filter } from "scim2-parse-filter";
import type { PatchOperation } from "../attributes/patch.ts";
import { type AttributePath, isPath, splitName } from "../attributes/path.ts";
import { get, isObject, readText } from "../attributes/values.ts";
import { invalidValue, ScimError } from "../scim-error.ts";

const maxName = 200;
const maxExternalId = 500;
const maxMembers = 20_000;
const maxIgnored = 50;

/** How a request changes the members of a group, as ids of users. */
interface MemberChange {
  /** Whether the members before it stay. */
  keepsOthers: boolean;
  readonly added: Set<string>;
  readonly removed: Set<string>;
}

/** What a request changes about a group; what it doesn't name is left out. */
export interface GroupChange {
  displayName?: string;
  externalId?: string | null;
  readonly members: MemberChange;
  /** Attributes that were sent and aren't kept. */
  readonly ignored: Set<string>;
}

const noChange = (): GroupChange => ({
  members: { keepsOthers: true, added: new Set(), removed: new Set() },
  ignored: new Set(),
});

const ofServer = new Set(["schemas", "id", "meta"]);

/** Reads a whole group; without `members`, they stay. @throws ScimError */
export function readGroup(body: unknown): GroupChange & { displayName: string } {
  const change = noChange();
  setAll(change, body, "replace");
  const { displayName } = change;
  if (displayName === undefined) throw invalidValue("displayName is required: the name of the team");
  return { ...change, displayName };
}

/** Reads a patch: the later of two operations on a member counts. @throws ScimError */
export function readGroupPatch(operations: readonly PatchOperation[]): GroupChange {
  const change = noChange();
  for (const { op, path, value } of operations) {
    if (path === null) setAll(change, value, op);
    else if (path.attribute === "members") changeMembers(change.members, op, path, value);
    else set(change, path, op === "remove" ? null : value);
  }
  return change;
}

function setAll(change: GroupChange, given: unknown, op: PatchOperation["op"]): void {
  if (!isObject(given)) throw new ScimError(400, "a group must be an object", "invalidSyntax");
  for (const [key, value] of Object.entries(given)) {
    if (key.toLowerCase() === "members")
      changeMembers(change.members, op, { ...splitName(key), filter: null }, value);
    else if (isPath(key)) set(change, { ...splitName(key), filter: null }, value);
    else ignore(change, key);
  }
}

function set(change: GroupChange, { attribute, part, sent }: AttributePath, value: unknown): void {
  if (ofServer.has(attribute)) return;
  if (attribute === "displayname" && part === null) {
    const name = readText(value, "displayName", maxName);
    if (name === null) throw invalidValue("displayName must not be empty");
    change.displayName = name;
  } else if (attribute === "externalid" && part === null)
    change.externalId = readText(value, "externalId", maxExternalId);
  else ignore(change, sent);
}

function ignore(change: GroupChange, name: string): void {
  if (change.ignored.size < maxIgnored) change.ignored.add(name.slice(0, 100).replace(/[^ -~]/g, "?"));
}

function changeMembers(
  members: MemberChange,
  op: PatchOperation["op"],
  { filter, part }: AttributePath,
  value: unknown,
): void {
  // Such as members[value eq "…"].display, which the server decides.
  if (part !== null && part !== "value") return;
  const ids = filter === null ? idsIn(value) : idsOfFilter(filter);
  // Entra names the members to remove by a filter or as the value; without either, all are removed.
  if ((op === "replace" && filter === null) || (op === "remove" && ids === null)) {
    members.keepsOthers = false;
    members.added.clear();
    members.removed.clear();
  }
  for (const id of ids ?? []) {
    members[op === "remove" ? "removed" : "added"].add(id);
    members[op === "remove" ? "added" : "removed"].delete(id);
  }
  if (members.added.size + members.removed.size > maxMembers)
    throw new ScimError(413, `a request can name at most ${maxMembers} members; send several`);
}

/** The ids in a list of members, or of a single one; null without a value. */
function idsIn(value: unknown): string[] | null {
  if (value === undefined || value === null) return null;
  return (Array.isArray(value) ? value : [value]).map((entry) => {
    const id = isObject(entry) ? get(entry, "value") : entry;
    if (typeof id !== "string") throw invalidValue("each member must have the id of a user as its value");
    return id.toLowerCase();
  });
}

/** The ids that a filter such as `value eq "…"` selects. */
function idsOfFilter(filter: Filter): string[] {
  if (filter.op === "or") return filter.filters.flatMap(idsOfFilter);
  if (filter.op === "eq" && filter.attrPath.toLowerCase() === "value" && typeof filter.compValue === "string")
    return [filter.compValue.toLowerCase()];
  throw new ScimError(400, 'members can only be selected by id: members[value eq "…"]', "invalidFilter");
}
