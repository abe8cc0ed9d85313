import { lazyPart } from "../load-part.tsx";

/** A text of the server in the reader's language, whose code is loaded when it is first shown. */
export const ServerText = lazyPart(
  async () => (await import("../../causes/server-text.tsx")).ServerText,
  null,
);
