import { Alert, Button, Group, MultiSelect, Paper, Select, Stack, TextInput } from "@mantine/core";
import { DateTimePicker } from "@mantine/dates";
import "@mantine/dates/styles.css";
import { notifications } from "@mantine/notifications";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError } from "../api/client.ts";
import { teamsQuery, usersQuery } from "../api/recordings.ts";
import { promote, saveUpload, type UploadBody, uploadQuery } from "../api/uploads.ts";
import { ParticipantRows } from "./participant-rows.tsx";
import { attributesOf, type Draft, draftOf, faultAt } from "./review-draft.ts";

/** What can be said of a recording before it is made. Promoting saves first. */
export function ReviewForm({ upload }: { upload: UploadBody }) {
  const [saved, setSaved] = useState(() => draftOf(upload));
  const [draft, setDraft] = useState(saved);
  const users = useQuery(usersQuery);
  const teams = useQuery(teamsQuery);
  const queryClient = useQueryClient();
  const isChanged = draft !== saved;
  const save = useMutation({
    mutationFn: async ({ andPromote }: { andPromote: boolean }) => {
      const answer = isChanged ? await saveUpload(upload.id, attributesOf(draft)) : upload;
      if (isChanged) {
        const fresh = draftOf(answer);
        setSaved(fresh);
        setDraft(fresh);
      }
      return andPromote ? promote(upload.id) : answer;
    },
    onSuccess: (answer, { andPromote }) => {
      queryClient.setQueryData(uploadQuery(upload.id).queryKey, answer);
      void queryClient.invalidateQueries({ queryKey: ["uploads"] });
      if (!andPromote) notifications.show({ message: "Saved", color: "teal" });
    },
  });
  const error = save.error instanceof ApiError ? save.error : null;
  const set = (change: Partial<Draft>) => setDraft((before) => ({ ...before, ...change }));
  const isReady = upload.status === "staged";
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
        <TextInput
          label="Title"
          required
          maxLength={500}
          value={draft.title}
          onChange={(event) => set({ title: event.currentTarget.value })}
          error={faultAt(error, "title")}
        />
        <Group grow align="flex-start" preventGrowOverflow={false} gap="md">
          <DateTimePicker
            label="When it began"
            placeholder="Not known"
            valueFormat="D MMM YYYY, HH:mm"
            clearable
            miw={220}
            maxDate={new Date()}
            value={draft.start}
            onChange={(start) => set({ start })}
            error={faultAt(error, "start_datetime")}
          />
          <Select
            label="Team"
            placeholder="None"
            clearable
            searchable
            miw={220}
            data={(teams.data?.teams ?? []).map(({ id, name }) => ({ value: id, label: name }))}
            value={draft.teamId}
            onChange={(teamId) => set({ teamId })}
            error={faultAt(error, "team_id")}
          />
        </Group>
        <MultiSelect
          label="Recorded by"
          description="They own the recording: they can change, share and delete it."
          searchable
          data={(users.data?.users ?? []).map(({ id, name, email }) => ({
            value: id,
            label: `${name} (${email})`,
          }))}
          value={[...draft.recorderIds]}
          onChange={(recorderIds) => set({ recorderIds })}
          error={faultAt(error, "recorder_ids")}
        />
        <ParticipantRows
          participants={draft.participants}
          speakerKeys={[...keys]}
          onChange={(participants) => set({ participants })}
          faultOf={(place) => faultAt(error, `participants/${place}`)}
        />
        {save.error === null || (error !== null && error.violations.length > 0) ? null : (
          <Alert color="red" variant="light">
            {save.error.message}
          </Alert>
        )}
        <Group justify="flex-end">
          <Button type="submit" variant="default" disabled={!isChanged || save.isPending}>
            Save
          </Button>
          {isReady ? (
            <Button
              loading={save.isPending && save.variables.andPromote}
              onClick={() => save.mutate({ andPromote: true })}
            >
              Make it a recording
            </Button>
          ) : null}
        </Group>
      </Stack>
    </Paper>
  );
}
