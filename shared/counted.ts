/** A count with its noun: `1 recording`, `2 recordings`. @param many where adding an s is wrong. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString()} ${count === 1 ? one : many}`;
}
