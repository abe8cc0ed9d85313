import type { Queryable } from "../../platform/db/replica.ts";
import type { ThumbnailLinks } from "../recordings/json/links.ts";
import { thumbnailUrl } from "../recordings/json/recording.ts";
import { stemmers } from "./languages.ts";
import type { Word } from "./match.ts";
import { rankedQuery, selectorsOf, spokenQuery, type Term } from "./terms.ts";

/** What a result shows of a recording, and its texts outside the transcript that may have hits. */
export interface FoundRecording {
  readonly id: string;
  readonly title: string;
  readonly start_datetime: string;
  readonly end_datetime: string;
  readonly duration_ms: number;
  readonly media_type: "audio" | "transcript" | "video";
  readonly thumbnail_url: string | null;
  readonly tags: string[];
  /** PostgreSQL's name of the language; null without a stemmer. */
  readonly language: string | null;
  readonly participants: { id: string; name: string; email: string | null }[];
  readonly highlights: { id: string; text: string; tags: string[]; start_ms: number }[];
}

/** Most participants, and most highlights, that are shown as hits of a recording. */
const maxOfKind = 20;

/** Reads recordings by id; deleted ones are omitted. */
export async function readFound(
  pool: Queryable,
  terms: readonly Term[],
  ids: readonly string[],
  links: { readonly baseUrl: string; readonly thumbnails: ThumbnailLinks },
): Promise<Map<string, FoundRecording>> {
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const languages = ["", ...stemmers];
  // Only the forms of short texts have the ends of compounds; making them takes longer.
  const hasEnds = selectorsOf(terms).inner.length > 0;
  const ranked = hasEnds ? `${bind(rankedQuery(terms))}::tsquery` : "";
  const holds = (text: string, language: string) =>
    hasEnds
      ? `parley_search_short(${text}, 'A', ${language}) @@ ${ranked}`
      : `parley_search_vector(parley_search_clean(${text})) @@ q.query`;
  const text = `select r.id, r.title, parley_timestamp(r.start_datetime) as start_datetime,
       parley_timestamp(r.end_datetime) as end_datetime, r.duration_ms, r.media_type, r.tags, s.language,
       ${thumbnailUrl(`${bind(links.baseUrl)}::text`, { ...links, bind })} as thumbnail_url,
       case when s.head @@ ${bind(rankedQuery(terms, "B"))}::tsquery then coalesce((
         select json_agg(json_build_object('id', p.id, 'name', p.name, 'email', p.email)) from (
           select p.id, p.name, p.email from participants p
           where p.recording_id = r.id and ${holds("concat_ws(' ', p.name, p.email)", "null")}
           order by p.position limit ${maxOfKind}) p), '[]') else '[]' end as participants,
       case when s.head @@ ${bind(rankedQuery(terms, "C"))}::tsquery then coalesce((
         select json_agg(json_build_object('id', h.id, 'text', h.text, 'tags', h.tags, 'start_ms', h.start_ms)) from (
           select h.id, h.text, h.tags, h.start_ms from highlights h
           where h.recording_id = r.id and ${holds("concat_ws(' ', h.text, array_to_string(h.tags, ' '))", "s.language")}
           order by h.start_ms, h.id limit ${maxOfKind}) h), '[]') else '[]' end as highlights
     from recordings r
     join search_recordings s on s.recording_id = r.id
     join unnest(${bind(languages)}::text[], ${bind(languages.map((language) => spokenQuery(terms, language)))}::tsquery[])
       q (language, query) on q.language = coalesce(s.language, '')
     where r.id = any(${bind(ids)}::uuid[])`;
  const { rows } = await pool.query<FoundRecording>({
    name: hasEnds ? "search_found_ends" : "search_found",
    text,
    values,
  });
  return new Map(rows.map((row) => [row.id, row]));
}

/** A segment that a result shows. */
export interface ShownSegment {
  readonly recording_id: string;
  readonly position: number;
  readonly participant_id: string | null;
  readonly speaker: string;
  readonly start_ms: number;
  readonly text: string;
}

/**
 * Characters of a segment that a snippet is cut from. Segments stored before there was a limit may be megabytes; of those
 * only the text around the first hit is read.
 */
const maxShown = 10_000;
const shownBefore = 1000;

/** Segments by recording and position, in the order of time. */
export async function readSegments(
  pool: Queryable,
  terms: readonly Term[],
  places: readonly { readonly recordingId: string; readonly position: number }[],
): Promise<ShownSegment[]> {
  if (places.length === 0) return [];
  const { rows } = await pool.query<ShownSegment>({
    name: "search_segments",
    text: `select t.recording_id, t.position, t.participant_id, t.speaker, t.start_ms,
        case when length(t.text) <= ${maxShown} then t.text else substr(t.text, greatest(1, coalesce((
          select min(nullif(strpos(lower(t.text), word), 0)) from unnest($3::text[]) word), 1) - ${shownBefore}), ${maxShown})
        end as text
      from unnest($1::uuid[], $2::integer[]) w (recording_id, position)
      join transcript_segments t on t.recording_id = w.recording_id and t.position = w.position
      order by t.recording_id, t.position`,
    values: [
      places.map((place) => place.recordingId),
      places.map((place) => place.position),
      terms.filter((term) => !term.isExcluded).flatMap((term) => term.words),
    ],
  });
  return rows;
}

/**
 * What the index makes of each word of texts: any number of words, with their stems.
 * @param languages PostgreSQL's names of the texts' languages, for stems.
 */
export async function indexWords(
  pool: Queryable,
  words: readonly string[],
  languages: readonly string[],
): Promise<Map<string, Word[]>> {
  // Without stems, the form of a word of plain letters is known.
  const isKnown = (word: string): boolean => languages.length === 0 && /^[A-Za-z]{1,100}$/.test(word);
  const known = words
    .filter(isKnown)
    .map((word): [string, Word[]] => [word, [{ word: word.toLowerCase(), stems: [] }]]);
  const others = words.filter((word) => !isKnown(word));
  return new Map([...known, ...(others.length > 0 ? await readIndexWords(pool, others, languages) : [])]);
}

async function readIndexWords(
  pool: Queryable,
  words: readonly string[],
  languages: readonly string[],
): Promise<[string, Word[]][]> {
  const { rows } = await pool.query<{ word: string; forms: Word[] | null }>({
    name: "search_index_words",
    text: `select t.word, (
        select json_agg(json_build_object('word', l.lexeme, 'stems', array(
          select stem from unnest($2::text[]) language, parley_search_stem(language, l.lexeme) stem
          where stem is not null)) order by p)
        from unnest(parley_search_vector(parley_search_clean(t.word))) l, unnest(l.positions) p) as forms
      from unnest($1::text[]) t (word)`,
    values: [words, languages],
  });
  return rows.map(({ word, forms }) => [word, forms ?? []]);
}
