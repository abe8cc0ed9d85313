/** Groups of settings that a test can try. */
export const settingsTests = ["mail", "speech", "language_model", "sign_in", "backups", "proxy"] as const;

export type SettingsTest = (typeof settingsTests)[number];

/** What proves the settings of a section. */
export const testsOfSections: Readonly<Record<string, SettingsTest>> = {
  Mail: "mail",
  Speech: "speech",
  "Language model": "language_model",
  "Sign-in": "sign_in",
  Backups: "backups",
  "Webhooks and outgoing requests": "proxy",
};
