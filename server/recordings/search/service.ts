import type { z } from "zod";
import {
  maxCountedResults,
  type SearchResult,
  type search as searchOperation,
} from "../../../contract/recordings/search.ts";
import { readVisible } from "../../people/access/read-visible.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import { type Database, readFor } from "../../platform/db/database.ts";
import type { Queryable } from "../../platform/db/replica.ts";
import { readWithinTime } from "../../platform/db/within-time.ts";
import type { ThumbnailLinks } from "../recordings/json/links.ts";
import { searchSettings } from "./count.ts";
import {
  decodeHitsCursor,
  decodeSearchCursor,
  encodeHitsCursor,
  encodeSearchCursor,
  nameQuestion,
} from "./cursor.ts";
import { type Count, type Found, findPage, type SearchFilter } from "./find.ts";
import { type Hit, hitInSegment, hitsAround, textsAround } from "./hits.ts";
import { findMoments, type Moment } from "./moments.ts";
import { type ReadTerm, readQuery } from "./read-query.ts";
import { wordsToIndex } from "./snippet.ts";
import { suggestQuery } from "./suggest.ts";
import type { Term } from "./terms.ts";
import { type FoundRecording, indexWords, readFound, readSegments, type ShownSegment } from "./texts.ts";

type Result = z.output<typeof SearchResult>;
type Answer = z.output<typeof searchOperation.response>;
type Query = z.output<typeof searchOperation.query>;

interface Dependencies {
  readonly db: Pick<Database, "pool" | "replica">;
  readonly baseUrl: string;
  readonly thumbnails: ThumbnailLinks;
  readonly log: { warn(fields: object, message: string): void };
  /** How long finding a suggestion may take; a second by default. */
  readonly optionalMs?: number;
}

/** To present a page. */
interface Presenting extends Pick<Dependencies, "baseUrl" | "thumbnails"> {
  readonly pool: Queryable;
}

/** Recordings per page, and most hits of each: in the transcript, and outside it. */
const pageSize = 10;
const maxMoments = 3;
const maxAround = 5;
/** Hits on a page where all of one recording are asked for. */
const momentsPageSize = 100;

/** A search may wait so long for what it can do without. */
const defaultOptionalMs = 1000;

/**
 * Runs a search over the recordings that the principal can see; the result reveals nothing about others.
 * @throws ProblemError `invalid_input` for a query without searchable words, `invalid_cursor`.
 */
export async function search(deps: Dependencies, principal: Principal, query: Query): Promise<Answer> {
  const { q, cursor, ...given } = query;
  const filter = lowerCaseIds(given);
  const terms = await readQuery(deps.db.pool, q);
  const question = nameQuestion([q, filter, principal.workspaceId]);
  const isOne = filter.recording_id !== undefined;
  const isCounted = !isOne && cursor === undefined;
  const { results, count, next } = await readVisible(
    deps.db,
    principal,
    (pool) =>
      (isOne ? searchOne : searchAll)({ ...deps, pool }, principal, terms, filter, { question, cursor }),
    (page) => page.results.map(({ recording }) => recording.id),
  );
  return {
    results,
    count: isCounted
      ? {
          value: Math.min(count.value, maxCountedResults),
          is_exact: count.is_exact && count.value <= maxCountedResults,
        }
      : null,
    suggestion:
      isCounted && next === null && count.value === 0
        ? await readOptional(deps, principal, (source) => suggestQuery(source, principal, q, terms, filter))
        : null,
    cursor: next,
  };
}

/** Reads what a search can do without, as a suggestion: null if it takes too long or fails. */
async function readOptional<T>(
  { db, log, optionalMs = defaultOptionalMs }: Dependencies,
  principal: Principal,
  read: (source: Queryable) => Promise<T>,
): Promise<T | null> {
  try {
    return await readFor(db, principal, (source) => readWithinTime(source, optionalMs, read, searchSettings));
  } catch (error) {
    log.warn({ err: error }, "no suggestion was found for a search");
    return null;
  }
}

interface Asked {
  readonly question: string;
  readonly cursor: string | undefined;
}

interface Page {
  readonly results: Result[];
  /** How many recordings match, also those deleted meanwhile. */
  readonly count: Count;
  readonly next: string | null;
}

async function searchAll(
  deps: Presenting,
  principal: Principal,
  terms: readonly ReadTerm[],
  filter: SearchFilter,
  { question, cursor }: Asked,
): Promise<Page> {
  const { recordings, count, next } = await findPage(deps.pool, principal, terms, filter, {
    cursor: cursor === undefined ? null : decodeSearchCursor(question, cursor),
    limit: pageSize,
  });
  const ids = recordings.map((place) => place.id);
  const findBest = async () => {
    const moments = await findBestMoments(deps.pool, terms, recordings);
    return new Map([...moments].map(([id, found]) => [id, bestOf(found)]));
  };
  return {
    results: await present(deps, terms, ids, findBest(), maxAround),
    count,
    next: next === null ? null : encodeSearchCursor(question, next),
  };
}

/**
 * The moments of the best pieces of each transcript: for one word that is frequent in the best piece, of the next one only
 * where there are too few to show.
 */
async function findBestMoments(
  pool: Queryable,
  terms: readonly Term[],
  recordings: readonly Found[],
): Promise<Map<string, Moment[]>> {
  const isOneWord = terms.filter(({ isExcluded }) => !isExcluded).flatMap(({ words }) => words).length === 1;
  if (!isOneWord) return findMoments(pool, terms, recordings);
  const first = recordings.map(({ id, pieces, isDense }) => ({
    id,
    pieces: pieces?.slice(0, isDense ? 1 : undefined) ?? null,
  }));
  const moments = await findMoments(pool, terms, first);
  const poor = recordings.filter(({ id, isDense }) => isDense && (moments.get(id)?.length ?? 0) < maxMoments);
  const next = poor.map(({ id, pieces }) => ({ id, pieces: pieces?.slice(1) ?? null }));
  for (const [id, more] of await findMoments(pool, terms, next))
    moments.set(id, [...(moments.get(id) ?? []), ...more]);
  return moments;
}

/** All hits of one recording; the first page starts with those outside the transcript. */
async function searchOne(
  deps: Presenting,
  principal: Principal,
  terms: readonly Term[],
  filter: SearchFilter,
  { question, cursor }: Asked,
): Promise<Page> {
  const shown = cursor === undefined ? null : decodeHitsCursor(question, cursor);
  const { recordings, count } = await findPage(deps.pool, principal, terms, filter, {
    cursor: null,
    limit: 1,
  });
  const ids = recordings.map((place) => place.id);
  const inAll = ids.map((id) => ({ id, pieces: null }));
  const [found = []] = [...(await findMoments(deps.pool, terms, inAll)).values()];
  const left = found.filter((moment) => shown === null || moment.position > shown.position);
  const taken = left.slice(0, momentsPageSize);
  const last = taken.at(-1);
  const results = await present(
    deps,
    terms,
    ids,
    Promise.resolve(new Map(ids.map((id) => [id, taken]))),
    shown === null ? Number.POSITIVE_INFINITY : 0,
  );
  return {
    results,
    count,
    next: left.length > taken.length && last ? encodeHitsCursor(question, last) : null,
  };
}

/** The segments with the most different terms, then with the most hits, in the order of time. */
function bestOf(moments: readonly Moment[]): Moment[] {
  return moments
    .toSorted((a, b) => b.found.size - a.found.size || b.count - a.count || a.position - b.position)
    .slice(0, maxMoments)
    .sort((a, b) => a.position - b.position);
}

async function present(
  { pool, baseUrl, thumbnails }: Presenting,
  terms: readonly Term[],
  ids: readonly string[],
  moments: Promise<ReadonlyMap<string, readonly Moment[]>>,
  maxAround: number,
): Promise<Result[]> {
  if (ids.length === 0) return [];
  const [found, segments] = await Promise.all([
    readFound(pool, terms, ids, { baseUrl, thumbnails }),
    moments.then((each) => readSegments(pool, terms, [...each.values()].flat())),
  ]);
  const texts = [...[...found.values()].flatMap(textsAround), ...segments.map((segment) => segment.text)];
  const wanted = terms.filter((term) => !term.isExcluded);
  // Phrases and prefixes match without stems.
  const languages = wanted.some(({ stems }) => stems.length > 0)
    ? [...new Set([...found.values()].flatMap(({ language }) => language ?? []))]
    : [];
  const indexed = await indexWords(pool, wordsToIndex(texts, wanted), languages);
  const segmentsOf = Map.groupBy(segments, (segment) => segment.recording_id);
  return ids.flatMap((id) => {
    const recording = found.get(id);
    if (recording === undefined) return [];
    const around = maxAround === 0 ? [] : hitsAround(recording, terms, indexed).slice(0, maxAround);
    const spoken = (segmentsOf.get(id) ?? []).map((segment: ShownSegment) =>
      hitInSegment(segment, terms, indexed),
    );
    return [presentResult(baseUrl, recording, [...around, ...spoken])];
  });
}

function presentResult(baseUrl: string, recording: FoundRecording, hits: Hit[]): Result {
  const { id, title, start_datetime, end_datetime, duration_ms, media_type, thumbnail_url } = recording;
  const url = `${baseUrl}/recordings/${id}`;
  return {
    recording: { id, title, start_datetime, end_datetime, duration_ms, media_type, url, thumbnail_url },
    hits,
  };
}

/** UUIDs are case-insensitive. */
function lowerCaseIds(filter: SearchFilter): SearchFilter {
  const lower = (id: string | undefined) => id?.toLowerCase();
  return {
    ...filter,
    recording_id: lower(filter.recording_id),
    team: lower(filter.team),
    meeting_type: lower(filter.meeting_type),
  };
}
