import { randomUUIDv7 } from "node:crypto";
import { because } from "../../../../contract/causes/causes.ts";
import { defaultProviderId } from "../../../../contract/default-provider.ts";
import { type AuditActor, recordAudit } from "../../../platform/audit/record.ts";
import {
  type Config,
  configOf,
  configWithout,
  SettingsError,
  type SettingTexts,
  sourceOf,
  textOf,
  withNearest,
} from "../../../platform/config/config.ts";
import { hostNameOf, isLoopbackHost } from "../../../platform/config/host-name.ts";
import { allSettings, type ListedSetting, shownSettings } from "../../../platform/config/settings.ts";
import type { SignInProvider } from "../../../platform/config/sign-in-providers.ts";
import { typeOf } from "../../../platform/config/values.ts";
import type { Encryptor } from "../../../platform/crypto/encryptor.ts";
import type { Database, Tx } from "../../../platform/db/database.ts";
import { invalidInput, ProblemError } from "../../../platform/http/errors/problem.ts";
import { reasonOf } from "../health/finding.ts";
import { textsOf } from "./live.ts";
import {
  announceSettings,
  countLockedOut,
  decryptTexts,
  encryptTexts,
  findChanges,
  findSettings,
  insertChange,
  lockSettings,
  markUndone,
  saveSetting,
} from "./queries.ts";

/** Values by name; null: back to the default. */
export type SettingChanges = Readonly<Record<string, string | null>>;

export interface ChangeDependencies {
  readonly db: Database;
  readonly encryptor: Encryptor;
  readonly config: Config;
}

/** Who changes settings. */
export interface Changer {
  /** Null: a command. */
  readonly userId: string | null;
  /** For the audit log; null: there is no workspace whose log could have the entry. */
  readonly actor: AuditActor | null;
  /** The Host header of their request; null: a command. */
  readonly host: string | null;
}

const byName = new Map<string, ListedSetting>(allSettings.map((setting) => [setting.name, setting]));

const pointerOf = (name: string): string => `/settings/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;

/**
 * The settings as they would be after a change.
 * @throws ProblemError with a violation for each bad value, or `wrong_state` for a setting that is locked.
 */
export function preview(sources: Config["sources"], app: SettingTexts, changes: SettingChanges) {
  const names = Object.keys(changes);
  const refused = names.flatMap((name) => {
    const setting = byName.get(name);
    if (setting === undefined)
      return [{ pointer: pointerOf(name), detail: `${withNearest(name)} is not a setting` }];
    if (setting.where === "app") return [];
    return [{ pointer: pointerOf(name), detail: "can only be set in the environment" }];
  });
  const locked = names.filter((name) => sources.env[name]);
  if (locked.length > 0)
    throw new ProblemError("wrong_state", because("settings_in_environment", { names: locked }));
  if (names.length > 0 && sources.file !== null)
    throw new ProblemError("wrong_state", because("settings_in_file"));
  // What is wrong already is no reason to refuse another change.
  const wrong = new Set(configWithout(sources, app).ignored.map(({ name }) => name));
  const kept = Object.entries(app).filter(([name]) => !wrong.has(name) && !Object.hasOwn(changes, name));
  const own = Object.entries(changes).flatMap(([name, text]) => (text ? [[name, text] as const] : []));
  try {
    const texts = Object.fromEntries([...kept, ...own]);
    const after = configOf(sources, texts);
    refused.push(...findMisdirected(sources, [app, texts], changes));
    if (refused.length === 0) return after;
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    refused.push(...error.violations.map(({ name, detail }) => ({ pointer: pointerOf(name), detail })));
  }
  throw invalidInput(refused);
}

/** A secret is sent to no other URL than the one for which it was entered. */
function findMisdirected(
  sources: Config["sources"],
  [before, after]: readonly [SettingTexts, SettingTexts],
  changes: SettingChanges,
): { pointer: string; detail: string }[] {
  return allSettings.flatMap((secret) => {
    const { name } = secret;
    const target = secret.sentTo === undefined ? undefined : byName.get(secret.sentTo);
    if (target === undefined || changes[name] || textOf(secret, sources, after) === null) return [];
    if (urlOf(textOf(target, sources, before)) === urlOf(textOf(target, sources, after))) return [];
    const isOwn = sourceOf(secret, sources, after) === "app";
    const remedy = isOwn
      ? "Enter the key again for the new address, or remove it"
      : "It is set in the environment: change both there";
    return [{ pointer: pointerOf(name), detail: `was entered for another ${target.name}. ${remedy}` }];
  });
}

/** A URL in one form, without slashes at its end. */
function urlOf(text: string | null): string | null {
  return text === null ? null : (URL.parse(text)?.href ?? text).replace(/\/$/, "");
}

type Client = Pick<SignInProvider, "issuer" | "clientId" | "clientSecret">;

/** What a passed test of a provider is of. */
const describeClient = ({ issuer, clientId, clientSecret }: Client): string =>
  JSON.stringify({ encryptedFor: "sign_in_test_passed", issuer, clientId, clientSecret });

/** Records that a whole sign-in with these settings succeeded. */
export async function savePassed(
  { db, encryptor }: Pick<ChangeDependencies, "db" | "encryptor">,
  client: Client,
): Promise<void> {
  await db.kysely
    .updateTable("installation")
    .set({ sign_in_test_passed: encryptor.encrypt(describeClient(client)) })
    .execute();
}

async function hasPassed(
  { db, encryptor }: Pick<ChangeDependencies, "db" | "encryptor">,
  client: Client,
): Promise<boolean> {
  const row = await db.kysely.selectFrom("installation").select("sign_in_test_passed").executeTakeFirst();
  if (row?.sign_in_test_passed == null) return false;
  try {
    return encryptor.decrypt(row.sign_in_test_passed) === describeClient(client);
  } catch {
    // Encrypted with another secret: the provider is tested again.
    return false;
  }
}

/** @throws ProblemError when the change would lock users out. */
async function refuseLockout(
  { db, encryptor }: ChangeDependencies,
  [before, after]: readonly [Config, Config],
  { host }: Changer,
): Promise<void> {
  const name = host === null ? null : hostNameOf(host);
  if (name !== null && before.trustedHosts.includes(name) && !after.trustedHosts.includes(name)) {
    const isOwn = isLoopbackHost(name) || hostNameOf(new URL(after.baseUrl).host) === name;
    if (!isOwn)
      throw invalidInput([
        {
          pointer: pointerOf("PARLEY_TRUSTED_HOSTS"),
          detail: `must contain ${name}, under which you use this server now; open it under another name first`,
        },
      ]);
  }
  await refuseLockedOutUsers({ db, encryptor }, before.signInProviders, after);
}

/** @throws ProblemError when users who can't use a password could sign in with none of the providers that are left. */
async function refuseLockedOutUsers(
  deps: Pick<ChangeDependencies, "db" | "encryptor">,
  before: readonly SignInProvider[],
  { signInProviders: after, baseUrl }: Config,
): Promise<void> {
  const clients = new Set(after.map(describeClient));
  const gone = before.filter((provider) => !clients.has(describeClient(provider)));
  if (gone.length === 0) return;
  const kept = new Set(before.filter((provider) => !gone.includes(provider)).map(({ issuer }) => issuer));
  const { withoutPassword, byRule } = await countLockedOut(deps.db.kysely, [...kept]);
  if (withoutPassword + byRule === 0) return;
  const [users, remedy] =
    withoutPassword > 0
      ? [
          `${withoutPassword} ${withoutPassword === 1 ? "user has" : "users have"} no password and could not sign in any more`,
          "send them a password reset first",
        ]
      : [
          `${byRule} ${byRule === 1 ? "user" : "users"} of workspaces with single sign-on only could not sign in any more`,
          "turn that rule off under Settings → Security first",
        ];
  for (const { id } of gone) {
    const pointer = pointerOf(id === defaultProviderId ? "PARLEY_OIDC_ISSUER" : "PARLEY_OIDC_PROVIDERS");
    const refuse = (detail: string): never => {
      throw invalidInput([{ pointer, detail }]);
    };
    const next = after.find((provider) => provider.id === id);
    if (next === undefined) refuse(`can't be removed: ${users}; ${remedy}`);
    else if (!(await hasPassed(deps, next))) {
      // Loaded only now: few changes are of the provider.
      const { checkProvider } = await import("../../../people/accounts/sso/check-provider.ts");
      await checkProvider(next, baseUrl).catch((error: unknown) =>
        refuse(`must be that of a provider that works: ${reasonOf(error)}; ${users}`),
      );
    }
  }
}

/** Changes settings, all or none. @param wanted the changes, or what they are beside the stored settings. */
export async function changeSettings(
  deps: ChangeDependencies,
  wanted: SettingChanges | ((stored: SettingTexts) => SettingChanges),
  by: Changer,
  undone: string | null = null,
): Promise<void> {
  const changesOf = typeof wanted === "function" ? wanted : () => wanted;
  const { db, encryptor, config } = deps;
  const { sources } = config;
  const before = textsOf(await findSettings(db.kysely), encryptor);
  const after = preview(sources, before, changesOf(before));
  await refuseLockout(deps, [configWithout(sources, before).config, after], by);
  await db.kysely.transaction().execute(async (tx) => {
    await lockSettings(tx);
    const stored = textsOf(await findSettings(tx), encryptor);
    // Another change may have been saved meanwhile.
    const changes = changesOf(stored);
    preview(sources, stored, changes);
    const isOther = (name: string): boolean => (stored[name] ?? null) !== (changes[name] || null);
    // A secret that was entered again belongs to the new URL: both are undone together.
    const names = Object.keys(changes).filter(
      (name) => isOther(name) || targetsOf([name]).some((target) => target in changes && isOther(target)),
    );
    if (undone !== null) await markUndone(tx, undone);
    if (names.length === 0) return;
    for (const name of names) await save(tx, encryptor, name, changes[name] || null, by.userId);
    const id = randomUUIDv7();
    const previous = Object.fromEntries(names.map((name) => [name, stored[name] ?? null]));
    await insertChange(tx, { id, names, previous: encryptTexts(encryptor, previous), userId: by.userId });
    if (by.actor !== null)
      await recordAudit(tx, by.actor, {
        action: "system_settings_changed",
        details: { change_id: id, names, ...(undone === null ? {} : { undo_of: undone }) },
      });
    await announceSettings(tx);
  });
}

async function save(
  tx: Tx,
  encryptor: Encryptor,
  name: string,
  text: string | null,
  userId: string | null,
): Promise<void> {
  const isSecret = byName.get(name)?.isSecret ?? true;
  const encrypted = isSecret && text !== null ? encryptTexts(encryptor, { [name]: text }) : null;
  await saveSetting(tx, { name, value: isSecret ? null : text, encrypted, userId });
}

/** The settings whose URLs the secrets among these are sent to. */
function targetsOf(names: readonly string[]): string[] {
  return names.flatMap((name) => byName.get(name)?.sentTo ?? []);
}

/** The latest changes; one can be undone unless it was, or a later one has changed the same settings. */
export async function listChanges({ db }: Pick<ChangeDependencies, "db">) {
  const later = new Set<string>();
  return (await findChanges(db.kysely)).map((row) => {
    // A secret of former times belongs to the URL of that time.
    const isLatest = ![...row.names, ...targetsOf(row.names)].some((name) => later.has(name));
    for (const name of row.names) later.add(name);
    return { ...row, can_undo: isLatest && row.undone_at === null };
  });
}

/** Brings back what the settings were before a change. */
export async function undoChange(deps: ChangeDependencies, id: string, by: Changer): Promise<void> {
  const change = (await listChanges(deps)).find((one) => one.id === id);
  if (change === undefined)
    throw new ProblemError("not_found", `there is no change ${id} of settings that can be undone`);
  if (!change.can_undo) throw new ProblemError("wrong_state", because("settings_change_outdated"));
  await changeSettings(deps, decryptTexts(deps.encryptor, change.previous), by, id);
}

/** Every setting with its value and where that comes from, as the API returns them. Secrets have no value. */
export async function describeSettings({ db, encryptor, config: { sources, baseUrl } }: ChangeDependencies) {
  const stored = await findSettings(db.kysely);
  const texts = textsOf(stored, encryptor);
  const rows = new Map(stored.map((row) => [row.name, row]));
  return shownSettings.map((setting) => {
    const { name, section, isSecret } = setting;
    const source = sourceOf(setting, sources, texts);
    const row = rows.get(name);
    return {
      name,
      section,
      help: helpOf(setting).replace("<base>", baseUrl),
      type: typeOf(setting.kind),
      default: setting.default,
      value: isSecret ? null : textOf(setting, sources, texts),
      is_secret: isSecret,
      is_set: source !== "default",
      source,
      changed_by: row?.changed_by ?? null,
      changed_datetime: row?.changed_at.toISOString() ?? null,
    };
  });
}

/** The texts of all settings that are set and that the app may have, secrets included. */
export async function readTexts({
  db,
  encryptor,
  config: { sources },
}: ChangeDependencies): Promise<SettingTexts> {
  const texts = textsOf(await findSettings(db.kysely), encryptor);
  const set = shownSettings.filter(
    (setting) => setting.where === "app" && sourceOf(setting, sources, texts) !== "default",
  );
  return Object.fromEntries(
    set.map((setting) => [setting.name, textOf(setting, sources, texts) ?? undefined]),
  );
}

/** The help without links, which lead to pages of the docs. */
export function helpOf({ meaning, shownDefault }: ListedSetting): string {
  const text = meaning
    // Bounded: a sentence of the table of settings.
    .replace(/(?: \((?:see )?\[[^\]]*\]\([^)]*\)\)|; see \[[^\]]*\]\([^)]*\)$)/g, "")
    // Bounded: as above.
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1");
  return `${text}.${shownDefault === undefined ? "" : ` Default: ${shownDefault}.`}`;
}
