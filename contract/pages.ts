/**
 * Paths of the web app. The server returns the same document for each, and the app renders the page. The `url` fields of
 * the API point to these paths.
 */
export const pagePaths = [
  "/",
  "/recordings/:recording_id",
  "/recordings/:recording_id/print",
  "/meetings/:meeting_id",
  "/record/:upload_id",
  "/search",
  "/uploads",
  "/uploads/:upload_id",
  "/highlights",
  "/highlights/:highlight_id",
  "/action-items",
  "/ask",
  "/ask/:thread_id",
  "/stories",
  "/stories/:story_id",
  "/trash",
  "/settings",
  "/settings/*",
] as const;

/** Paths of public links: a separate document, shown on its own and embedded in other sites. */
export const publicLinkPagePaths = ["/s/:token", "/embed/:token"] as const;
