import type { z } from "zod";
import type { Chapter } from "../../../../contract/recordings/chapters.ts";
import type { Point } from "../../../../contract/recordings/points.ts";
import { sentenceOf, sentences } from "../../../../contract/sentences.ts";
import { ModelServerError } from "../../../platform/model-server/refusal.ts";
import { jsonSchemaOf } from "../server/response.ts";
import { maxItems, provenItems, type StoredItem } from "./action-items.ts";
import { arrangeChapters, type FoundChapter, findChapters } from "./chapters.ts";
import { chunkLines, estimateTokens } from "./chunks.ts";
import type { Line } from "./lines.ts";
import { groupNotes, maxNotes, noteText, sizeOf, thinOut } from "./notes.ts";
import { maxPoints, provenPoints } from "./points.ts";
import * as prompts from "./prompts.ts";
import { keepProven, type Note, type Prove, proveFromNotes, proveFromTranscript } from "./proofs.ts";
import { indexQuotes, type QuoteIndex } from "./quotes.ts";
import { type Said, safeLine, saidIn } from "./sanitize.ts";
import {
  type AnsweredItem,
  type AnsweredPoint,
  ChaptersAnswer,
  type Cited,
  CondensedAnswer,
  type DataKind,
  OverviewAnswer,
  PartAnswer,
  type SectionKindName,
  sectionAnswers,
  WholeAnswer,
} from "./schemas.ts";
import { isEmptySection, maxColumns, proveSection, type StoredSection, toStoredSection } from "./sections.ts";

/** A request to the model. */
export interface Question<T> {
  readonly name: "minutes" | "part" | "condensed" | "overview" | "section" | "chapters";
  readonly user: string;
  readonly schema: z.ZodType<T>;
  readonly maxOutputTokens: number;
}

/** Sends a request and returns a response that matches. @throws TruncatedAnswer, ModelServerError, or what ends the run. */
export type Ask = <T>(question: Question<T>) => Promise<T>;

/** The response was cut off at the output limit. */
export class TruncatedAnswer extends Error {}

export interface Template {
  readonly title: string;
  readonly kind: SectionKindName;
  readonly prompt: string;
}

export interface Meeting extends prompts.MeetingFacts {
  readonly lines: readonly Line[];
  readonly templates: readonly Template[];
  readonly startDatetime: Date;
  /** Of the recording. */
  readonly durationMs: number;
  /** To write in; null: that of the transcript. */
  readonly language: string | null;
  /** Whether to divide it into chapters. */
  readonly hasChapters: boolean;
}

/**
 * The validated results of a model for a meeting. A part is null where nothing of it could be proven or generated: it does
 * not replace what an earlier run proved. An empty part says that the meeting has nothing of the kind, and does.
 */
export interface MeetingSummary {
  /** Of the summary. */
  readonly points: readonly Point[] | null;
  /** Empty: none. */
  readonly title: string;
  /** The name as the model returned it; null: none fits. */
  readonly meetingType: string | null;
  readonly items: StoredItem[] | null;
  readonly sections: { readonly title: string; readonly section: StoredSection | null }[];
  readonly chapters: Chapter[] | null;
  /** What could not be generated although the rest could, for users to read. */
  readonly notes: string[];
}

/** Most participants listed in a request. */
const maxPeople = 100;
/** How often a chunk is halved when its response is too long. */
const deepestSplit = 3;
/** How often notes are shortened by the model before some are dropped. */
const maxCondensing = 4;
const maxTitle = 120;

/**
 * Has a model summarize a meeting: in one request where it fits into the model's context, else part by part (map),
 * and the whole from the notes of the parts (reduce). Action items are taken from the transcript itself, and each is
 * checked against it.
 * @param onPlan called with the number of requests as it becomes known; single ones may be added.
 */
export async function summarizeMeeting(
  ask: Ask,
  meeting: Meeting,
  contextTokens: number,
  onPlan: (requests: number) => void = () => {},
): Promise<MeetingSummary> {
  const participants = meeting.participants.slice(0, maxPeople);
  const { meetingTypes, length } = meeting;
  const facts = { participants, meetingTypes, length };
  const plan = planRequests(meeting, facts, contextTokens);
  const spoken = indexQuotes(meeting.lines);
  const said = saidIn(meeting.lines.map((line) => line.text).join("\n"));
  const topics = meeting.templates.map((template) => template.title);
  const run: Run = { ask, facts, plan, topics, said, leftOut: { unproven: 0, notes: 0 } };
  const parts = chunkLines(meeting.lines, plan.room);
  const later = meeting.templates.length + (meeting.hasChapters ? parts.length : 0);
  // Several parts are followed by one request for the whole.
  onPlan(parts.length === 1 ? 1 + later : parts.length + 1 + later);
  const whole = parts.length > 1 ? null : await tryWhole(run, meeting.lines, spoken);
  const { overview, answered, source } = whole ?? (await inParts(run, parts));

  const notes: string[] = [];
  const points = provenPoints(overview.summary, source.prove, said);
  run.leftOut.unproven += points.unproven;
  const sections: MeetingSummary["sections"] = [];
  for (const template of meeting.templates) {
    const { title, kind } = template;
    if (source.isEmpty) {
      sections.push({ title, section: null });
      continue;
    }
    const isDone = await orNote(notes, sentenceOf("run_section_failed", { title }), async () => {
      const answer = await askBriefly<unknown>(run, {
        name: "section",
        user: prompts.sectionPrompt(source.data, source.from, template),
        schema: sectionAnswers[source.from][kind],
      });
      const section = proveSection(kind, answer, { ...source, said });
      const { data, unproven, beyond: count, columnsBeyond } = section;
      run.leftOut.unproven += unproven;
      if (count > 0) notes.push(sentenceOf("run_section_beyond", { title, count, limit: maxPoints }));
      if (columnsBeyond > 0)
        notes.push(sentenceOf("run_columns_beyond", { title, count: columnsBeyond, limit: maxColumns }));
      if (!isEmptySection(data)) sections.push({ title, section: toStoredSection(title, section) });
      else if (unproven > 0) sections.push({ title, section: null });
    });
    if (!isDone) sections.push({ title, section: null });
  }
  noteUnproven(notes, run.leftOut.unproven, "point");
  if (points.beyond > 0)
    notes.push(sentenceOf("run_points_beyond", { count: points.beyond, limit: maxPoints }));
  if (run.leftOut.notes > 0) notes.push(sentenceOf("run_notes_beyond", { count: run.leftOut.notes }));
  const { items, unproven, unprovenAssignees, beyond } = provenItems(answered, {
    ...{ spoken, said, participants, everyone: meeting.participants, lines: meeting.lines },
    meetingStart: meeting.startDatetime,
  });
  noteUnproven(notes, unproven, "item");
  noteUnproven(notes, unprovenAssignees, "assignee");
  if (beyond > 0) notes.push(sentenceOf("run_items_beyond", { count: beyond, limit: maxItems }));
  const chapters = meeting.hasChapters ? await divide(run, meeting, parts, said, notes) : [];
  // Every meeting has something to say, so a summary without a point is a failed one. Its title is made up as well.
  const hasSummary = points.kept.length > 0;
  return {
    points: hasSummary ? points.kept : null,
    title: hasSummary ? safeTitle(overview.title, said) : "",
    meetingType: hasSummary ? overview.meeting_type : null,
    items: items.length === 0 && unproven > 0 ? null : items,
    sections,
    chapters,
    notes,
  };
}

/**
 * Adds a note when a part can't be generated; the other parts are generated all the same.
 * @returns whether it was.
 */
async function orNote(notes: string[], note: string, work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (
      !(error instanceof ModelServerError) ||
      !(error.failure === "unusable" || error.failure === "permanent")
    )
      throw error;
    notes.push(`${note} ${error.message}`);
    return false;
  }
}

/**
 * Has the model divide a meeting into chapters, part by part, and keeps those that their quotes prove.
 * @returns null when there were to be some.
 */
async function divide(
  run: Run,
  meeting: Meeting,
  parts: readonly Line[][],
  said: Said,
  notes: string[],
): Promise<Chapter[] | null> {
  const all: FoundChapter[] = [];
  let unproven = 0;
  let isWhole = true;
  for (const [index, part] of parts.entries()) {
    const note =
      parts.length === 1
        ? sentences.run_chapters_failed
        : sentenceOf("run_part_chapters_failed", { part: index + 1, parts: parts.length });
    const isDone = await orNote(notes, note, async () => {
      const data = prompts.transcriptData(part, run.facts.participants);
      const answer = await askBriefly(run, {
        name: "chapters",
        user: prompts.chaptersPrompt(data, index + 1, parts.length),
        schema: ChaptersAnswer,
      });
      const result = findChapters(answer.chapters, part, { said, durationMs: meeting.durationMs });
      all.push(...result.found);
      unproven += result.unproven;
    });
    isWhole &&= isDone;
  }
  const arranged = arrangeChapters(all);
  unproven += arranged.unproven;
  noteUnproven(notes, unproven, "chapter");
  return arranged.chapters.length === 0 && (unproven > 0 || !isWhole) ? null : arranged.chapters;
}

function noteUnproven(notes: string[], count: number, what: "item" | "assignee" | "chapter" | "point"): void {
  if (count > 0)
    notes.push(
      count === 1 ? sentences[`run_unproven_${what}`] : sentenceOf(`run_unproven_${what}s`, { count }),
    );
}

interface Run {
  readonly ask: Ask;
  readonly facts: prompts.MeetingFacts;
  readonly plan: Plan;
  readonly topics: readonly string[];
  readonly said: Said;
  /** Counted over all requests: points and notes without proof, and notes that were too many. */
  readonly leftOut: { unproven: number; notes: number };
}

interface Plan {
  readonly maxOutputTokens: number;
  /** Most tokens of transcript or notes in one request. */
  readonly room: number;
}

/** The result of both strategies: one request, or chunks. */
interface Minutes {
  readonly overview: {
    readonly summary: readonly AnsweredPoint[];
    readonly title: string;
    readonly meeting_type: string | null;
  };
  readonly answered: AnsweredItem[];
  readonly source: Source;
}

/** What summary and sections are written from: the transcript, or proven notes of its chunks. */
interface Source {
  readonly from: DataKind;
  readonly data: string;
  readonly prove: Prove;
  /** Whether there is nothing to write from. */
  readonly isEmpty: boolean;
}

/** How the context is divided: instructions, response, one correction; the rest is for the data. */
function planRequests(meeting: Meeting, facts: prompts.MeetingFacts, contextTokens: number): Plan {
  const maxOutputTokens = Math.min(8000, Math.floor(contextTokens / 4));
  const correction = Math.max(200, Math.min(1500, Math.floor(contextTokens / 16)));
  const longest = (texts: readonly string[]): number => Math.max(0, ...texts.map(estimateTokens));
  const questions = longest([
    prompts.wholePrompt("", facts),
    prompts.partPrompt(
      "",
      100,
      100,
      meeting.templates.map((template) => template.title),
    ),
    prompts.chaptersPrompt("", 100, 100),
    ...meeting.templates.map((template) => prompts.sectionPrompt("", "transcript", template)),
  ]);
  const schemas = longest(
    [WholeAnswer, PartAnswer, ChaptersAnswer, ...Object.values(sectionAnswers.transcript)].map((schema) =>
      JSON.stringify(jsonSchemaOf(schema)),
    ),
  );
  const fixed =
    estimateTokens(prompts.systemPrompt(meeting.language)) +
    questions +
    schemas +
    estimateTokens(prompts.transcriptData([], facts.participants));
  return { maxOutputTokens, room: Math.max(400, contextTokens - maxOutputTokens - correction - fixed) };
}

/** @returns null when its minutes are too long for one response. */
async function tryWhole(
  { ask, facts, plan, said }: Run,
  lines: readonly Line[],
  spoken: QuoteIndex,
): Promise<Minutes | null> {
  const data = prompts.transcriptData(lines, facts.participants);
  try {
    const { action_items: answered, ...overview } = await ask({
      name: "minutes",
      user: prompts.wholePrompt(data, facts),
      schema: WholeAnswer,
      maxOutputTokens: plan.maxOutputTokens,
    });
    const prove = proveFromTranscript(spoken, said);
    return { overview, answered, source: { from: "transcript", data, prove, isEmpty: false } };
  } catch (error) {
    if (error instanceof TruncatedAnswer) return null;
    throw error;
  }
}

/** @param parts that fit into a request. A single one is halved: its response was too long. */
async function inParts(run: Run, parts: readonly Line[][]): Promise<Minutes> {
  const { facts } = run;
  const chunks = parts.length > 1 ? parts : halves(parts[0] ?? []);
  const all: Note[] = [];
  const answered: AnsweredItem[] = [];
  for (const [index, chunk] of chunks.entries()) {
    const part = await askPart(run, chunk, index + 1, chunks.length, 0);
    all.push(...part.notes);
    answered.push(...part.items);
  }
  const notes = await condense(run, all);
  const data = prompts.notesData(notes);
  const source = { from: "notes", data, prove: proveFromNotes(notes), isEmpty: notes.length === 0 } as const;
  // Without a proven note, anything said about the meeting would be made up.
  const overview = source.isEmpty
    ? { summary: [], title: "", meeting_type: null }
    : await askBriefly(run, {
        name: "overview",
        user: prompts.overviewPrompt(data, facts),
        schema: OverviewAnswer,
      });
  return { overview, answered, source };
}

/** What a chunk holds. */
interface Part {
  readonly notes: Note[];
  readonly items: AnsweredItem[];
}

/** Notes and items of a chunk, which is halved if the response is too long. */
async function askPart(
  run: Run,
  lines: readonly Line[],
  part: number,
  parts: number,
  depth: number,
): Promise<Part> {
  const data = prompts.transcriptData(lines, run.facts.participants);
  const question = {
    name: "part" as const,
    user: prompts.partPrompt(data, part, parts, run.topics),
    schema: PartAnswer,
  };
  const read = (answer: z.output<typeof PartAnswer>): Part => ({
    notes: provenNotes(run, answer.notes, proveFromTranscript(indexQuotes(lines), run.said)),
    items: answer.action_items,
  });
  if (lines.length < 2 || depth >= deepestSplit) return read(await askBriefly(run, question));
  try {
    return read(await run.ask({ ...question, maxOutputTokens: run.plan.maxOutputTokens }));
  } catch (error) {
    if (!(error instanceof TruncatedAnswer)) throw error;
  }
  const both: Part = { notes: [], items: [] };
  for (const half of halves(lines)) {
    const answer = await askPart(run, half, part, parts, depth + 1);
    both.notes.push(...answer.notes);
    both.items.push(...answer.items);
  }
  return both;
}

/** Keeps the notes that are proven; the others are counted. */
function provenNotes(
  { leftOut }: Run,
  answered: readonly (Cited & { readonly text: string })[],
  prove: Prove,
): Note[] {
  const { kept, unproven, beyond } = keepProven(answered, maxNotes, prove, ({ text }) =>
    text.trim() === "" ? null : { text: noteText(text) },
  );
  leftOut.unproven += unproven;
  leftOut.notes += beyond;
  return kept.map(({ text, ...proof }) => ({ text, proof }));
}

function halves(lines: readonly Line[]): Line[][] {
  const middle = Math.ceil(lines.length / 2);
  return [lines.slice(0, middle), lines.slice(middle)].filter((half) => half.length > 0);
}

/** Shortens notes to fit one request: by the model as long as that helps, then by dropping some. */
async function condense(run: Run, notes: readonly Note[]): Promise<Note[]> {
  let now = [...notes];
  for (let round = 0; round < maxCondensing && sizeOf(now) > run.plan.room; round += 1) {
    const shorter: Note[] = [];
    for (const group of groupNotes(now, run.plan.room)) {
      const answer = await askBriefly(run, {
        name: "condensed",
        user: prompts.condensePrompt(prompts.notesData(group)),
        schema: CondensedAnswer,
      });
      shorter.push(...provenNotes(run, answer.notes, proveFromNotes(group)));
    }
    if (sizeOf(shorter) > 0.9 * sizeOf(now)) break;
    now = shorter;
  }
  const kept = thinOut(now, run.plan.room);
  run.leftOut.notes += now.length - kept.length;
  return kept;
}

/** Requests a shorter response if the first was cut off. @throws ModelServerError if the second is cut off too. */
async function askBriefly<T>(run: Run, question: Omit<Question<T>, "maxOutputTokens">): Promise<T> {
  const { maxOutputTokens } = run.plan;
  try {
    return await run.ask({ ...question, maxOutputTokens });
  } catch (error) {
    if (!(error instanceof TruncatedAnswer)) throw error;
  }
  try {
    return await run.ask({ ...question, user: question.user + prompts.briefly, maxOutputTokens });
  } catch (error) {
    if (!(error instanceof TruncatedAnswer)) throw error;
    throw new ModelServerError(
      "unusable",
      `The language model's responses are cut off after ${maxOutputTokens} tokens. Raise PARLEY_LLM_CONTEXT_TOKENS, or use a model that writes less reasoning.`,
    );
  }
}

function safeTitle(title: string, said: (address: string) => boolean): string {
  const line = safeLine(title.replace(/[#*_`]+/g, ""), said, maxTitle);
  // Bounded: the length of a title.
  return line.replace(/^["'“”„«»\s]+|["'“”„«»\s.]+$/g, "");
}
