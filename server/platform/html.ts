/** Text that is already HTML and is not escaped again. */
export interface Html {
  readonly html: string;
}

type Piece = string | number | Html | null | readonly Html[];

const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Escapes a text for use between tags and in quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => escapes[character] ?? character);
}

/** Template tag for HTML: texts are escaped, Html values and lists of them are inserted unchanged, null is empty. */
export function html(strings: TemplateStringsArray, ...values: readonly Piece[]): Html {
  const pieces = strings.map(
    (text, index) => text + (index < values.length ? show(values[index] ?? null) : ""),
  );
  return { html: pieces.join("") };
}

function show(value: Piece): string {
  if (value === null) return "";
  if (typeof value === "string" || typeof value === "number") return escapeHtml(String(value));
  return "html" in value ? value.html : value.map((piece) => piece.html).join("");
}
