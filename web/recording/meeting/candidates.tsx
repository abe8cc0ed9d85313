import { Trans, useLingui } from "@lingui/react/macro";
import { Button } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import {
  chooseRecordingMeeting,
  type Meeting,
  recordingMeetingKey,
  undoRecordingMeeting,
} from "../../api/calendars.ts";
import { refreshRecording } from "../../api/recording/recording.ts";
import { useAction } from "../../common/actions.tsx";
import { MeetingList, titleOf } from "../../common/lists/meeting-list.tsx";
import { useRecording } from "../context.ts";

/** Takes a recording's data from a meeting, or removes what it has from one. */
export function useMeetingActions() {
  const { t } = useLingui();
  const { id } = useRecording();
  const client = useQueryClient();
  const refresh = [recordingMeetingKey(id)];
  const onDone = () => refreshRecording(client, id);
  return {
    choose: useAction({
      run: (meeting: Meeting) => chooseRecordingMeeting(id, meeting.id),
      done: (_result: unknown, meeting: Meeting) => t`Meeting set to ${{ title: titleOf(meeting) }}.`,
      refresh,
      onDone,
    }),
    undo: useAction({
      run: (_state: "matched" | "ambiguous") => undoRecordingMeeting(id),
      done: (_result: unknown, state) =>
        state === "matched" ? t`Meeting unlinked. The recording stays.` : t`No meeting set.`,
      refresh,
      onDone,
    }),
  };
}

/** The meetings that a recording may be. */
export function Candidates(props: { candidates: readonly Meeting[]; chosen: string | null }) {
  const { t } = useLingui();
  const { choose } = useMeetingActions();
  return (
    <MeetingList
      label={t`Meetings`}
      meetings={props.candidates}
      action={(meeting) =>
        props.chosen !== null && meeting.ical_uid === props.chosen ? null : (
          <Button
            size="xs"
            variant="light"
            loading={choose.isPending && choose.variables?.id === meeting.id}
            aria-label={t`Choose ${{ title: titleOf(meeting) }}`}
            onClick={() => choose.mutate(meeting)}
          >
            <Trans>Choose</Trans>
          </Button>
        )
      }
    />
  );
}
