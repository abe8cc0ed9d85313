type Token = string | [value: string];

/**
 * Compiles a text that has at most values, such as "Delete {title}": as Lingui's compiler does, which is too large for the
 * browser. Texts with plurals or escaped characters are compiled while the app is built.
 */
export function compileSimple(text: string): Token[] {
  return text
    .split(/\{(\w+)\}/)
    .map((part, at): Token => (at % 2 === 1 ? [part] : part))
    .filter((part) => part !== "");
}
