/** Fields that every line has, or that are shown another way. */
const shown: ReadonlySet<string> = new Set(["time", "level", "msg", "role", "err"]);

/** A line of the server's JSON log for a person to read; any other line as it is. */
export function readableLine(line: string): string {
  let entry: Record<string, unknown>;
  try {
    entry = JSON.parse(line) as Record<string, unknown>;
  } catch {
    return line;
  }
  if (typeof entry !== "object" || entry === null || typeof entry.msg !== "string") return line;
  const time = String(entry.time ?? "").slice(11, 19);
  const rest = Object.entries(entry)
    .filter(([name]) => !shown.has(name))
    .map(([name, value]) => ` ${name}=${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join("");
  const { stack, message } = (entry.err ?? {}) as { stack?: string; message?: string };
  const error = stack ?? message;
  return `${time} ${String(entry.level ?? "").padEnd(5)} ${entry.msg}${rest}${error ? `\n${error}` : ""}`;
}
