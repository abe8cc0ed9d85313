import { isAbsolute, resolve } from "node:path";
import { because } from "../../../../contract/causes/causes.ts";
import { sentenceOf, sentences } from "../../../../contract/sentences.ts";
import type { SettingsTest } from "../../../../contract/settings-tests.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { SignInProvider } from "../../../platform/config/sign-in-providers.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import { describeProxyRefusal, proxyFor } from "../../../platform/outbound/proxy.ts";
import { checkDestination } from "../../backup/folder.ts";
import { type Finding, failing, off, ok, reasonOf } from "../health/finding.ts";
import { type MailReceiver, testLanguageModel, testMail, testSpeech } from "../health/test-component.ts";
import { within } from "../health/within.ts";
import { type ChangeDependencies, preview, type SettingChanges } from "./change.ts";
import { textsOf } from "./live.ts";
import { type TriedProvider, triedProvider } from "./providers.ts";
import { findSettings } from "./queries.ts";

const backupsMs = 30_000;
const signInMs = 30_000;
const proxyMs = 15_000;

/** What a test found out. */
export interface SettingsTestResult {
  readonly passed: boolean;
  readonly message: string;
  readonly took_ms: number;
}

/**
 * Tries settings before they are saved. A test of each kind runs once at a time, so that they can't flood a server.
 * @param receiver of a test email: the caller; null: nothing is sent, only the connection is tried.
 * @param only the one sign-in provider to try.
 */
export function createSettingsTests(deps: ChangeDependencies) {
  const running = new Set<SettingsTest>();
  return async (
    test: SettingsTest,
    changes: SettingChanges,
    receiver: MailReceiver | null,
    only?: TriedProvider,
  ): Promise<SettingsTestResult> => {
    const { db, encryptor, config } = deps;
    const texts = textsOf(await findSettings(db.kysely), encryptor);
    const all = preview(config.sources, texts, changes);
    const wanted = only === undefined ? all : { ...all, signInProviders: [triedProvider(all, only)] };
    if (running.has(test)) throw new ProblemError("wrong_state", because("settings_test_running"));
    running.add(test);
    const startedAt = performance.now();
    try {
      const { state, explanation, remedy } = await tests[test](wanted, deps, receiver);
      return {
        passed: state === "ok",
        message: remedy === null ? explanation : `${explanation} ${remedy}`,
        took_ms: Math.round(performance.now() - startedAt),
      };
    } finally {
      running.delete(test);
    }
  };
}

const tests: Readonly<
  Record<
    SettingsTest,
    (config: Config, deps: ChangeDependencies, receiver: MailReceiver | null) => Promise<Finding>
  >
> = {
  mail: (config, _deps, receiver) => testMail(config, receiver),
  speech: ({ transcription, dataDir }, { db }) => testSpeech(transcription, { dataDir, session: db.session }),
  language_model: (config, { db }) => testLanguageModel({ config, db }),
  sign_in: testSignIn,
  backups: testBackups,
  proxy: testProxy,
};

/** Tests all providers, up to the first that fails. */
async function testSignIn({ signInProviders, baseUrl }: Config): Promise<Finding> {
  if (signInProviders.length === 0) return off(sentences.sign_in_off);
  const found: string[] = [];
  for (const provider of signInProviders) {
    const finding = await testProvider(provider, baseUrl);
    if (finding.state !== "ok") return finding;
    found.push(finding.explanation);
  }
  return ok(found.join(" "));
}

async function testProvider(provider: SignInProvider, baseUrl: string): Promise<Finding> {
  const { issuer } = provider;
  try {
    // Loaded only now, with its libraries.
    const { checkProvider } = await import("../../../people/accounts/sso/check-provider.ts");
    const found = await within(signInMs, sentenceOf("check_it_slow", { seconds: signInMs / 1000 }), () =>
      checkProvider(provider, baseUrl),
    );
    return ok(`${issuer} responds, ${found}.`);
  } catch (error) {
    const reason = reasonOf(error);
    return failing(
      reason.startsWith("the provider at ") ? reason : sentenceOf("sign_in_unusable", { issuer, reason }),
      sentences.sign_in_remedy,
    );
  }
}

async function testBackups(config: Config): Promise<Finding> {
  const { destination, passphrase } = config.backup;
  if (destination === null) return off(sentences.backup_test_off);
  try {
    await within(backupsMs, sentenceOf("check_no_response", { seconds: backupsMs / 1000 }), () =>
      checkDestination(destination, config, "write"),
    );
    const written = ok(
      sentenceOf(passphrase === null ? "backup_written_plain" : "backup_written", { destination }),
    );
    if (destination.startsWith("s3://") || isAbsolute(destination)) return written;
    // The name of a bucket alone is a folder's too.
    const folder = resolve(destination);
    return { ...written, remedy: sentenceOf("backup_relative", { folder, destination }) };
  } catch (error) {
    return failing(
      sentenceOf("backups_unstored", { destination, reason: reasonOf(error) }),
      destination.startsWith("s3://") ? sentences.backup_bucket_remedy : sentences.backup_folder_remedy,
    );
  }
}

const proxyRemedy = sentences.proxy_remedy;

/** What a proxy responds for a server that it does not allow or reach. */
const refusals: ReadonlySet<number> = new Set([403, 407, 502, 503, 504]);

/** Where requests go that leave the network, in the order of how much depends on them. */
function outsideOf({ signInProviders, languageModel, transcription, modelMirror }: Config): URL[] {
  const urls = [
    ...signInProviders.map(({ issuer }) => issuer),
    languageModel?.engine === "server" ? languageModel.url : null,
    transcription?.engine === "server" ? transcription.url : null,
    modelMirror ?? "https://huggingface.co/",
  ];
  return urls.flatMap((url) => (url == null ? [] : [new URL(url)]));
}

/** Sends a request by the proxy, as every other request to that server is sent. */
async function testProxy(config: Config): Promise<Finding> {
  const { proxy, sources } = config;
  const targets = outsideOf(config).filter((url) => proxyFor(url, sources.env, proxy) !== null);
  // A proxy hands a refusal of its own to http as if it were the server's.
  const target = targets.find(({ protocol }) => protocol === "https:") ?? targets[0];
  const used = target === undefined ? null : proxyFor(target, sources.env, proxy);
  if (target === undefined || used === null) return off(sentences.proxy_off);
  const { createDispatcher, fetchWith } = await import("../../../platform/outbound/dispatcher.ts");
  const dispatcher = createDispatcher({}, { env: sources.env, own: proxy });
  try {
    const response = await fetchWith(dispatcher, target.origin, {
      method: "HEAD",
      redirect: "manual",
      signal: AbortSignal.timeout(proxyMs),
    });
    await response.body?.cancel();
    if (target.protocol === "http:" && refusals.has(response.status))
      return failing(
        `A request to ${target.host} by the proxy ${used.origin} was refused with status ${response.status}`,
        proxyRemedy,
      );
    return ok(sentenceOf("proxy_ok", { host: target.host, proxy: used.origin }));
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    const isLate = (error as Error).name === "TimeoutError";
    return failing(
      isLate
        ? `The proxy ${used.origin} passed on no response of ${target.host} within ${proxyMs / 1000} s`
        : `A request to ${target.host} by the proxy ${used.origin} failed: ${describeProxyRefusal(error) ?? reasonOf(cause)}`,
      proxyRemedy,
    );
  } finally {
    await dispatcher.destroy();
  }
}
