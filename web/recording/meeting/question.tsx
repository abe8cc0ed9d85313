import { Trans, useLingui } from "@lingui/react/macro";
import { Alert, Button, Stack, Text } from "@mantine/core";
import { IconCalendarQuestion } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { recordingMeetingQuery } from "../../api/calendars.ts";
import { useRecording } from "../context.ts";
import { Candidates, useMeetingActions } from "./candidates.tsx";

/** Asks which meeting was recorded where several fit equally, or the one that fits names only other people. */
export function MeetingQuestion() {
  const { t } = useLingui();
  const { id, view } = useRecording();
  const { data } = useQuery(recordingMeetingQuery(id, view.updated_datetime));
  const { undo } = useMeetingActions();
  if (data?.state !== "ambiguous" || data.candidates.length === 0) return null;
  return (
    <Alert
      color="indigo"
      variant="light"
      mt="md"
      icon={<IconCalendarQuestion size={20} aria-hidden />}
      title={t`Which meeting was this?`}
    >
      <Stack gap="sm">
        <Text size="sm">
          <Trans>
            It may be one of these in your calendar. The one you choose gives the recording its title,
            participants and scheduled time. Invited users of the workspace can then see it.
          </Trans>
        </Text>
        <Candidates candidates={data.candidates} chosen={null} />
        <div>
          <Button size="xs" variant="default" loading={undo.isPending} onClick={() => undo.mutate(data)}>
            <Trans>None of these</Trans>
          </Button>
        </div>
      </Stack>
    </Alert>
  );
}
