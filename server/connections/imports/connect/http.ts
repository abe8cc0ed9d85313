import { sentenceOf } from "../../../../contract/sentences.ts";
import { formatOf, type MediaFormat } from "../../../../shared/files/media-formats.ts";
import { readWrittenTime } from "../../../../shared/times/written-time.ts";
import { TranscriptFileError } from "../../../../shared/transcripts/subtitles.ts";
import { readTranscriptFile } from "../../../../shared/transcripts/transcript-file.ts";
import {
  OutboundError,
  type OutboundResponse,
  readBytes,
  readJson,
} from "../../../platform/outbound/guarded-client.ts";
import { runInSlices } from "../../../platform/run-in-slices.ts";
import { RecordingError } from "../sources/errors.ts";
import { formatOfResponse } from "../sources/response-format.ts";
import type { ServiceAccess, ServiceTranscript } from "./service.ts";

/** A request failed for now; it is repeated later. The message names no credentials. */
export class TemporaryError extends Error {}

/** No longer response of an API is read. */
const maxJsonBytes = 16 * 1024 * 1024;
const maxTranscriptBytes = 12 * 1024 * 1024;

interface ServiceRequest {
  readonly url: string;
  readonly method?: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Sends one request to a service, to allowed hosts only.
 * @throws TemporaryError when it may succeed later, RecordingError when it is not allowed.
 */
export async function request(access: ServiceAccess, sent: ServiceRequest): Promise<OutboundResponse> {
  const { client, allowHosts, signal } = access;
  const response = await client.request({ ...sent, allowHosts, signal }).catch((error: Error) => {
    throw toServiceError(error);
  });
  if (response.status !== 429 && response.status < 500) return response;
  response.body.destroy();
  throw new TemporaryError(
    sentenceOf("connection_status", { host: new URL(sent.url).host, status: response.status }),
  );
}

/** Sends a request whose response is JSON. @returns the parsed body of a 2xx, otherwise the status alone. */
export async function requestJson(
  access: ServiceAccess,
  sent: ServiceRequest,
): Promise<{ readonly status: number; readonly json: unknown }> {
  const response = await request(access, sent);
  if (response.status >= 300) {
    response.body.destroy();
    return { status: response.status, json: null };
  }
  const { json } = await readJson(response, maxJsonBytes).catch((error: Error) => {
    if (!(error instanceof SyntaxError)) throw toServiceError(error);
    throw new RecordingError(sentenceOf("connection_not_json", { host: new URL(sent.url).host }));
  });
  return { status: response.status, json };
}

function toServiceError(error: Error): Error {
  if (!(error instanceof OutboundError)) return error;
  return error.isTemporary ? new TemporaryError(error.message) : new RecordingError(error.message);
}

/** How long reading may keep other requests waiting. */
const maxBlockingMs = 10;

/** Reads a response as a transcript. One that can't be read has no entries, and a note that says why. */
export async function readTranscript(
  response: OutboundResponse,
  offsetMs: number,
): Promise<ServiceTranscript> {
  const bytes = await readBytes(response, maxTranscriptBytes).catch((error: Error) => {
    throw toServiceError(error);
  });
  try {
    const { segments, notes } = await runInSlices(readTranscriptFile(bytes), maxBlockingMs);
    const entries = segments.map(({ speaker_key: speaker, start, end, text }) => ({
      participant_id: null,
      ...{ speaker, start: start + offsetMs, end: end + offsetMs, text },
    }));
    return { entries, notes };
  } catch (error) {
    if (!(error instanceof TranscriptFileError)) throw error;
    return { entries: [], notes: [error.message] };
  }
}

/** The format of a file by its URL, or else by the headers of its response. */
export function formatOfFile(url: string, { headers }: OutboundResponse, mediaType: string): MediaFormat {
  return formatOf(new URL(url).pathname) ?? formatOfResponse(headers, mediaType);
}

/** A time, in UTC unless it states a zone, or else another. */
export function timeOf(text: string | null | undefined, otherwise: Date): Date {
  const read = readWrittenTime(text ?? "", { timeZone: "UTC" });
  return "at" in read ? new Date(read.at) : otherwise;
}
