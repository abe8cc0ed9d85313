/** Two letters that stand for a person. */
export function initials(name: string): string {
  const words = name.trim().split(/\s+/);
  const letters = [words[0], words.length > 1 ? words[words.length - 1] : undefined];
  return letters
    .map((word) => [...(word ?? "")][0] ?? "")
    .join("")
    .toUpperCase();
}

/** Names as a line shows them: the first few, and how many more. */
export function namesInLine(names: readonly string[], most = 3): string {
  if (names.length <= most) return names.join(", ");
  return `${names.slice(0, most).join(", ")} +${names.length - most}`;
}
