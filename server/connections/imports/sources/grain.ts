import { createHash } from "node:crypto";
import { z } from "zod";
import { managedShape } from "../../../../contract/recordings/fields.ts";
import type { PortableRecording } from "../../../../contract/recordings/portable.ts";
import { MediaType, ShareState, Source } from "../../../../contract/recordings/recordings.ts";
import { sentenceOf, sentences } from "../../../../contract/sentences.ts";
import { versionNames } from "../../../../contract/versions.ts";
import { parseRanges } from "../../../platform/outbound/address-ranges.ts";
import { createGuardedClient, type GuardedClient } from "../../../platform/outbound/guarded-client.ts";
import { checkHookUrl } from "../../../platform/outbound/target.ts";
import { normalBaseUrl } from "./base-url.ts";
import { cleanId } from "./clean-text.ts";
import { ImportError, RecordingError, TokenRefusedError } from "./errors.ts";
import { requestJson, requestPatiently } from "./http.ts";
import { formatOfResponse } from "./response-format.ts";
import type { ImportSource, SourceItem, SourceMedia, SourceRecording } from "./source.ts";

/*
 * A service with the contract's API: Grain, or another Parley. Responses are read leniently, because the contract doesn't
 * say everything about them; what Parley's management API adds is used where there is one.
 */

/** Ids, and names, URLs and other texts of one line. */
const Id = z.string().min(1).max(200);
const Text = z.string().max(5000);
/** Summaries, notes and sections. */
const LongText = z.string().max(1_000_000);
const maxListed = 10_000;
const maxUsers = 100_000;
const nullable = <T extends z.ZodType>(type: T) => type.nullish().transform((value) => value ?? null);
const list = <T extends z.ZodType>(item: T) =>
  z
    .array(item)
    .max(maxListed)
    .nullish()
    .transform((value) => value ?? []);
/** A timestamp, normalized. */
const Time = z
  .string()
  .max(100)
  .transform((text, context) => {
    const at = new Date(text);
    if (!Number.isNaN(at.getTime())) return at.toISOString();
    context.addIssue({ code: "custom", message: "is not a timestamp" });
    return z.NEVER;
  });
const Ms = z.number().transform((value) => Math.max(0, Math.round(value)));

const RemoteParticipant = z.object({
  id: Id,
  name: nullable(Text).transform((name) => name ?? ""),
  email: nullable(Text),
  scope: z.enum(["internal", "external", "unknown"]).catch("unknown"),
  confirmed_attendee: z.boolean().catch(true),
  crm_contact_id: nullable(Id),
  observed_join_time: nullable(Time),
  observed_leave_time: nullable(Time),
});

const RemoteSection = z.object({ title: Text, data: z.record(z.string(), z.unknown()) });

const RemoteRecording = z.object({
  id: Id,
  title: nullable(Text).transform((title) => title ?? ""),
  url: nullable(Text),
  start_datetime: Time,
  end_datetime: Time,
  duration_ms: Ms,
  media_type: MediaType,
  source: Source.catch("other"),
  share_state: ShareState.catch("restricted"),
  tags: list(Text),
  teams: list(z.object({ name: Text })),
  recorders: list(z.object({ name: nullable(Text), email: nullable(Text) })),
  meeting_type: nullable(z.object({ name: Text, scope: z.enum(["internal", "external"]) })),
  participants: list(RemoteParticipant),
  highlights: list(
    z.object({
      id: Id,
      text: nullable(LongText).transform((text) => text ?? ""),
      timestamp: Ms,
      duration: Ms,
      tags: list(Text),
      created_datetime: Time,
    }),
  ),
  ai_summary: nullable(z.object({ text: nullable(LongText) })),
  ai_action_items: list(
    z.object({
      status: z.enum(["pending", "completed"]).catch("pending"),
      timestamp: nullable(Ms).transform((at) => at ?? 0),
      text: LongText,
      assignee: nullable(z.object({ id: Id })),
    }),
  ),
  ai_template_sections: list(RemoteSection),
  calendar_event: nullable(
    z.object({
      ical_uid: nullable(Text),
      scheduled_start_datetime: nullable(Time),
      scheduled_end_datetime: nullable(Time),
    }),
  ),
  crm: nullable(z.object({ crm_company_ids: list(Text), crm_deal_ids: list(Text) })),
  private_notes: nullable(z.object({ text: nullable(LongText) })),
  screenshares: list(z.object({ start: Ms, end: Ms, participant_id: Id })),
});
type RemoteRecording = z.output<typeof RemoteRecording>;

const RemoteEntries = z.array(
  z.object({ participant_id: nullable(Id), speaker: Text, start: Ms, end: Ms, text: LongText }),
);

const RemoteUser = z.object({ id: Id, email: Text }).partial();

/** A list page has many recordings. */
const maxPageBytes = 32 * 1024 * 1024;

/** Ends the list of a service that never stops returning new cursors. */
interface ListLimits {
  readonly pages: number;
  readonly recordings: number;
  /** Of all pages together. */
  readonly bytes: number;
}
const defaultLimits: ListLimits = { pages: 20_000, recordings: 200_000, bytes: 8 * 1024 ** 3 };

const RemotePage = z.object({
  cursor: nullable(z.string().max(10_000)),
  recordings: z.array(z.unknown()).max(maxListed),
});

/** What Parley's Get Recording View adds. */
const RemoteView = z.object({
  participants: list(z.object({ id: Id, phone: nullable(Text), attended: z.boolean() })),
  shared_users: list(z.object({ name: Text, email: Text })),
  meeting_type_is_automatic: z.boolean(),
  transcript: z.object({ language: nullable(Text) }),
});

/** Fields that only the view has; one of another type is left out. */
const ManagedFields = z.object(
  Object.fromEntries(
    Object.entries<z.ZodType>(managedShape).map(([name, type]) => [name, type.optional().catch(undefined)]),
  ),
);

const include = {
  highlights: true,
  participants: true,
  ai_action_items: true,
  ai_summary: true,
  calendar_event: true,
  crm: true,
  screenshares: true,
  ai_template_sections: { format: "json" },
};

/** Everything that requests to one service need. */
interface Service {
  readonly client: GuardedClient;
  readonly baseUrl: string;
  readonly token: string;
  readonly version: string;
  /** Whether the token acts for a user, whose private notes it sees; null: for the workspace. */
  readonly user: { readonly email: string } | null;
  readonly signal: AbortSignal | undefined;
  /** The longest pause that the service may ask for and that is waited for. */
  readonly maxHeldMs: number | undefined;
}

/**
 * Opens a service with the contract's API, in the newest version that it has.
 * @throws ImportError when it can't be reached or refuses the token.
 */
export async function grain(options: {
  readonly baseUrl: string;
  readonly token: string;
  readonly allowAddresses: string;
  readonly signal?: AbortSignal;
  /** Longer pauses that the service asks for are a WaitError. */
  readonly maxHeldMs?: number;
  readonly limits?: ListLimits;
}): Promise<ImportSource> {
  const problem = checkHookUrl(options.baseUrl, { httpsOnly: false });
  if (problem !== null) throw new ImportError(sentenceOf("import_base_url", { reason: problem }));
  const baseUrl = normalBaseUrl(options.baseUrl);
  const client = createGuardedClient({ allowAddresses: parseRanges(options.allowAddresses) });
  const { token, signal, maxHeldMs } = options;
  try {
    const service = await connect({ client, baseUrl, token, signal, maxHeldMs });
    return {
      kind: "grain",
      origin: baseUrl,
      emails: () => listEmails(service),
      list: () => listRecordings(service, options.limits ?? defaultLimits),
      close: () => client.close(),
    };
  } catch (error) {
    await client.close();
    throw error;
  }
}

/** Finds a version that the service has, and whose token it is. */
async function connect(base: Omit<Service, "version" | "user">): Promise<Service> {
  for (const version of versionNames.toReversed()) {
    const service: Service = { ...base, version, user: null };
    const { status, json } = await api(service, "/users", {});
    if (status === 401 || status === 403) throw new ImportError(sentences.import_token);
    if (status >= 300) continue;
    const users = z.object({ users: z.array(RemoteUser).max(maxUsers) }).safeParse(json);
    if (!users.success) continue;
    // Only personal tokens may ask for private notes.
    const notes = await api(service, "/recordings", { include: { private_notes: true } });
    return { ...service, user: notes.status < 300 ? await findUser(service, users.data.users) : null };
  }
  throw new ImportError(
    sentenceOf("import_versions", { url: base.baseUrl, versions: versionNames.join(", ") }),
  );
}

/** The user of a personal token, whom only Token Info names. */
async function findUser(
  service: Service,
  users: readonly { readonly id?: string | undefined; readonly email?: string | undefined }[],
): Promise<{ email: string } | null> {
  const { json } = await api(service, "/token-info", null);
  const id = z.object({ user_id: Id }).safeParse(json).data?.user_id;
  const email = users.find((user) => user.id === id)?.email;
  return email === undefined ? null : { email };
}

/** Calls an operation. @param body null: GET. */
function api(service: Service, path: string, body: object | null, maxBytes?: number) {
  return requestJson(
    service.client,
    {
      url: `${service.baseUrl}/_/public-api/v2${path}`,
      method: body === null ? "GET" : "POST",
      headers: headersOf(service),
      ...(body === null ? {} : { body: JSON.stringify(body) }),
      ...patienceOf(service),
    },
    maxBytes,
  );
}

function patienceOf({ signal, maxHeldMs }: Service) {
  return { ...(signal === undefined ? {} : { signal }), ...(maxHeldMs === undefined ? {} : { maxHeldMs }) };
}

function headersOf({ token, version }: Service): Record<string, string> {
  return {
    authorization: `Bearer ${token}`,
    "public-api-version": version,
    "content-type": "application/json",
    accept: "*/*",
  };
}

async function listEmails(service: Service): Promise<string[]> {
  const { json } = await api(service, "/users", {});
  const parsed = z.object({ users: z.array(z.object({ email: Text })).max(maxUsers) }).safeParse(json);
  return parsed.success ? parsed.data.users.map(({ email }) => email) : [];
}

async function* listRecordings(service: Service, limits: ListLimits): AsyncGenerator<SourceItem> {
  const wanted = service.user === null ? include : { ...include, private_notes: true };
  // Hashes, which are short whatever the ids are.
  const seen = new Set<string>();
  let cursor: string | null = null;
  let [pages, bytes] = [0, 0];
  do {
    pages += 1;
    if (pages > limits.pages) throw new ImportError(sentenceOf("import_pages", { limit: limits.pages }));
    const page: RecordingPage = await readPage(service, wanted, cursor);
    bytes += page.bytes;
    if (bytes > limits.bytes) throw new ImportError(sentenceOf("import_list_long", { bytes: limits.bytes }));
    for (const item of page.items) {
      const key = createHash("sha256").update(item.oldId).digest("base64").slice(0, 22);
      // A page may repeat what has moved while the pages were read.
      if (seen.has(key)) continue;
      seen.add(key);
      if (seen.size > limits.recordings)
        throw new ImportError(sentenceOf("import_recordings", { limit: limits.recordings }));
      yield item;
    }
    if (cursor !== null && page.cursor === cursor) throw new ImportError(sentences.import_repeated);
    ({ cursor } = page);
  } while (cursor !== null);
}

interface RecordingPage {
  readonly items: readonly SourceItem[];
  readonly cursor: string | null;
  readonly bytes: number;
}

/** Reads a page, of which nothing is kept but what is imported. */
async function readPage(service: Service, wanted: object, cursor: string | null): Promise<RecordingPage> {
  const { status, json, bytes } = await api(
    service,
    "/recordings",
    { include: wanted, ...(cursor === null ? {} : { cursor }) },
    maxPageBytes,
  );
  const page = RemotePage.safeParse(json);
  if (!page.success) throw new ImportError(sentenceOf("import_list_status", { status }));
  const items = page.data.recordings.map((raw) => itemOf(service, raw));
  return { items, cursor: page.data.cursor, bytes };
}

function itemOf(service: Service, raw: unknown): SourceItem {
  const parsed = RemoteRecording.safeParse(raw);
  if (parsed.success) {
    const recording = parsed.data;
    return {
      oldId: recording.id,
      mediaType: recording.media_type,
      load: () => aboutOne(() => load(service, recording)),
    };
  }
  const known = z.object({ id: z.string(), media_type: MediaType.catch("transcript") }).safeParse(raw);
  if (!known.success) return withoutId(raw);
  const [issue] = parsed.error.issues;
  return {
    oldId: cleanId(known.data.id),
    mediaType: known.data.media_type,
    load: async () => {
      throw new RecordingError(
        sentenceOf("import_invalid", { reason: `${issue?.path.join(".")} ${issue?.message}` }),
      );
    },
  };
}

/** What can't even be asked for, which the report counts. The same one has the same name in each run. */
function withoutId(raw: unknown): SourceItem {
  const hash = createHash("sha256")
    .update(JSON.stringify(raw) ?? "")
    .digest("hex");
  return {
    oldId: `without id ${hash.slice(0, 16)}`,
    mediaType: "transcript",
    load: async () => {
      throw new RecordingError(sentences.import_no_id);
    },
  };
}

/** Reads something of one recording, so that other recordings are imported when it fails. */
async function aboutOne<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof ImportError) || error instanceof TokenRefusedError) throw error;
    throw new RecordingError(error.message);
  }
}

/** @throws TokenRefusedError */
function refuse401(status: number): void {
  if (status === 401) throw new TokenRefusedError(sentences.import_token_ended);
}

async function load(service: Service, remote: RemoteRecording): Promise<SourceRecording> {
  const path = `/recordings/${encodeURIComponent(remote.id.toWellFormed())}`;
  const transcript = await api(service, `${path}/transcript`, null);
  refuse401(transcript.status);
  const entries = transcript.status === 404 ? [] : RemoteEntries.safeParse(transcript.json).data;
  if (entries === undefined)
    throw new RecordingError(sentenceOf("import_no_transcript", { status: transcript.status }));
  const view = await findView(service, remote.id);
  const recording: SourceRecording["recording"] = {
    format: "parley-recording",
    version: 1,
    id: remote.id,
    url: remote.url,
    title: remote.title,
    start_datetime: remote.start_datetime,
    end_datetime: remote.end_datetime,
    duration_ms: remote.duration_ms,
    media_type: remote.media_type,
    source: remote.source,
    share_state: remote.share_state,
    tags: remote.tags,
    ...view?.fields,
    teams: remote.teams,
    recorders: remote.recorders.map(({ name, email }) => ({ name: name ?? "", email: email ?? "" })),
    shared_users: view?.shared_users ?? [],
    meeting_type: remote.meeting_type,
    meeting_type_is_automatic: view?.meeting_type_is_automatic ?? remote.meeting_type === null,
    participants: remote.participants.map((person) => {
      const more = view?.participants.find(({ id }) => id === person.id);
      return { ...person, phone: more?.phone ?? null, attended: more?.attended ?? true };
    }),
    highlights: remote.highlights.map((one) => ({ ...one, created_by_email: null })),
    ai_summary: remote.ai_summary?.text || null,
    ai_action_items: remote.ai_action_items.map(({ assignee, ...item }) => ({
      ...item,
      participant_id: assignee?.id ?? null,
    })),
    ai_template_sections: await loadSections(service, path, remote),
    calendar_event: remote.calendar_event,
    crm:
      remote.crm !== null && remote.crm.crm_company_ids.length + remote.crm.crm_deal_ids.length > 0
        ? remote.crm
        : null,
    screenshares: remote.screenshares,
    private_notes: notesOf(service, remote),
    transcript_language: view?.transcript.language ?? null,
  };
  return {
    recording,
    entries,
    openMedia:
      remote.media_type === "transcript"
        ? null
        : () => aboutOne(() => openMedia(service, path, remote.media_type)),
  };
}

function notesOf({ user }: Service, remote: RemoteRecording): PortableRecording["private_notes"] {
  const text = remote.private_notes?.text;
  return user === null || !text ? [] : [{ email: user.email, text }];
}

/** Sections come in one format at a time. */
async function loadSections(
  service: Service,
  path: string,
  remote: RemoteRecording,
): Promise<PortableRecording["ai_template_sections"]> {
  const sections = remote.ai_template_sections;
  if (sections.length === 0) return [];
  const read = async (format: "markdown" | "text"): Promise<readonly string[]> => {
    const { json } = await api(service, path, { include: { ai_template_sections: { format } } });
    const found = z.object({ ai_template_sections: z.array(RemoteSection) }).safeParse(json);
    return (found.data?.ai_template_sections ?? []).map(({ data }) =>
      typeof data[format] === "string" ? data[format] : "",
    );
  };
  const [markdown, text] = [await read("markdown"), await read("text")];
  return sections.map((section, index) => ({
    ...section,
    markdown: markdown[index] ?? "",
    text: text[index] ?? "",
  }));
}

/** What the management API of a Parley adds; null: the service is another one. */
async function findView(service: Service, id: string) {
  const { status, json } = await requestJson(service.client, {
    url: `${service.baseUrl}/_/api/v1/recordings/${encodeURIComponent(id.toWellFormed())}`,
    headers: headersOf(service),
    ...patienceOf(service),
  }).catch((error: Error) => {
    // Another service may return a page for browsers there.
    if (error instanceof ImportError) return { status: 404, json: null };
    throw error;
  });
  const view = status >= 300 ? undefined : RemoteView.safeParse(json).data;
  return view === undefined ? null : { ...view, fields: ManagedFields.parse(json) };
}

async function openMedia(
  service: Service,
  path: string,
  mediaType: "video" | "audio" | "transcript",
): Promise<SourceMedia | null> {
  const response = await requestPatiently(service.client, {
    url: `${service.baseUrl}/_/public-api/v2${path}/download`,
    headers: headersOf(service),
    ...patienceOf(service),
  });
  if (response.status >= 300) {
    response.body.destroy();
    refuse401(response.status);
    throw new RecordingError(sentenceOf("import_no_media", { status: response.status }));
  }
  return { format: formatOfResponse(response.headers, mediaType), body: response.body };
}
