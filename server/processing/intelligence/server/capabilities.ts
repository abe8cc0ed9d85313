/** The parts of the protocol that a server supports. All servers support messages; the rest is tried. */
export interface Capabilities {
  readonly format: "json_schema" | "json_object" | "text";
  readonly stream: "with_usage" | "plain" | "off";
  readonly length: "max_tokens" | "max_completion_tokens" | "none";
  readonly temperature: boolean;
}

export const everything: Capabilities = {
  format: "json_schema",
  stream: "with_usage",
  length: "max_tokens",
  temperature: true,
};

/** Statuses after which the request is retried in another form: malformed, unprocessable, not implemented. */
const mayBeForm = new Set([400, 415, 422, 501]);

/** Errors that another form of the request can't fix. */
const otherReasons =
  /context.{0,20}length|context window|too many tokens|maximum context|prompt is too long|content.?filter|content management policy/i;

/**
 * The capabilities to try after an error.
 * @param words the server's error message.
 * @returns null when the error is not about the form of the request, or nothing is left to drop.
 */
export function lower(now: Capabilities, status: number, words: string): Capabilities | null {
  if (!mayBeForm.has(status) || otherReasons.test(words)) return null;
  const named = lowerNamed(now, words);
  if (named !== null) return named;
  // If the server does not say what it refuses, drops the least supported features one by one.
  if (now.format !== "text") return { ...now, format: lessFormat[now.format] };
  if (now.stream === "with_usage") return { ...now, stream: "plain" };
  if (now.stream === "plain") return { ...now, stream: "off" };
  return null;
}

const lessFormat = { json_schema: "json_object", json_object: "text" } as const;

function lowerNamed(now: Capabilities, words: string): Capabilities | null {
  if (/max_completion_tokens/i.test(words) && now.length === "max_tokens")
    return { ...now, length: "max_completion_tokens" };
  if (
    /max_(completion_)?tokens/i.test(words) &&
    now.length !== "none" &&
    /unsupported|unknown|unrecogni|not support|extra|permitted/i.test(words)
  )
    return { ...now, length: "none" };
  if (/temperature/i.test(words) && now.temperature) return { ...now, temperature: false };
  if (/stream_options|include_usage/i.test(words) && now.stream === "with_usage")
    return { ...now, stream: "plain" };
  if (
    /response_format|json_schema|json_object|json mode|structured|grammar|guided/i.test(words) &&
    now.format !== "text"
  )
    return { ...now, format: lessFormat[now.format] };
  if (/stream/i.test(words) && now.stream !== "off") return { ...now, stream: "off" };
  return null;
}
