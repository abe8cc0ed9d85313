/** A count with its noun: `1 recording`, `2 recordings`. @param many where adding an s is wrong. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString()} ${count === 1 ? one : many}`;
}

/** What was left out, as in "2 recorders without user, 1 tag": a code is a noun in the plural, and where it is not enough, why. */
export function listOmitted(omitted: Readonly<Record<string, number>>): string {
  return Object.entries(omitted)
    .map(([code, count]) => {
      const [nouns = "", user] = code.split("_without_");
      const one = nouns.replace(/ies$/, "y").replace(/s$/, "").replaceAll("_", " ");
      const many = nouns.endsWith("s") ? nouns.replaceAll("_", " ") : `${one}s`;
      return `${counted(count, one, many)}${user === undefined ? "" : ` without ${user}`}`;
    })
    .join(", ");
}
