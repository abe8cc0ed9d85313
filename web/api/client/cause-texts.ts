import type { Cause } from "../../../contract/causes/causes.ts";

/** The app's texts for errors and causes, loaded with the first of them; null if they don't load. */
export async function loadCauseTexts(): Promise<typeof import("../../causes/describe.ts") | null> {
  try {
    return await import("../../causes/describe.ts");
  } catch (error) {
    console.error("the texts of errors could not be loaded", error);
    return null;
  }
}

/** The app's text for a cause; else the server's, in English. */
export async function textOfCause(cause: Cause | null | undefined, detail: string): Promise<string> {
  return (await loadCauseTexts())?.detailText(cause ?? undefined, detail) ?? detail;
}
