import { Mark } from "@mantine/core";
import type { Snippet } from "../api/library/search.ts";

/** A snippet with its matches marked. */
export function Marked({ snippet: { text, marks } }: { snippet: Snippet }) {
  const parts: React.ReactNode[] = [];
  let at = 0;
  for (const { start, end } of marks) {
    parts.push(text.slice(at, start));
    parts.push(<Mark key={start}>{text.slice(start, end)}</Mark>);
    at = end;
  }
  parts.push(text.slice(at));
  return <>{parts}</>;
}
