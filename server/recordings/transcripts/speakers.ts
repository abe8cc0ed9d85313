import type { SpeakerReference } from "../../../contract/transcripts/transcript-editing.ts";
import type { ParticipantChange, SegmentChange } from "../../platform/db/json-columns.ts";
import { invalidInput } from "../../platform/http/errors/problem.ts";
import type { Identity } from "./changes.ts";
import type { TranscriptParticipant } from "./queries.ts";
import type { PlannedEdit } from "./write-edit.ts";

type Placed = Identity & { readonly position: number };
type Participants = ReadonlyMap<string, TranscriptParticipant>;

/**
 * Finds a speaker: a participant of the recording, or another speaker of the transcript.
 * @throws ProblemError `invalid_input`.
 */
export function resolveSpeaker(
  pointer: string,
  { participant_id, name }: SpeakerReference,
  participants: Participants,
  identities: readonly Identity[],
): Identity {
  if (participant_id !== undefined) {
    const participant = participants.get(participant_id.toLowerCase());
    if (participant === undefined)
      throw invalidInput([
        { pointer: `${pointer}/participant_id`, detail: "is not a participant of this recording" },
      ]);
    return { participant_id: participant.id, speaker: participant.name };
  }
  const found = identities.find((other) => other.participant_id === null && other.speaker === name);
  if (found === undefined)
    throw invalidInput([
      {
        pointer: `${pointer}/name`,
        detail: "is not a speaker of this transcript; name participants by participant_id",
      },
    ]);
  return { participant_id: null, speaker: found.speaker };
}

/** The segments of a speaker: a participant's by id, whatever name they carry; others by name. */
export function segmentsOf(speaker: Identity, identities: readonly Placed[]): Placed[] {
  return identities.filter((other) =>
    speaker.participant_id === null
      ? other.participant_id === null && other.speaker === speaker.speaker
      : other.participant_id === speaker.participant_id,
  );
}

/** A participant who speaks attended, the contract's confirmed_attendee, and was not only invited. */
export function hear({ participant_id }: Identity, participants: Participants): ParticipantChange[] {
  const participant = participant_id === null ? undefined : participants.get(participant_id);
  if (participant === undefined || (participant.confirmed_attendee && !participant.is_invited)) return [];
  const { id, confirmed_attendee, is_invited } = participant;
  return [
    {
      id,
      before: { confirmed_attendee, is_invited },
      after: { confirmed_attendee: true, is_invited: false },
    },
  ];
}

/** Renames a speaker; null when the name is the same everywhere already. */
export function planRename(
  speaker: Identity,
  name: string,
  participants: Participants,
  identities: readonly Placed[],
): PlannedEdit | null {
  const groups = Map.groupBy(
    segmentsOf(speaker, identities).filter((segment) => segment.speaker !== name),
    (segment) => segment.speaker,
  );
  const segments: SegmentChange[] = [...groups].map(([before, of]) => ({
    positions: of.map(({ position }) => position),
    before: { speaker: before },
    after: { speaker: name },
  }));
  const participant = speaker.participant_id === null ? undefined : participants.get(speaker.participant_id);
  const renamed: ParticipantChange[] =
    participant === undefined || participant.name === name
      ? []
      : [{ id: participant.id, before: { name: participant.name }, after: { name } }];
  if (segments.length === 0 && renamed.length === 0) return null;
  return {
    kind: "rename",
    details: {
      speakers: [{ participant_id: speaker.participant_id, name: speaker.speaker }],
      to: { participant_id: speaker.participant_id, name },
    },
    changes: { segments, participants: renamed },
  };
}
