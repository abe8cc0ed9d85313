import type { ExportedEntry, ExportedRecording } from "./read.ts";

/** A file beside the vCon: its name, type and SHA-512. */
export interface VconMedia {
  readonly name: string;
  readonly contentType: string;
  /** In base64url. */
  readonly sha512: string;
}

/**
 * A recording as a vCon, whose media is the file beside it. Source:
 * https://datatracker.ietf.org/doc/draft-ietf-vcon-vcon-core/
 */
export function toVcon(
  recording: ExportedRecording,
  entries: readonly ExportedEntry[],
  media: VconMedia | null,
): object {
  const parties = recording.participants.map(({ name, email, phone }) => ({
    name,
    ...(email === null ? {} : { mailto: `mailto:${email}` }),
    ...(phone === null ? {} : { tel: `tel:${phone}` }),
  }));
  const everyone = parties.map((_, index) => index);
  const common = { dialog: [0], vendor: "Parley", encoding: "json" };
  const spoken = entries.map(({ participant_id, speaker, start, end, text }) => {
    const party = recording.participants.findIndex(({ id }) => id === participant_id);
    return { ...(party === -1 ? {} : { party }), speaker, start, end, text };
  });
  return {
    vcon: "0.4.0",
    uuid: recording.id,
    created_at: recording.start_datetime,
    updated_at: recording.end_datetime,
    subject: recording.title,
    parties,
    dialog: [
      {
        type: media === null ? "text" : "recording",
        start: recording.start_datetime,
        duration: recording.duration_ms / 1000,
        parties: everyone,
        ...(media === null
          ? { mediatype: "text/plain", body: plainText(entries), encoding: "none" }
          : {
              mediatype: media.contentType,
              filename: media.name,
              url: media.name,
              content_hash: `sha512-${media.sha512}`,
            }),
      },
    ],
    analysis: [
      ...(spoken.length === 0
        ? []
        : [{ type: "transcript", ...common, mediatype: "application/json", body: JSON.stringify(spoken) }]),
      ...(recording.ai_summary === null
        ? []
        : [
            {
              type: "summary",
              ...common,
              encoding: "none",
              mediatype: "text/markdown",
              body: recording.ai_summary,
            },
          ]),
      ...(recording.ai_action_items.length === 0
        ? []
        : [
            {
              type: "action_items",
              ...common,
              mediatype: "application/json",
              body: JSON.stringify(recording.ai_action_items),
            },
          ]),
      ...(recording.ai_chapters.length === 0
        ? []
        : [
            {
              type: "chapters",
              ...common,
              mediatype: "application/json",
              body: JSON.stringify(recording.ai_chapters),
            },
          ]),
    ],
    attachments: recording.tags.map((tag) => ({ type: "tag", encoding: "none", body: tag })),
  };
}

function plainText(entries: readonly ExportedEntry[]): string {
  return entries.map(({ speaker, text }) => `${speaker}: ${text}`).join("\n");
}
