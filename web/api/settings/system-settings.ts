import { queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import type { SettingsTest } from "../../../contract/settings-tests.ts";
import * as contract from "../../../contract/system-settings.ts";
import { call } from "../client/call.ts";

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

/** @returns the URL at the provider, to open in another tab. */
export const startSignInTest = (settings: SettingEdits) =>
  call(contract.startSignInTest, { body: { settings } });

export const undoSettingChange = (id: string) =>
  call(contract.undoSettingChange, { params: { change_id: id } });
