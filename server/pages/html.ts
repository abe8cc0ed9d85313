/** Text that is HTML already, so that it goes into a page as it is. */
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

/** A text as it may stand between tags and in a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => escapes[character] ?? character);
}

/** HTML with values in it: texts are escaped, other HTML and lists of it stand as they are, null is nothing. */
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
