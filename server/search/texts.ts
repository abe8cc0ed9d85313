import type pg from "pg";
import { stemmers } from "./languages.ts";
import { rankedQuery, spokenQuery, type Term } from "./terms.ts";

/** What is shown of a recording that was found, and the texts around its transcript that may hold hits. */
export interface FoundRecording {
  readonly id: string;
  readonly title: string;
  readonly start_datetime: string;
  readonly end_datetime: string;
  readonly duration_ms: number;
  readonly media_type: "audio" | "transcript" | "video";
  readonly tags: string[];
  /** PostgreSQL's name, null without a stemmer. */
  readonly language: string | null;
  readonly participants: { id: string; name: string; email: string | null }[];
  readonly highlights: { id: string; text: string; tags: string[]; start_ms: number }[];
}

/** At most so many participants, and highlights, of a recording are shown as hits. */
const mostOfKind = 20;

/** Reads recordings by their ids; what is gone by now is missing. */
export async function readFound(
  pool: pg.Pool,
  terms: readonly Term[],
  ids: readonly string[],
): Promise<Map<string, FoundRecording>> {
  const languages = ["", ...stemmers];
  const holds = (text: string) => `parley_search_vector(parley_search_clean(${text})) @@ q.query`;
  const { rows } = await pool.query<FoundRecording>(
    `select r.id, r.title, parley_timestamp(r.start_datetime) as start_datetime,
       parley_timestamp(r.end_datetime) as end_datetime, r.duration_ms, r.media_type, r.tags, s.language,
       case when s.head @@ $4::tsquery then coalesce((
         select json_agg(json_build_object('id', p.id, 'name', p.name, 'email', p.email)) from (
           select p.id, p.name, p.email from participants p
           where p.recording_id = r.id and ${holds("concat_ws(' ', p.name, p.email)")}
           order by p.position limit ${mostOfKind}) p), '[]') else '[]' end as participants,
       case when s.head @@ $5::tsquery then coalesce((
         select json_agg(json_build_object('id', h.id, 'text', h.text, 'tags', h.tags, 'start_ms', h.start_ms)) from (
           select h.id, h.text, h.tags, h.start_ms from highlights h
           where h.recording_id = r.id and ${holds("concat_ws(' ', h.text, array_to_string(h.tags, ' '))")}
           order by h.start_ms, h.id limit ${mostOfKind}) h), '[]') else '[]' end as highlights
     from recordings r
     join search_recordings s on s.recording_id = r.id
     join unnest($2::text[], $3::tsquery[]) q (language, query) on q.language = coalesce(s.language, '')
     where r.id = any($1::uuid[])`,
    [
      ids,
      languages,
      languages.map((language) => spokenQuery(terms, language)),
      rankedQuery(terms, "B"),
      rankedQuery(terms, "C"),
    ],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** A segment that is shown. */
export interface ShownSegment {
  readonly recording_id: string;
  readonly position: number;
  readonly participant_id: string | null;
  readonly speaker: string;
  readonly start_ms: number;
  readonly text: string;
}

/** Segments by recording and position, in the order of time. */
export async function readSegments(
  pool: pg.Pool,
  places: readonly { readonly recordingId: string; readonly position: number }[],
): Promise<ShownSegment[]> {
  if (places.length === 0) return [];
  const { rows } = await pool.query<ShownSegment>({
    name: "search_segments",
    text: `select t.recording_id, t.position, t.participant_id, t.speaker, t.start_ms, t.text
      from unnest($1::uuid[], $2::integer[]) w (recording_id, position)
      join transcript_segments t on t.recording_id = w.recording_id and t.position = w.position
      order by t.recording_id, t.position`,
    values: [places.map((place) => place.recordingId), places.map((place) => place.position)],
  });
  return rows;
}

/** What the index makes of a word of a text: none, one or more words, and their stems in some languages. */
export interface IndexedWord {
  readonly words: string[];
  readonly stems: string[];
}

/** Words of texts as the index has them. @param languages PostgreSQL's names of those the texts are in. */
export async function indexWords(
  pool: pg.Pool,
  words: readonly string[],
  languages: readonly string[],
): Promise<Map<string, IndexedWord>> {
  if (words.length === 0) return new Map();
  const { rows } = await pool.query<IndexedWord & { word: string }>({
    name: "search_index_words",
    text: `select t.word, v.words, array(
        select stem from unnest(v.words) w, unnest($2::text[]) language, parley_search_stem(language, w) stem
        where stem is not null) as stems
      from unnest($1::text[]) t (word)
      cross join lateral (select array(
        select l.lexeme from unnest(parley_search_vector(parley_search_clean(t.word))) l, unnest(l.positions) p
        order by p) as words) v`,
    values: [words, languages],
  });
  return new Map(rows.map((row) => [row.word, row]));
}
