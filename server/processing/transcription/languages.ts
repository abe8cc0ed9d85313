import { whisperLanguages } from "../../../contract/workspace/whisper-languages.ts";

/** Names that speech servers use beside the codes of ISO 639 and the English names of the Unicode consortium. */
const otherNames: ReadonlyMap<string, string> = new Map(
  Object.entries({
    bengali: "bn",
    castilian: "es",
    flemish: "nl",
    haitian: "ht",
    letzeburgesch: "lb",
    mandarin: "zh",
    moldavian: "ro",
    moldovan: "ro",
    myanmar: "my",
    nynorsk: "nn",
    panjabi: "pa",
    pushto: "ps",
    sinhalese: "si",
    tagalog: "tl",
    valencian: "ca",
    // Whisper's code for Javanese differs from ISO 639.
    jw: "jv",
  }),
);

/**
 * Converts a speech server's language to a language code, which the contract requires: some servers return `en`, others
 * `english` (whisper.cpp and OpenAI do).
 * @returns null for an unknown language.
 */
export function toLanguageCode(name: string): string | null {
  const key = fold(name);
  const english = new Intl.DisplayNames(["en"], { type: "language" });
  const named =
    otherNames.get(key) ?? whisperLanguages.find((code) => fold(english.of(code) ?? code) === key);
  if (named !== undefined) return named;
  return /^[a-z]{2,3}([-_][a-z0-9]{2,8})*$/.test(key) ? key.replaceAll("_", "-") : null;
}

function fold(name: string): string {
  return name.trim().normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
}
