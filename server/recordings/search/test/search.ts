import { call, type TestApp } from "../../../../test/support/app.ts";
import { makeRecording } from "../../../../test/support/factories.ts";

/** The parts of a search response that tests check. */
export interface SearchAnswer {
  readonly results: {
    readonly recording: { readonly id: string; readonly title: string };
    readonly hits: {
      readonly kind: string;
      readonly timestamp: number | null;
      readonly snippet: { readonly text: string; readonly marks: { start: number; end: number }[] };
      readonly speaker: string | null;
      readonly participant_id: string | null;
      readonly highlight_id: string | null;
    }[];
  }[];
  readonly count: { readonly value: number; readonly is_exact: boolean } | null;
  readonly suggestion: string | null;
  readonly cursor: string | null;
}

/** Searches through the management API. */
export function searchCall(app: TestApp, token: string | null, query: Record<string, string>) {
  return call<SearchAnswer & { detail: string; error: string; violations?: { pointer: string }[] }>(
    app,
    "GET",
    `/_/api/v1/search?${new URLSearchParams(query)}`,
    undefined,
    { token, version: null },
  );
}

/** The titles of the results, in order. */
export async function titlesFound(
  app: TestApp,
  token: string,
  query: string | Record<string, string>,
): Promise<string[]> {
  const { status, body, text } = await searchCall(
    app,
    token,
    typeof query === "string" ? { q: query } : query,
  );
  if (status !== 200) throw new Error(text);
  return body.results.map((result) => result.recording.title);
}

/** The marked parts of a hit. */
export function marked(hit: SearchAnswer["results"][number]["hits"][number] | undefined): string[] {
  if (hit === undefined) return [];
  return hit.snippet.marks.map(({ start, end }) => hit.snippet.text.slice(start, end));
}

/** A recording with a transcript of these lines, ten seconds each. */
export async function makeSpoken(
  app: TestApp,
  token: string,
  title: string,
  lines: readonly string[],
  attributes: Record<string, unknown> = {},
  language = "en",
): Promise<string> {
  const segments = lines.map((text, n) => ({
    speaker_key: `s${n % 2}`,
    start: n * 10_000,
    end: n * 10_000 + 9000,
    text,
  }));
  const { recordingId } = await makeRecording(app, token, {
    title,
    transcript: { language, segments },
    ...attributes,
  });
  return recordingId;
}
