import { foldCase } from "../../../../shared/fold-case.ts";
import type { PatchOperation } from "../attributes/patch.ts";
import { type AttributePath, isPath, splitName } from "../attributes/path.ts";
import { get, isObject, readBoolean, readText } from "../attributes/values.ts";
import { invalidValue, ScimError } from "../scim-error.ts";

const maxEmail = 320;
const maxName = 200;
const maxExternalId = 500;

/** Names that are counted as ignored in one request. */
const maxIgnored = 50;

/** What a request changes about a user; what it doesn't name is left out. Null empties an attribute. */
export interface UserChange {
  userName?: string;
  externalId?: string | null;
  givenName?: string | null;
  familyName?: string | null;
  formatted?: string | null;
  displayName?: string | null;
  active?: boolean;
  /** Emails that were sent; Parley keeps the userName alone. */
  readonly emails: Set<string>;
  /** Attributes that were sent and aren't kept. */
  readonly ignored: Set<string>;
}

const noChange = (): UserChange => ({ emails: new Set(), ignored: new Set() });

/** Attributes that the server decides, which clients send back with the others. Source: RFC 7644, section 3.5.1. */
const ofServer = new Set(["schemas", "id", "meta", "groups", "roles"]);

/** Reads a whole user. @throws ScimError */
export function readUser(body: unknown): UserChange & { userName: string } {
  const change = noChange();
  setAll(change, body, "a user");
  const { userName } = change;
  if (userName === undefined) throw invalidValue("userName is required: the user's email");
  return { ...change, userName };
}

/** Reads a patch. @throws ScimError */
export function readUserPatch(operations: readonly PatchOperation[]): UserChange {
  const change = noChange();
  for (const { op, path, value } of operations) {
    if (path === null) setAll(change, value, "the value");
    else if (op === "remove") remove(change, path);
    else set(change, path, value);
  }
  return change;
}

/** Sets the attributes of an object, whose keys may be paths, such as "name.familyName" (Entra), or URNs of schemas. */
function setAll(change: UserChange, given: unknown, what: string): void {
  if (!isObject(given)) throw new ScimError(400, `${what} must be an object`, "invalidSyntax");
  for (const [key, value] of Object.entries(given)) {
    if (/^urn:ietf:params:scim:schemas:core:2\.0:user$/i.test(key)) setAll(change, value, key);
    else if (isExtension(key)) ignoreExtension(change, key, value);
    else if (isPath(key)) set(change, { ...splitName(key), filter: null }, value);
    else ignore(change, key, value);
  }
}

/** Whether a key is the URN of an extension, whose value has its attributes. */
function isExtension(key: string): boolean {
  return key.toLowerCase().startsWith("urn:");
}

function ignoreExtension(change: UserChange, key: string, value: unknown): void {
  if (isObject(value)) for (const name of Object.keys(value)) ignore(change, `${key}:${name}`, value[name]);
  else ignore(change, key, value);
}

function set(change: UserChange, path: AttributePath, value: unknown): void {
  const { attribute, part } = path;
  if (ofServer.has(attribute)) return;
  if (attribute === "name") {
    if (part === null) setName(change, value);
    else setPartOfName(change, part, value);
    return;
  }
  if (attribute === "emails") {
    noteEmails(change, path, value);
    return;
  }
  if (part !== null) {
    ignore(change, path.sent, value);
    return;
  }
  switch (attribute) {
    case "username":
      change.userName = required(readText(value, "userName", maxEmail), "userName");
      return;
    case "externalid":
      change.externalId = readText(value, "externalId", maxExternalId);
      return;
    case "displayname":
      change.displayName = readText(value, "displayName", maxName);
      return;
    case "active":
      change.active = readBoolean(value, "active");
      return;
    default:
      ignore(change, path.sent, value);
  }
}

function required(text: string | null, name: string): string {
  if (text === null) throw invalidValue(`${name} must not be empty`);
  return text;
}

function setName(change: UserChange, value: unknown): void {
  if (value === null) {
    change.givenName = null;
    change.familyName = null;
    return;
  }
  if (!isObject(value)) throw invalidValue("name must be an object");
  for (const [key, part] of Object.entries(value)) setPartOfName(change, key.toLowerCase(), part);
}

function setPartOfName(change: UserChange, part: string, value: unknown): void {
  if (part === "givenname") change.givenName = readText(value, "name.givenName", maxName);
  else if (part === "familyname") change.familyName = readText(value, "name.familyName", maxName);
  else if (part === "formatted") change.formatted = readText(value, "name.formatted", maxName);
  else ignore(change, `name.${part}`, value);
}

/** Notes which emails were sent, whether as a list or by a path such as `emails[type eq "work"].value` (Entra). */
function noteEmails(change: UserChange, { part }: AttributePath, value: unknown): void {
  if (part !== null && part !== "value") return;
  for (const entry of Array.isArray(value) ? value : [value]) {
    const email = isObject(entry) ? get(entry, "value") : entry;
    if (typeof email === "string" && email !== "") change.emails.add(email);
  }
}

function remove(change: UserChange, path: AttributePath): void {
  const { attribute } = path;
  if (ofServer.has(attribute) || attribute === "emails") return;
  if (attribute === "username" || attribute === "active")
    throw new ScimError(400, `${path.sent} can't be removed`, "mutability");
  set(change, path, null);
}

/** Empty values are nothing that could be missed. */
function ignore(change: UserChange, name: string, value: unknown): void {
  const isEmpty = value === null || value === "" || (Array.isArray(value) && value.length === 0);
  if (!isEmpty && change.ignored.size < maxIgnored)
    change.ignored.add(name.slice(0, 100).replace(/[^ -~]/g, "?"));
}

/**
 * The names of what a request sent and Parley doesn't keep: emails only if one of them isn't the userName, and a userName
 * that came with a deactivation.
 */
export function ignoredNames({ ignored, emails, userName }: UserChange, email: string): string[] {
  const isEmail = (sent: string) => foldCase(sent) === foldCase(email);
  return [
    ...ignored,
    ...([...emails].every(isEmail) ? [] : ["emails"]),
    ...(userName === undefined || isEmail(userName) ? [] : ["userName"]),
  ];
}
