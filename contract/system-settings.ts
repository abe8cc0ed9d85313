/** Groups of settings that a test can try. */
export const settingsTests = ["mail", "speech", "language_model", "sign_in", "backups", "proxy"] as const;
