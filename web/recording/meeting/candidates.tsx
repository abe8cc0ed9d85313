import { Trans, useLingui } from "@lingui/react/macro";
import { Button } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useQueryClient } from "@tanstack/react-query";
import {
  chooseRecordingMeeting,
  type Meeting,
  type RecordingMeeting,
  recordingMeetingKey,
  undoRecordingMeeting,
} from "../../api/calendars.ts";
import { refreshRecording } from "../../api/recording/recording.ts";
import { useAction } from "../../common/actions.tsx";
import { MeetingList, titleOf } from "../../common/lists/meeting-list.tsx";
import { showUndoToast } from "../../common/undo-toast.tsx";
import { useRecording } from "../context.ts";

/** Takes a recording's data from a meeting, or removes what it has from one. */
export function useMeetingActions() {
  const { t } = useLingui();
  const { id } = useRecording();
  const client = useQueryClient();
  const refresh = [recordingMeetingKey(id)];
  const onDone = () => refreshRecording(client, id);
  const restore = async (meetingId: string, isChosen: boolean) => {
    await chooseRecordingMeeting(id, meetingId, isChosen);
    await Promise.all([client.invalidateQueries({ queryKey: recordingMeetingKey(id) }), onDone()]);
  };
  return {
    choose: useAction({
      run: (meeting: Meeting) => chooseRecordingMeeting(id, meeting.id),
      done: (_result: unknown, meeting: Meeting) => t`Meeting set to ${{ title: titleOf(meeting) }}.`,
      refresh,
      onDone,
    }),
    undo: useAction({
      run: (_before: RecordingMeeting) => undoRecordingMeeting(id),
      refresh,
      onDone: (_result: unknown, { state, meeting_id: meetingId, is_chosen: isChosen }) => {
        const message = state === "matched" ? t`Meeting unlinked. The recording stays.` : t`No meeting set.`;
        // A meeting that is in the calendar no longer can't be linked again.
        if (meetingId === null) notifications.show({ message });
        else
          showUndoToast({
            message,
            undone: t`Meeting linked again.`,
            undo: () => restore(meetingId, isChosen),
          });
        return onDone();
      },
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
        meeting.id === props.chosen ? null : (
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
