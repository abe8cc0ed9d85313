/**
 * The header by which the web app marks requests that no action of its user caused, such as checks for news. They don't count
 * as use of the session, so that an unattended page doesn't keep it alive.
 */
export const backgroundHeader = "parley-background";
