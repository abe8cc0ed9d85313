import { t } from "@lingui/core/macro";
import { startImport } from "../api/uploads.ts";
import { TrackProcessor } from "./capture/abilities.ts";
import type { FromEncoder, StartMessage, ToEncoder } from "./capture/messages.ts";
import { mixSound, type Sound } from "./capture/sound.ts";
import { pictureSize, type Sources } from "./capture/sources.ts";
import { createOutbox, type Outbox } from "./outbox/outbox.ts";
import { openFolder, type RecordingNote, writeNote } from "./outbox/pieces.ts";
import { transfers } from "./outbox/transfers.ts";

/** An encoder that has not finished after this long hangs; what it stored before is kept. */
const stopTimeoutMs = 30_000;

/** The server accepts nothing shorter. */
export const minRecordingMs = 10_000;

interface CalendarEvent {
  readonly ical_uid: string;
  readonly scheduled_start_datetime: string;
  readonly scheduled_end_datetime: string;
}

/** What a recording is about, as entered before it starts. */
export interface Details {
  readonly title: string;
  /** Whether the user left the title empty, so that the meeting or the summary may give one. */
  readonly isTitleGenerated: boolean;
  readonly participants: readonly {
    readonly name?: string;
    readonly email?: string;
    /** Filled in from the meeting: nobody knows whether they attended. */
    readonly is_invited?: true;
  }[];
  /** The meeting in the user's calendar. */
  readonly calendarEvent: CalendarEvent | null;
  /** Null: decided by the participants. */
  readonly meetingTypeId: string | null;
}

/** A recording in progress. */
export interface Recorder {
  readonly uploadId: string;
  readonly title: string;
  readonly outbox: Outbox;
  readonly folder: FileSystemDirectoryHandle;
  readonly sound: Pick<Sound, "microphone" | "sharedSound">;
  /** Milliseconds recorded so far. */
  elapsedMs(): number;
  /** The server accepts no longer recording. */
  readonly maxMs: number;
  readonly maxBytes: number;
  pause(): void;
  resume(): void;
  setMuted(isMuted: boolean): void;
  /** Highlights the current moment. @returns how many are highlighted. */
  mark(): number;
  moments(): readonly number[];
  /** Ends the recording; resolves once all of it is in the outbox. */
  stop(): Promise<void>;
}

/** Events of a recording. */
export interface RecorderEvents {
  /** It continues no longer: the user stopped sharing, or the browser failed. Null: no error. */
  readonly onEnded: (reason: string | null) => void;
  /** A source is gone, and the rest is still recorded. */
  readonly onWarning: (text: string) => void;
  readonly onTime: (ms: number) => void;
}

/**
 * Creates the recording's upload and starts to record. The caller has opened the sources and stops them after an error.
 * @throws ApiError when the server refuses it; Error when the browser can't record.
 */
export async function startRecorder(
  sources: Sources,
  details: Details,
  userId: string,
  events: RecorderEvents,
): Promise<Recorder> {
  const { id: uploadId, upload } = await startImport(
    { format: sources.main === null ? "m4a" : "mp4" },
    details.isTitleGenerated ? null : details.title,
    {
      source: "local_capture",
      participants: [...details.participants],
      ...(details.calendarEvent === null ? {} : { calendar_event: details.calendarEvent }),
      ...(details.meetingTypeId === null ? {} : { meeting_type_id: details.meetingTypeId }),
    },
  );
  if (upload === null) throw new Error(t`The server can't accept a recording right now. Try again.`);
  await transfers.hold(uploadId);
  try {
    return await record(sources, details, { uploadId, userId, upload }, events);
  } catch (error) {
    // Nothing was recorded.
    await transfers.discard(uploadId).catch(() => undefined);
    throw error;
  }
}

async function record(
  sources: Sources,
  details: Details,
  {
    uploadId,
    userId,
    upload,
  }: {
    readonly uploadId: string;
    readonly userId: string;
    readonly upload: { readonly max_duration_sec: number; readonly max_upload_bytes: number };
  },
  events: RecorderEvents,
): Promise<Recorder> {
  // Without it the browser may delete what is stored when the disk gets full. Some browsers ask the user.
  void navigator.storage.persist().catch(() => false);
  const folder = await openFolder(uploadId);
  let note: RecordingNote = {
    uploadId,
    userId,
    title: details.title,
    startedAt: new Date().toISOString(),
    moments: [],
  };
  await writeNote(folder, note);
  let writing: Promise<void> = Promise.resolve();
  const sound = await mixSound(sources);
  const outbox = createOutbox(folder);
  let elapsedMs = 0;
  const worker = new Worker(new URL("./capture/encoder.ts", import.meta.url), { type: "module" });
  const send = (message: ToEncoder, transferred: Transferable[] = []): void =>
    worker.postMessage(message, transferred);
  const ended = Promise.withResolvers<void>();
  const fail = (text: string): void => {
    ended.resolve();
    events.onEnded(text);
  };
  worker.onerror = ({ message }) =>
    fail(message || t`The browser couldn't start the encoder. Reload the page.`);
  worker.onmessage = ({ data }: MessageEvent<FromEncoder>) => {
    if (data.type === "piece") outbox.add(data.piece);
    else if (data.type === "done") ended.resolve();
    else if (data.type === "failed")
      fail(
        data.cause === "storage_full"
          ? t`The browser's storage is full. The recording up to this point is kept.`
          : data.message,
      );
    else {
      elapsedMs = data.ms;
      events.onTime(data.ms);
    }
  };
  const start = startMessage(sources, sound, folder);
  send(start, [start.audio, ...(start.picture === null ? [] : streamsOf(start.picture))]);
  watchTracks(sources, events);

  let stopping: Promise<void> | null = null;
  const stop = async (): Promise<void> => {
    // First of all: nothing is recorded from now on, even if the encoder hangs.
    sources.stop();
    send({ type: "stop" });
    const timer = setTimeout(ended.resolve, stopTimeoutMs);
    await ended.promise;
    clearTimeout(timer);
    await sound.close();
    worker.terminate();
  };
  return {
    uploadId,
    title: details.title,
    outbox,
    folder,
    sound,
    elapsedMs: () => elapsedMs,
    maxMs: upload.max_duration_sec * 1000,
    maxBytes: upload.max_upload_bytes,
    pause: () => send({ type: "pause" }),
    resume: () => send({ type: "resume" }),
    setMuted: sound.setMuted,
    mark() {
      note = { ...note, moments: [...note.moments, elapsedMs] };
      // One after the other, so that the last one written has all moments.
      writing = writing.then(() => writeNote(folder, note)).catch(() => undefined);
      return note.moments.length;
    },
    moments: () => note.moments,
    stop: () => {
      stopping ??= stop();
      return stopping;
    },
  };
}

function startMessage(sources: Sources, sound: Sound, folder: FileSystemDirectoryHandle): StartMessage {
  const { main, corner } = sources;
  return {
    type: "start",
    folder,
    sampleRate: sound.sampleRate,
    audio: sound.blocks,
    picture:
      main === null
        ? null
        : { ...pictureSize(main), main: framesOf(main), camera: corner === null ? null : framesOf(corner) },
  };
}

function framesOf(track: MediaStreamTrack): ReadableStream<VideoFrame> {
  if (TrackProcessor === undefined) throw new Error(t`This browser can't record video.`);
  return new TrackProcessor({ track }).readable;
}

function streamsOf({ main, camera }: NonNullable<StartMessage["picture"]>): Transferable[] {
  return camera === null ? [main] : [main, camera];
}

/** The user can stop sharing at the browser's own button, and devices can be unplugged. */
function watchTracks({ main, corner, microphone, sharedSound }: Sources, events: RecorderEvents): void {
  main?.addEventListener("ended", () => events.onEnded(null));
  // The user may have stopped sharing while the recording was being prepared.
  if (main?.readyState === "ended") events.onEnded(null);
  corner?.addEventListener("ended", () =>
    events.onWarning(t`The camera was disconnected. Everything else is still being recorded.`),
  );
  microphone?.addEventListener("ended", () =>
    events.onWarning(
      t`The microphone was disconnected. Everything else is still being recorded; to use another microphone, stop and record again.`,
    ),
  );
  sharedSound?.addEventListener("ended", () =>
    events.onWarning(t`The shared sound has ended. Everything else is still being recorded.`),
  );
}
