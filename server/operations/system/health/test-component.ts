import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sentenceOf, sentences } from "../../../../contract/sentences.ts";
import {
  checkMailServer,
  type OutgoingMail,
  sendMail,
} from "../../../people/accounts/one-time-links/mailer.ts";
import type {
  Config,
  LanguageModelServerSettings,
  LocalTranscriptionSettings,
  SmtpSettings,
  TranscriptionServerSettings,
  TranscriptionSettings,
} from "../../../platform/config/config.ts";
import type { Database } from "../../../platform/db/database.ts";
import { type I18n, i18nFor } from "../../../platform/language/i18n.ts";
import { ModelServerError } from "../../../platform/model-server/refusal.ts";
import { findNetworkReason } from "../../../platform/outbound/errors.ts";
import { type ObjectStore, type StoreKind, StoreLacksError } from "../../../platform/storage/store.ts";
import {
  type LanguageModel,
  openAiModel,
  openLanguageModel,
} from "../../../processing/intelligence/index.ts";
import { withScratch } from "../../../processing/media/scratch.ts";
import {
  hasLanguageModel,
  isMachineTaken,
  isRecognition,
  listInstalled,
} from "../../../processing/models/index.ts";
import { localTranscriber, openAiTranscriber } from "../../../processing/transcription/index.ts";
import { type Finding, failing, off, ok, reasonOf } from "./finding.ts";
import { within } from "./within.ts";

/** How long a model may take: longer than a loaded one needs, shorter than a request may take. */
const modelMs = 45_000;
const storageMs = 20_000;
const databaseMs = 10_000;

/** Tries a transaction that writes, which a read-only copy refuses. */
export async function testDatabase({ pool }: Pick<Database, "pool">): Promise<Finding> {
  const startedAt = performance.now();
  try {
    const { rows } = await within(
      databaseMs,
      sentenceOf("check_it_slow", { seconds: databaseMs / 1000 }),
      () =>
        pool.query<{ version: string; is_written: boolean; is_read_only: boolean }>(
          `select current_setting('server_version') as version, pg_current_xact_id() is not null as is_written,
           current_setting('transaction_read_only')::boolean as is_read_only`,
        ),
    );
    const ms = Math.round(performance.now() - startedAt);
    if (rows[0]?.is_read_only)
      return failing(sentences.database_read_only, sentences.database_read_only_remedy);
    return ok(sentenceOf("database_wrote", { version: rows[0]?.version ?? "", ms }));
  } catch (error) {
    return failing(sentenceOf("database_unusable", { reason: reasonOf(error) }), sentences.database_remedy);
  }
}

/**
 * Writes, reads and deletes an object.
 * @param kind the store that files are written to, of two while files are migrated.
 */
export async function testStorage(
  store: Pick<ObjectStore, "kind" | "probe">,
  config: Pick<Config, "dataDir" | "s3">,
  kind: StoreKind = store.kind,
): Promise<Finding> {
  try {
    await within(storageMs, sentenceOf("check_no_response", { seconds: storageMs / 1000 }), () =>
      store.probe(),
    );
    return ok(
      kind === "local" || config.s3 === null
        ? sentenceOf("folder_written", { folder: nameOfPlace(kind, config) })
        : sentenceOf("bucket_written", { bucket: nameOfPlace(kind, config) }),
    );
  } catch (error) {
    if (error instanceof StoreLacksError) return failing(reasonOf(error), sentences.store_lacks_remedy);
    return storageFailing(reasonOf(error), kind);
  }
}

/** What is wrong with the file store. */
export function storageFailing(reason: string, kind: StoreKind): Finding {
  return failing(reason, kind === "local" ? sentences.folder_remedy : sentences.bucket_remedy);
}

/** Where files are stored, for users to read. The settings may name both kinds of store. */
export function placeOf(kind: StoreKind, config: Pick<Config, "dataDir" | "s3">): string {
  return `the ${kind === "local" || config.s3 === null ? "folder" : "bucket"} ${nameOfPlace(kind, config)}`;
}

/** The folder, or the bucket and its host. */
export function nameOfPlace(kind: StoreKind, { dataDir, s3 }: Pick<Config, "dataDir" | "s3">): string {
  return kind === "local" || s3 === null
    ? join(dataDir, "objects")
    : `${s3.bucket}${s3.endpoint === null ? "" : ` at ${new URL(s3.endpoint).host}`}`;
}

/** Whom a test email is sent to, and the language it is in. */
export interface MailReceiver {
  readonly email: string;
  readonly language: string;
}

/**
 * Sends an email.
 * @param to null: only connects and signs in to the mail server.
 */
export async function testMail(
  { smtp, baseUrl }: Pick<Config, "smtp" | "baseUrl">,
  to: MailReceiver | null,
): Promise<Finding> {
  if (smtp === null) return mailOff();
  const { host } = new URL(smtp.url);
  try {
    if (to === null) {
      await checkMailServer(smtp);
      return ok(sentenceOf("mail_connected", { host }));
    }
    await sendMail(smtp, testMessage(await i18nFor(to.language), to.email, baseUrl));
    return ok(sentenceOf("mail_sent", { host, email: to.email }));
  } catch (error) {
    return failing(describeMailError(host, error), mailRemedy(error, smtp));
  }
}

export function testMessage(i18n: I18n, to: string, baseUrl: string): OutgoingMail {
  const text = i18n.t("This is a test of the mail settings of {url}. It was requested in Settings.", {
    url: baseUrl,
  });
  return { to, language: i18n.language, subject: i18n.t("Parley: test email"), text: `${text}\n` };
}

export function mailOff(): Finding {
  return off(sentences.mail_off);
}

interface MailError {
  readonly command?: string;
  readonly code?: string;
  readonly responseCode?: number;
  readonly message: string;
}

function describeMailError(host: string, error: unknown): string {
  const { code, command, responseCode, message } = error as MailError;
  if (responseCode !== undefined)
    return sentenceOf(refusedParts[command ?? ""] ?? "mail_refused_email", { host, reason: message });
  if (/greeting never received/i.test(message)) return sentenceOf("mail_no_greeting", { host });
  return code === "ETIMEDOUT"
    ? sentenceOf("mail_slow", { host })
    : sentenceOf("mail_unreachable", { host, reason: reasonOf(error) });
}

/** By the command of SMTP. */
const refusedParts: Readonly<Record<string, "mail_refused_sender" | "mail_refused_recipient">> = {
  "MAIL FROM": "mail_refused_sender",
  "RCPT TO": "mail_refused_recipient",
};

function mailRemedy(error: unknown, { from, url }: SmtpSettings): string {
  const { code, command, responseCode, message } = error as MailError;
  if (code === "EAUTH" || responseCode === 535 || responseCode === 530) return sentences.mail_password_remedy;
  if (command === "RCPT TO") return sentences.mail_recipient_remedy;
  if (responseCode !== undefined) return sentenceOf("mail_operator_remedy", { from });
  if (/certificate/.test(findNetworkReason(error) ?? "")) return sentences.mail_certificate_remedy;
  const isSecure = url.startsWith("smtps:");
  if (isSecure && findNetworkReason(error)?.includes("TLS")) return sentences.mail_starttls_remedy;
  if (!isSecure && /greeting never received/i.test(message)) return sentences.mail_port_remedy;
  return sentences.mail_remedy;
}

/** "Good morning, everyone.", as scripts/make-test-sound.ts writes it. */
const sentence = {
  path: fileURLToPath(new URL("./assets/test-sentence.wav", import.meta.url)),
  startMs: 0,
  endMs: 2000,
};

/** Has the speech model transcribe a spoken sentence. */
export async function testSpeech(
  settings: TranscriptionSettings | null,
  { dataDir, ...deps }: Pick<Config, "dataDir"> & Pick<Database, "session">,
): Promise<Finding> {
  if (settings === null) return speechOff();
  if (settings.engine === "local") return testBuiltInEngine(settings, { dataDir, ...deps });
  return testSpeechServer(settings);
}

/** The same for a speech server, which needs nothing of this installation. */
export async function testSpeechServer(settings: TranscriptionServerSettings): Promise<Finding> {
  const transcriber = openAiTranscriber(settings);
  const { host } = new URL(settings.url);
  return testModel("PARLEY_TRANSCRIPTION", host, async () => {
    const heard = await transcriber.transcribe(sentence, {
      language: settings.language,
      signal: AbortSignal.timeout(modelMs),
    });
    const [model, text] = [`${settings.model} at ${host}`, wordsOf(heard)];
    return text === ""
      ? sentenceOf("server_heard_nothing", { model })
      : sentenceOf("server_heard", { model, text });
  });
}

/** Transcribes the sentence with the built-in engine on this machine. */
async function testBuiltInEngine(
  settings: LocalTranscriptionSettings,
  deps: Pick<Config, "dataDir"> & Pick<Database, "session">,
): Promise<Finding> {
  const isInstalled = (await listInstalled(deps.dataDir)).some(isRecognition);
  if (!isInstalled && !settings.isRequired) return speechOff();
  const options = { language: settings.language, signal: AbortSignal.timeout(modelMs) };
  try {
    if (await isMachineTaken(deps.session)) return ok(sentences.engine_busy);
    return await withScratch(deps.dataDir, async ({ folder }) => {
      // The engine's process reads no other folder.
      const path = join(folder, "sentence.wav");
      await copyFile(sentence.path, path);
      const opened = await localTranscriber(settings, deps).open?.(folder, options);
      try {
        const heard = await opened?.transcribe({ ...sentence, path }, options);
        const text = wordsOf(heard);
        return ok(text === "" ? sentences.engine_heard_nothing : sentenceOf("engine_heard", { text }));
      } finally {
        await opened?.close();
      }
    });
  } catch (error) {
    if (options.signal.aborted)
      return failing(sentenceOf("engine_slow", { seconds: modelMs / 1000 }), sentences.engine_busy_remedy);
    return failing(reasonOf(error), sentences.engine_remedy);
  }
}

type Heard = Awaited<ReturnType<ReturnType<typeof openAiTranscriber>["transcribe"]>>;

/** What was recognized, up to 100 characters. */
function wordsOf(heard: Heard | undefined): string {
  const said = [...(heard?.segments ?? []), ...(heard?.words ?? [])].map(({ text }) => text.trim()).join(" ");
  return said.slice(0, 100);
}

export function speechOff(): Finding {
  return off(sentences.speech_off);
}

/** Asks the language model for one word. */
export async function testLanguageModel(deps: {
  readonly config: Pick<Config, "languageModel" | "dataDir">;
  readonly db: Pick<Database, "session">;
}): Promise<Finding> {
  const { languageModel } = deps.config;
  if (languageModel === null || !(await hasLanguageModel(deps.config))) return languageModelOff(deps.config);
  if (languageModel.engine === "server") return testLanguageModelServer(languageModel);
  const signal = AbortSignal.timeout(modelMs);
  try {
    if (await isMachineTaken(deps.db.session)) return ok(sentences.engine_busy_language);
    const model = await openLanguageModel(deps);
    await askForWord(model, signal);
    return ok(sentenceOf("built_in_responded", { model: model?.name ?? "" }));
  } catch (error) {
    if (signal.aborted)
      return failing(
        sentenceOf("language_model_slow", { seconds: modelMs / 1000 }),
        sentences.language_busy_remedy,
      );
    return failing(reasonOf(error), sentences.engine_remedy);
  }
}

/** The same for a server, which needs nothing of this installation. */
export async function testLanguageModelServer(settings: LanguageModelServerSettings): Promise<Finding> {
  const { host } = new URL(settings.url);
  return testModel("PARLEY_LLM", host, async () => {
    await askForWord(
      openAiModel({ ...settings, silenceMs: Math.min(settings.silenceMs, modelMs) }),
      AbortSignal.timeout(modelMs),
    );
    return sentenceOf("model_responded", { model: settings.model, host });
  });
}

async function askForWord(model: LanguageModel | null, signal: AbortSignal): Promise<void> {
  try {
    await model?.ask({
      system: "You are being tested. Respond as the schema requires.",
      messages: [{ role: "user", content: "Set the word to: ready" }],
      schema: {
        name: "test",
        json: {
          type: "object",
          properties: { word: { type: "string" } },
          required: ["word"],
          additionalProperties: false,
        },
      },
      // Models that reason before they respond need more than the word.
      maxOutputTokens: 1000,
      signal,
    });
  } finally {
    await model?.close();
  }
}

export function languageModelOff({ languageModel }: Pick<Config, "languageModel">): Finding {
  const isNamed = languageModel?.engine === "local" && languageModel.model !== null;
  return off(isNamed ? sentences.language_model_unknown : sentences.language_model_off);
}

async function testModel(prefix: string, host: string, work: () => Promise<string>): Promise<Finding> {
  try {
    return ok(await work());
  } catch (error) {
    if ((error as Error).name === "TimeoutError")
      return failing(
        sentenceOf("check_host_slow", { host, seconds: modelMs / 1000 }),
        sentenceOf("model_loading_remedy", { setting: `${prefix}_URL` }),
      );
    return modelFailing(prefix, error);
  }
}

/** The message names the setting to change, where the server's refusal shows it. */
function modelFailing(prefix: string, error: unknown): Finding {
  const isSetting = error instanceof ModelServerError && error.failure === "settings";
  return failing(
    reasonOf(error),
    isSetting
      ? sentences.model_setting_remedy
      : sentenceOf("model_server_remedy", { setting: `${prefix}_URL` }),
  );
}
