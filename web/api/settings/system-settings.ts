import { queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import type { SettingsTest } from "../../../contract/settings-tests.ts";
import * as providersContract from "../../../contract/sign-in-providers.ts";
import * as contract from "../../../contract/system-settings.ts";
import { type Body, call } from "../client/call.ts";

export type SystemSetting = z.output<typeof contract.getSettings.response>["settings"][number];

/** Values by name; null: back to the default. */
export type SettingEdits = Readonly<Record<string, string | null>>;

export const settingsQuery = queryOptions({
  queryKey: ["system", "settings"],
  queryFn: ({ signal }) => call(contract.getSettings, { signal }),
});

export const settingChangesQuery = queryOptions({
  queryKey: ["system", "setting-changes"],
  queryFn: ({ signal }) => call(contract.listSettingChanges, { signal }),
});

export const saveSettings = (settings: SettingEdits) => call(contract.updateSettings, { body: { settings } });

export const testSettings = (test: SettingsTest, settings: SettingEdits) =>
  call(contract.testSettings, { body: { test, settings } });

export const undoSettingChange = (id: string) =>
  call(contract.undoSettingChange, { params: { change_id: id } });

export type SignInProviders = z.output<typeof providersContract.listSignInProviders.response>;
export type SignInProvider = SignInProviders["providers"][number];
export type SignInProviderValues = Body<typeof providersContract.saveSignInProvider>;

/** Below the key of the settings: what changes them, such as an undo, may change the providers. */
export const signInProvidersQuery = queryOptions({
  queryKey: [...settingsQuery.queryKey, "sign-in-providers"],
  queryFn: ({ signal }) => call(providersContract.listSignInProviders, { signal }),
});

export const saveSignInProvider = (id: string, body: SignInProviderValues) =>
  call(providersContract.saveSignInProvider, { params: { provider_id: id }, body });

export const deleteSignInProvider = (id: string) =>
  call(providersContract.deleteSignInProvider, { params: { provider_id: id } });

/**
 * @param values that are not saved yet; absent: the saved ones.
 * @returns the URL at the provider, to open in another tab.
 */
export const startSignInTest = (id: string, values?: SignInProviderValues) =>
  call(contract.startSignInTest, { body: { provider: { id, ...(values === undefined ? {} : { values }) } } });
