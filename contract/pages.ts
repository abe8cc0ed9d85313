/**
 * Addresses of the web app, below the base address. The server answers each with the same document, and the app shows
 * the page. Links that the API gives (`url`, `public_url`) lead here.
 */
export const pagePaths = [
  "/",
  "/recordings/:recording_id",
  "/search",
  "/uploads",
  "/uploads/:upload_id",
  "/highlights",
  "/highlights/:highlight_id",
  "/stories",
  "/stories/:story_id",
  "/settings",
  "/settings/*",
] as const;

/** Addresses of what public links show, to whoever has them: another document, by itself and in frames of other pages. */
export const sharedPagePaths = ["/s/:token", "/embed/:token"] as const;
