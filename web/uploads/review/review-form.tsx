import { Trans, useLingui } from "@lingui/react/macro";
import { Alert, Button, Group, MultiSelect, Paper, Select, Stack, TextInput } from "@mantine/core";
import { DateTimePicker } from "@mantine/dates";
import { timePickerProps } from "../../common/format/calendar.ts";
import "@mantine/dates/styles.css";
import { notifications } from "@mantine/notifications";
import { useIsMutating, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { ApiError } from "../../api/client/api-error.ts";
import { teamsQuery, usersQuery } from "../../api/directory.ts";
import { promote, saveUpload, type UploadBody, uploadQuery } from "../../api/uploads.ts";
import { DraftNotice, useDraft } from "../../common/drafts/use-draft.tsx";
import { audioTracksKey } from "./audio-tracks.tsx";
import { ParticipantRows } from "./participant-rows.tsx";
import { attributesOf, type Draft, draftOf, errorAt } from "./review-draft.ts";

/** Reviews an upload before it becomes a recording. Publishing saves first. */
export function ReviewForm({ upload }: { upload: UploadBody }) {
  const { t } = useLingui();
  const kept = useDraft<Draft>(`upload:${upload.id}`, draftOf(upload));
  const { value: draft, change: set, isDirty: isChanged } = kept;
  const users = useQuery(usersQuery);
  const teams = useQuery(teamsQuery);
  const queryClient = useQueryClient();
  const save = useMutation({
    mutationFn: async ({ andPromote }: { andPromote: boolean }) => {
      const saved = isChanged ? await saveUpload(upload.id, attributesOf(draft)) : upload;
      if (isChanged) kept.rebase(draftOf(saved));
      return andPromote ? promote(upload.id) : saved;
    },
    onSuccess: (saved, { andPromote }) => {
      queryClient.setQueryData(uploadQuery(upload.id).queryKey, saved);
      void queryClient.invalidateQueries({ queryKey: ["uploads"] });
      if (!andPromote) notifications.show({ message: t`Saved`, color: "teal" });
    },
  });
  const error = save.error instanceof ApiError ? save.error : null;
  const isReady = upload.status === "staged";
  const isChoosing = useIsMutating({ mutationKey: audioTracksKey }) > 0;
  const keys = new Set(upload.attributes?.transcript?.segments.map(({ speaker_key }) => speaker_key));
  return (
    <Paper
      component="form"
      withBorder
      radius="lg"
      p="md"
      onSubmit={(event: React.FormEvent) => {
        event.preventDefault();
        save.mutate({ andPromote: false });
      }}
    >
      <Stack gap="md">
        <DraftNotice draft={kept} />
        <TextInput
          label={t`Title`}
          required
          maxLength={500}
          value={draft.title}
          onChange={(event) => set({ title: event.currentTarget.value })}
          error={errorAt(error, "title")}
        />
        <Group grow align="flex-start" preventGrowOverflow={false} gap="md">
          <DateTimePicker
            {...timePickerProps()}
            label={t`Start time`}
            placeholder={t`Unknown`}
            clearable
            clearButtonProps={{ "aria-label": t`Clear start time` }}
            miw={220}
            maxDate={new Date()}
            value={draft.start}
            onChange={(start) => set({ start })}
            error={errorAt(error, "start_datetime")}
          />
          <Select
            label={t`Team`}
            placeholder={t`None`}
            clearable
            searchable
            miw={220}
            data={(teams.data?.teams ?? []).map(({ id, name }) => ({ value: id, label: name }))}
            value={draft.teamId}
            onChange={(teamId) => set({ teamId })}
            error={errorAt(error, "team_id")}
          />
        </Group>
        <MultiSelect
          label={t`Owners`}
          description={t`Owners can change, share and delete the recording.`}
          searchable
          data={(users.data?.users ?? []).map(({ id, name, email }) => ({
            value: id,
            label: `${name} (${email})`,
          }))}
          value={[...draft.recorderIds]}
          onChange={(recorderIds) => set({ recorderIds })}
          error={errorAt(error, "recorder_ids")}
        />
        <ParticipantRows
          participants={draft.participants}
          speakerKeys={[...keys]}
          onChange={(participants) => set({ participants })}
          errorOf={(index) => errorAt(error, `participants/${index}`)}
        />
        {save.error === null || (error !== null && error.violations.length > 0) ? null : (
          <Alert color="red" variant="light">
            {save.error.message}
          </Alert>
        )}
        <Group justify="flex-end">
          <Button type="submit" variant="default" disabled={!isChanged || save.isPending}>
            <Trans>Save</Trans>
          </Button>
          {isReady ? (
            <Button
              disabled={isChoosing}
              loading={save.isPending && save.variables.andPromote}
              onClick={() => save.mutate({ andPromote: true })}
            >
              <Trans>Publish</Trans>
            </Button>
          ) : null}
        </Group>
      </Stack>
    </Paper>
  );
}
