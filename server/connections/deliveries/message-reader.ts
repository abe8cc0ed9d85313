import { chooseLanguage } from "../../../shared/languages.ts";
import type { Executor } from "../../platform/db/database.ts";
import { i18nFor } from "../../platform/language/i18n.ts";
import type { Reader } from "./content.ts";

/** What an account says about its user. */
export interface KnownReader {
  readonly language: string | null;
  readonly timeZone: string | null;
}

/** What a message is about. */
interface Subject {
  readonly workspaceId: string;
  /** Null: a sample. */
  readonly recording: { readonly id: string; readonly transcript_language: string | null } | null;
}

/**
 * For whom to write what is sent of a recording. Where nothing is known of the reader, as in a chat, Parley's own words are
 * in the language of the workspace's summaries, else of the meeting, and times in the time zone of who recorded it.
 */
export async function readerOf(
  db: Executor,
  { workspaceId, recording }: Subject,
  known: KnownReader = { language: null, timeZone: null },
): Promise<Reader> {
  return {
    i18n: await i18nFor(known.language ?? (await messageLanguage(db, workspaceId, recording))),
    timeZone: known.timeZone ?? (recording && (await recorderTimeZone(db, recording.id))),
  };
}

async function messageLanguage(
  db: Executor,
  workspaceId: string,
  recording: Subject["recording"],
): Promise<string> {
  const settings = await db
    .selectFrom("intelligence_settings")
    .select("language")
    .where("workspace_id", "=", workspaceId)
    .executeTakeFirst();
  const wanted = settings?.language ?? recording?.transcript_language ?? null;
  return chooseLanguage(wanted === null ? [] : [wanted]);
}

/** The time zone of the first recorder whose time zone is known. */
async function recorderTimeZone(db: Executor, recordingId: string): Promise<string | null> {
  const row = await db
    .selectFrom("recording_recorders as rr")
    .innerJoin("users as u", "u.id", "rr.user_id")
    .select("u.email_time_zone")
    .where("rr.recording_id", "=", recordingId)
    .where("u.email_time_zone", "is not", null)
    .orderBy("rr.position")
    .executeTakeFirst();
  return row?.email_time_zone ?? null;
}
