import type { FastifyBaseLogger } from "fastify";
import {
  type Config,
  configWithout,
  type SettingTexts,
  type SettingViolation,
} from "../../../platform/config/config.ts";
import type { Encryptor } from "../../../platform/crypto/encryptor.ts";
import type { Database } from "../../../platform/db/database.ts";
import { setOutboundProxy } from "../../../platform/outbound/proxy.ts";
import { decryptTexts, findSettings, type SettingRow } from "./queries.ts";

/** The settings of a running process, which follow those of the database. */
export interface LiveSettings {
  /** Its values are always the newest ones. */
  readonly config: Config;
  /** Reads the database now. While it can't be read, the last values stay. */
  follow(): Promise<void>;
  /** Called after values have changed. */
  onChange(listener: () => void): void;
}

interface Dependencies {
  readonly db: Pick<Database, "kysely">;
  readonly encryptor: Encryptor;
  readonly log: Pick<FastifyBaseLogger, "info" | "warn">;
}

/** The texts of stored settings. @param onUnreadable called for those that were encrypted with another secret. */
export function textsOf(
  rows: readonly SettingRow[],
  encryptor: Encryptor,
  onUnreadable: (violation: SettingViolation) => void = () => undefined,
): SettingTexts {
  const texts: Record<string, string> = {};
  for (const { name, value, encrypted } of rows) {
    try {
      const text = encrypted === null ? value : decryptTexts(encryptor, encrypted)[name];
      if (text != null) texts[name] = text;
    } catch (error) {
      onUnreadable({ name, detail: (error as Error).message });
    }
  }
  return texts;
}

/**
 * Reads the settings of the app for a command. One that is not valid any more is set aside, with a warning.
 * @param config those of the environment and the file.
 */
export async function readAppSettings(config: Config, deps: Dependencies): Promise<Config> {
  return withRows(config, await findSettings(deps.db.kysely), deps);
}

/** Settings with those of the app. */
function withRows(config: Config, rows: readonly SettingRow[], { encryptor, log }: Dependencies): Config {
  const warn = ({ name, detail }: SettingViolation): void =>
    log.warn({ setting: name }, `a setting of the app does not count: ${name} ${detail}`);
  const { config: all, ignored } = configWithout(config.sources, textsOf(rows, encryptor, warn));
  ignored.forEach(warn);
  setOutboundProxy(all.proxy);
  return all;
}

/** Whether any setting was made in the app; false in a database of an earlier version, or an empty one. */
export async function hasAppSettings({ pool }: Pick<Database, "pool">): Promise<boolean> {
  const { rows } = await pool.query<{ there: boolean }>(
    "select to_regclass('settings') is not null as there",
  );
  if (!rows[0]?.there) return false;
  return (await pool.query("select 1 from settings limit 1")).rows.length > 0;
}

/** Follows the settings of the database. Starts with those of the environment and the file. */
export function createLiveSettings(first: Config, deps: Dependencies): LiveSettings {
  const { log } = deps;
  let current = first;
  /** What was read last. */
  let seen = "[]";
  let hasFailed = false;
  const listeners = new Set<() => void>();
  const config = Object.defineProperties(
    {},
    Object.fromEntries(
      Object.keys(first).map((key) => [key, { enumerable: true, get: () => current[key as keyof Config] }]),
    ),
  ) as Config;

  async function read(): Promise<void> {
    const rows = await findSettings(deps.db.kysely);
    const state = JSON.stringify(
      rows.map(({ name, value, encrypted }) => [name, value, encrypted?.toString("base64")]),
    );
    if (state === seen) return;
    current = withRows(first, rows, deps);
    seen = state;
    log.info({ names: rows.map(({ name }) => name) }, "following the settings of the app");
    for (const listener of listeners) listener();
  }

  return {
    config,
    async follow() {
      try {
        await read();
        hasFailed = false;
      } catch (error) {
        if (!hasFailed) log.warn({ err: error }, "the settings of the app can't be read; the last ones stay");
        hasFailed = true;
      }
    },
    onChange: (listener) => void listeners.add(listener),
  };
}
