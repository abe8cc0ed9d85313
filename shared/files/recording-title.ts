/** Characters of a title. */
export const maxTitleLength = 500;

/** An extension has a letter: `Budget 1.2` has none. */
export const extension = /\.(?=[0-9]{0,4}[a-z])[a-z0-9]{1,5}$/i;

/**
 * The title of a recording by the path of its file: the name without extension, or the name of its folder where the
 * program numbers the files.
 * @param isZoom of recordings of Zoom, whose folders are named by time and topic.
 */
export function titleOfPath(path: string, isZoom = false): string {
  const parts = path.split("/");
  const stem = (parts.at(-1) ?? "").replace(extension, "");
  const isNumbered = /^(?:video|audio)?[\d_ -]*$|^(?:zoom|audio_only)[\d_]*$/i.test(stem);
  const topic = (parts.at(-2) ?? "").replace(/^\d{4}-\d\d-\d\d \d\d\.\d\d\.\d\d */, "").trim();
  return cleanTitle((isZoom || isNumbered) && topic !== "" ? topic : stem);
}

/** On one line, without control characters, of the length that titles may have. */
export function cleanTitle(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it removes.
  const plain = text.replace(/[\u0000-\u001f\u007f]+/g, " ").trim();
  return plain.slice(0, maxTitleLength).toWellFormed();
}
