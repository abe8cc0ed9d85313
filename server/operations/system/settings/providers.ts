import type { z } from "zod";
import { because } from "../../../../contract/causes/causes.ts";
import { defaultProviderId } from "../../../../contract/default-provider.ts";
import type {
  SignInProviderInput,
  TriedProvider as TriedProviderBody,
} from "../../../../contract/sign-in-providers.ts";
import { type Config, configWithout, type SettingTexts, sourceOf } from "../../../platform/config/config.ts";
import { allSettings, settings } from "../../../platform/config/settings.ts";
import { issuerKey } from "../../../platform/config/shared-issuers.ts";
import {
  findProviderProblems,
  type SignInProvider,
  toProvider,
  toStored,
} from "../../../platform/config/sign-in-providers.ts";
import { invalidInput, ProblemError } from "../../../platform/http/errors/problem.ts";
import { type ChangeDependencies, type Changer, changeSettings, type SettingChanges } from "./change.ts";
import { textsOf } from "./live.ts";
import { findSettings } from "./queries.ts";

type Input = z.output<typeof SignInProviderInput>;
export type TriedProvider = z.output<typeof TriedProviderBody>;

/** The list of providers, and the single variables of the first one. */
const listName = settings.signInProviders.name;
const firstNames: readonly string[] = Object.values(settings.singleSignOn).map(({ name }) => name);

/** All providers with where they are set up, as the API returns them: without secrets. */
export async function describeProviders({ db, encryptor, config }: ChangeDependencies) {
  const { sources, baseUrl } = config;
  const texts = textsOf(await findSettings(db.kysely), encryptor);
  const { signInProviders } = configWithout(sources, texts).config;
  const isFirst = hasFirst(sources, texts);
  const ofList = sourceOfName(listName, sources, texts);
  return {
    providers: signInProviders.map((provider) => {
      const { client_secret: _secret, ...shown } = toStored(provider);
      const source = isFirst && provider.id === defaultProviderId ? sourceOfFirst(sources, texts) : ofList;
      return {
        ...shown,
        redirect_uri: `${baseUrl}/sign-in/callback${provider.id === defaultProviderId ? "" : `/${provider.id}`}`,
        logout_uri: `${baseUrl}/sign-in/back-channel-logout/${provider.id}`,
        source: source === "default" ? ("app" as const) : source,
      };
    }),
    new_redirect_uri: `${baseUrl}/sign-in/callback/ID`,
    new_logout_uri: `${baseUrl}/sign-in/back-channel-logout/ID`,
    locked_by:
      ofList === "environment" || ofList === "file"
        ? ofList
        : sources.file === null
          ? null
          : ("file" as const),
  };
}

/** Adds a provider or changes it. */
export function saveProvider(deps: ChangeDependencies, id: string, input: Input, by: Changer): Promise<void> {
  return changeProviders(deps, id, by, (providers) => {
    const known = providers.find((provider) => provider.id === id);
    const changed = merge(id, known, input);
    return known === undefined
      ? [...providers, changed]
      : providers.map((provider) => (provider === known ? changed : provider));
  });
}

/** Removes a provider. @throws ProblemError `not_found`. */
export function deleteProvider(deps: ChangeDependencies, id: string, by: Changer): Promise<void> {
  return changeProviders(deps, id, by, (providers) => {
    if (!providers.some((provider) => provider.id === id))
      throw new ProblemError("not_found", because("sign_in_provider_gone", { id }));
    return providers.filter((provider) => provider.id !== id);
  });
}

/** The provider of a test, with the values of the form. @throws ProblemError */
export function triedProvider(
  { signInProviders }: Pick<Config, "signInProviders">,
  { id, values }: TriedProvider,
): SignInProvider {
  const known = signInProviders.find((provider) => provider.id === id);
  if (values !== undefined) return merge(id, known, values);
  if (known === undefined) throw new ProblemError("wrong_state", `there is no sign-in provider ${id}`);
  return known;
}

/** @throws ProblemError naming each wrong value. */
function merge(id: string, known: SignInProvider | undefined, input: Input): SignInProvider {
  const isSameIssuer = known !== undefined && issuerKey(known.issuer) === issuerKey(input.issuer);
  const secret = input.client_secret ?? (isSameIssuer ? known.clientSecret : undefined);
  const stored = { ...input, id, client_secret: secret ?? "" };
  const violations = findProviderProblems(stored).map(({ field, detail }) => ({
    pointer: `/${field}`,
    detail,
  }));
  if (secret === undefined)
    violations.push({
      pointer: "/client_secret",
      detail: known === undefined ? "is required" : "was entered for another issuer; enter it again",
    });
  if (violations.length > 0) throw invalidInput(violations);
  return toProvider(stored);
}

async function changeProviders(
  deps: ChangeDependencies,
  id: string,
  by: Changer,
  change: (providers: readonly SignInProvider[]) => readonly SignInProvider[],
): Promise<void> {
  const { sources } = deps.config;
  const changesOf = (texts: SettingTexts): SettingChanges => {
    const { signInProviders: before } = configWithout(sources, texts).config;
    const after = change(before);
    const first = hasFirst(sources, texts) ? before.find((one) => one.id === defaultProviderId) : undefined;
    // The first one moves to the list when it changes, so that all of its values have one place.
    const moves = first !== undefined && id === defaultProviderId;
    const listed = moves ? after : after.filter((provider) => provider !== first);
    const list = listed.length === 0 ? null : JSON.stringify(listed.map(toStored));
    return {
      [listName]: list,
      ...(moves
        ? Object.fromEntries(
            firstNames.filter((name) => isAnywhere(name, sources, texts)).map((name) => [name, null]),
          )
        : {}),
    };
  };
  try {
    await changeSettings(deps, changesOf, by);
  } catch (error) {
    throw atFields(error);
  }
}

/** Violations of the settings as those of the form. */
function atFields(error: unknown): unknown {
  if (!(error instanceof ProblemError) || error.violations === undefined) return error;
  return invalidInput(
    error.violations.map(({ pointer, detail }) => ({
      pointer: pointer.startsWith("/settings/") ? "/issuer" : pointer,
      detail,
    })),
  );
}

/** Whether the single variables set up a provider. */
function hasFirst(sources: Config["sources"], texts: SettingTexts): boolean {
  return isAnywhere(settings.singleSignOn.issuer.name, sources, texts);
}

function isAnywhere(name: string, sources: Config["sources"], texts: SettingTexts): boolean {
  return sourceOfName(name, sources, texts) !== "default";
}

/** Where the first provider is set up; the environment, if any of its values is. */
function sourceOfFirst(sources: Config["sources"], texts: SettingTexts) {
  const all = firstNames.map((name) => sourceOfName(name, sources, texts));
  return (["environment", "file", "app"] as const).find((source) => all.includes(source)) ?? "default";
}

function sourceOfName(name: string, sources: Config["sources"], texts: SettingTexts) {
  const setting = allSettings.find((one) => one.name === name);
  return setting === undefined ? "default" : sourceOf(setting, sources, texts);
}
