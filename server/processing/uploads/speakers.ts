import type { TranscriptInput } from "../../../contract/uploads/uploads.ts";
import type { UploadParticipant } from "../../platform/db/json-columns.ts";
import { anonymousNames } from "../../recordings/recordings/anonymous-speaker.ts";

/** A speaker that no participant claims. */
export interface AnonymousSpeaker {
  readonly speaker_key: string;
  readonly name: string;
}

type Segments = TranscriptInput["segments"];

/** A participant's display name: the name, or else email or phone. */
export function participantName(participant: UploadParticipant): string {
  return (
    [participant.name, participant.email, participant.phone]
      .map((text) => text?.trim())
      .find((text) => text) ?? "Unknown"
  );
}

/** Maps each speaker_key to the index of its participant; the first one when several claim it. */
export function participantIndexByKey(participants: readonly UploadParticipant[]): Map<string, number> {
  const indexes = new Map<string, number>();
  participants.forEach((participant, index) => {
    if (participant.speaker_key !== null && !indexes.has(participant.speaker_key))
      indexes.set(participant.speaker_key, index);
  });
  return indexes;
}

/**
 * The speakers without a participant, in order of first appearance. Contract: a segment whose speaker_key matches no
 * participant is "attributed to an auto-generated anonymous speaker", named Unknown Speaker and a number.
 */
export function anonymousSpeakers(
  segments: Segments,
  participants: readonly UploadParticipant[],
): AnonymousSpeaker[] {
  const claimed = participantIndexByKey(participants);
  const keys = new Set(segments.map((segment) => segment.speaker_key).filter((key) => !claimed.has(key)));
  const nextName = anonymousNames(participants.map(participantName));
  return [...keys].map((speaker_key) => ({ speaker_key, name: nextName() }));
}
