import { lazyPart } from "../common/load-part.tsx";

/** The public links dialog, loaded on demand because its date picker is large. */
export const LazyLinkManager = lazyPart(async () => (await import("./link-manager.tsx")).LinkManager);
