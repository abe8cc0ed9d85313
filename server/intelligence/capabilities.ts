/** What of the protocol a server takes. Servers agree on messages alone; the rest is tried. */
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

/** The same request in another form is worth a try after these: malformed, unprocessable, not implemented. */
const mayBeForm = new Set([400, 415, 422, 501]);

/** What is not a matter of form, however the server words it. */
const otherReasons =
  /context.{0,20}length|context window|too many tokens|maximum context|prompt is too long|content.?filter|content management policy/i;

/**
 * What to ask for after a refusal.
 * @param words of the server.
 * @returns null when the refusal is not about the form of the request, or there is nothing left to go without.
 */
export function lower(now: Capabilities, status: number, words: string): Capabilities | null {
  if (!mayBeForm.has(status) || otherReasons.test(words)) return null;
  const named = lowerNamed(now, words);
  if (named !== null) return named;
  // The server does not say what it dislikes: go without, one after the other, what fewest servers know.
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
