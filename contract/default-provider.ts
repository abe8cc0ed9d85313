/** The provider that the single variables set up. Its redirect URI has no id. */
export const defaultProviderId = "default";
