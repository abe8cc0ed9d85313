import dns from "node:dns";
import { type ChatKind, chatKinds, type DestinationKind } from "../../../contract/deliveries/deliveries.ts";
import { sentences } from "../../../contract/sentences.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Encryptor } from "../../platform/crypto/encryptor.ts";
import { allowedRanges, isAllowedAddress } from "../../platform/outbound/address-ranges.ts";
import { checkHookUrl } from "../../platform/outbound/target.ts";
import { type AttemptResponse, notSent } from "../webhooks/dispatch/attempt.ts";
import type { HookSender } from "../webhooks/transport/send.ts";
import type { Message } from "./content.ts";
import { chatPayload } from "./formats/chat.ts";
import type { DestinationRow } from "./queries.ts";

export function isChat(kind: DestinationKind): kind is ChatKind {
  return chatKinds.some((name) => name === kind);
}

const lookupMs = 3000;

/**
 * Why a URL can't be an incoming webhook; null: it can. A host that can't be found now is left to the first attempt, which
 * checks the IP addresses again.
 */
export async function checkWebhookUrl(
  url: string,
  config: Pick<Config, "hooksAllowAddresses">,
): Promise<string | null> {
  const problem = checkHookUrl(url, { httpsOnly: false });
  if (problem !== null) return problem;
  const hostname = new URL(url).hostname.replace(/^\[|\]$/g, "");
  const allowed = allowedRanges(config)();
  const late = AbortSignal.timeout(lookupMs);
  const addresses = await Promise.race([
    dns.promises.lookup(hostname, { all: true }).catch(() => []),
    new Promise<[]>((resolve) => late.addEventListener("abort", () => resolve([]))),
  ]);
  return addresses.every(({ address }) => isAllowedAddress(address, allowed))
    ? null
    : "leads to a private network; use the URL that the chat service shows";
}

/** Sends a message to an incoming webhook. The response never repeats the URL, which is a secret. */
export async function sendToChat(
  { sender, encryptor }: { readonly sender: HookSender; readonly encryptor: Encryptor },
  { kind, url }: { readonly kind: ChatKind; readonly url: DestinationRow["url"] },
  message: Message,
): Promise<AttemptResponse & { readonly isStopped: boolean }> {
  let target: string;
  try {
    if (url === null) throw new Error("there is no URL");
    target = encryptor.decrypt(url);
  } catch {
    return {
      ...notSent(sentences.delivery_url_lost),
      isStopped: false,
    };
  }
  const { body } = chatPayload(kind, message);
  const response = await sender.send({ url: requestUrl(kind, target), headers: {}, body });
  return { ...response, body: redact(response.body, target), error: hideUrl(response.error, target) };
}

/** Discord responds before it has checked the message unless it is asked to wait. */
function requestUrl(kind: ChatKind, target: string): string {
  if (kind !== "discord") return target;
  const url = new URL(target);
  url.searchParams.set("wait", "true");
  return url.href;
}

function redact(text: string, target: string): string {
  const { pathname, search } = new URL(target);
  return [target, pathname + search, pathname]
    .filter((secret) => secret.length > 4)
    .reduce((rest, secret) => rest.replaceAll(secret, "[redacted]"), text);
}

/** Without IP addresses, which would reveal how host names resolve inside this network. */
function hideUrl(error: string | null, target: string): string | null {
  return error === null ? null : redact(error, target).replace(/the IP address \S+/, "its IP address");
}
