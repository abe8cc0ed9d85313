/** A catalog, as `vite-messages.ts` compiles it. */
declare module "*.po" {
  import type { Messages } from "@lingui/core";
  export const messages: Messages;
}

/** The English texts, changed for a pseudo-locale. */
declare module "virtual:pseudo/*" {
  import type { Messages } from "@lingui/core";
  export const messages: Messages;
}
