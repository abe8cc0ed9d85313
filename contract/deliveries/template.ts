/** Templates of deliveries: Markdown with placeholders in braces. The server fills them in; the web app lists them. */

export const placeholderNames = [
  "title",
  "url",
  "date",
  "duration",
  "people",
  "tags",
  "meeting_type",
  "summary",
  "transcript",
  "action_items",
  "chapters",
  "highlights",
] as const;

export type Placeholder = (typeof placeholderNames)[number];

/** What is sent below the title unless a delivery has a template of its own, with headings in a language. */
export function defaultTemplate(
  heading: Readonly<Record<"action_items" | "chapters" | "highlights", string>>,
): string {
  return `{date} · {duration} · {people}

{summary}

{transcript}

## ${heading.action_items}
{action_items}

## ${heading.chapters}
{chapters}

## ${heading.highlights}
{highlights}`;
}

export const maxTemplateLength = 10_000;

const pattern = /\{([a-z_]{1,40})\}/g;

function isPlaceholder(name: string): name is Placeholder {
  return placeholderNames.some((known) => known === name);
}

/** The names in braces that are no placeholders, each once. */
export function unknownPlaceholders(template: string): string[] {
  const names = [...template.matchAll(pattern)].map(([, name = ""]) => name);
  return [...new Set(names.filter((name) => !isPlaceholder(name)))];
}

/**
 * Whether the first lines of the transcript stand in the place of a summary that is missing: the template has no place of
 * their own for them, and may be older than `{transcript}`.
 */
export function showsTranscriptAsSummary(template: string): boolean {
  return template.includes("{summary}") && !template.includes("{transcript}");
}

/**
 * Fills in a template. A part of a line, between ` · `, goes when all its placeholders are empty, and a line with all its
 * parts; a heading goes when nothing stands below it.
 */
export function fillTemplate(template: string, values: Readonly<Record<Placeholder, string>>): string {
  const lines = template.split(/\r?\n/).flatMap((line) => {
    const parts = line.split(" · ").flatMap((part) => fillPart(part, values) ?? []);
    return parts.length === 0 ? [] : parts.join(" · ").split("\n");
  });
  const kept: string[] = [];
  let hasContent = false;
  // From the end, so that what stands below a heading is known.
  for (const line of lines.reverse()) {
    const isHeading = /^#{1,6} /.test(line);
    if (isHeading && !hasContent) continue;
    if (isHeading) hasContent = false;
    else if (line.trim() !== "") hasContent = true;
    // One blank line in place of several.
    if (line.trim() === "" && (kept.length === 0 || kept.at(-1)?.trim() === "")) continue;
    kept.push(line);
  }
  while (kept.at(-1)?.trim() === "") kept.pop();
  return kept.reverse().join("\n");
}

/** @returns null if all placeholders of the part are empty. */
function fillPart(part: string, values: Readonly<Record<Placeholder, string>>): string | null {
  let hasPlaceholder = false;
  let hasValue = false;
  const filled = part.replace(pattern, (whole, name: string) => {
    if (!isPlaceholder(name)) return whole;
    hasPlaceholder = true;
    if (values[name] !== "") hasValue = true;
    return values[name];
  });
  return hasPlaceholder && !hasValue ? null : filled;
}
