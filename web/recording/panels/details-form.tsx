import { Button, Group, MultiSelect, Select, Stack, Text } from "@mantine/core";
import { DateTimePicker } from "@mantine/dates";
import "@mantine/dates/styles.css";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import dayjs from "dayjs";
import { useState } from "react";
import { refreshRecording } from "../../api/recording.ts";
import { meetingTypesQuery, usersQuery } from "../../api/recordings.ts";
import { sessionQuery } from "../../api/session.ts";
import { FormError, fieldErrors, useAction } from "../../common/actions.tsx";
import { timeZoneAt } from "../../common/time-zone.ts";
import { useRecording } from "../context.ts";
import { sources } from "./facts.ts";

const automatic = "auto";
const none = "none";
const scopeNames = { internal: "internal meetings", external: "meetings with guests" } as const;
const clockFormat = "YYYY-MM-DD HH:mm:ss";

/** What a person may say of a recording: what kind of meeting, when, where from, and whose it is. */
export default function DetailsForm({ onClose }: { onClose: () => void }) {
  const { id, view, actions } = useRecording();
  const { recording } = view;
  const client = useQueryClient();
  const types = useQuery(meetingTypesQuery);
  const users = useQuery(usersQuery);
  const me = useQuery(sessionQuery).data?.user.id;
  const [before] = useState(() => ({
    type: view.meeting_type_is_automatic ? automatic : (recording.meeting_type?.id ?? none),
    start: dayjs(recording.start_datetime).format(clockFormat),
    source: recording.source as string,
    recorders: recording.recorders.map((one) => one.id),
  }));
  const [draft, setDraft] = useState(before);
  const set = (change: Partial<typeof draft>): void => setDraft((old) => ({ ...old, ...change }));
  const save = useAction({
    run: () => actions.change(changesOf(before, draft)),
    done: "The details were changed",
    showsError: true,
    onDone: async () => {
      await refreshRecording(client, id);
      onClose();
    },
  });
  const faults = fieldErrors(save.error);
  const people = new Map(
    // Those who left the workspace may stay recorders.
    [...recording.recorders, ...(users.data?.users ?? [])].map((one) => [one.id, one] as const),
  );
  const isLeaving = me !== undefined && before.recorders.includes(me) && !draft.recorders.includes(me);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (draft === before) onClose();
        else save.mutate();
      }}
    >
      <Stack>
        <Select
          label="Meeting type"
          description="Automatic follows who took part."
          allowDeselect={false}
          searchable
          openOnFocus={false}
          data-autofocus
          data={[
            { value: automatic, label: "Automatic" },
            { value: none, label: "None" },
            ...(["internal", "external"] as const).map((scope) => ({
              group: `For ${scopeNames[scope]}`,
              items: (types.data?.meeting_types ?? [])
                .filter((type) => type.scope === scope)
                .map((type) => ({ value: type.id, label: type.name })),
            })),
          ]}
          value={draft.type}
          onChange={(type) => set({ type: type ?? automatic })}
          error={faults.meeting_type_id}
        />
        <DateTimePicker
          label="When it began"
          description={`By your clock: ${timeZoneAt(new Date(draft.start))}. The end moves along.`}
          valueFormat="ddd D MMM YYYY, HH:mm:ss"
          withSeconds
          required
          maxDate={new Date()}
          value={draft.start}
          onChange={(start) => set({ start: start ?? before.start })}
          error={faults.start_datetime}
          submitButtonProps={{ "aria-label": "Take this time" }}
          timePickerProps={{
            hoursInputLabel: "Hours",
            minutesInputLabel: "Minutes",
            secondsInputLabel: "Seconds",
          }}
        />
        <Select
          label="Source"
          allowDeselect={false}
          data={Object.entries(sources).map(([value, label]) => ({ value, label }))}
          value={draft.source}
          onChange={(source) => set({ source: source ?? before.source })}
          error={faults.source}
        />
        <MultiSelect
          label="Recorded by"
          description="The recording is theirs: they see it whoever it is shared with, and may change, share and delete it."
          searchable
          data={[...people.values()].map(({ id: value, name, email }) => ({
            value,
            label: email === name ? name : `${name} (${email})`,
          }))}
          value={draft.recorders}
          onChange={(recorders) => set({ recorders })}
          error={draft.recorders.length === 0 ? "Somebody has to be there." : faults.recorder_ids}
        />
        {isLeaving ? (
          <Text size="sm" role="status">
            You take yourself out: unless you are an admin, you can't change this recording any more, and see
            it only as far as it is shared with you.
          </Text>
        ) : null}
        <FormError
          error={save.error}
          fields={["meeting_type_id", "start_datetime", "source", "recorder_ids"]}
        />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={save.isPending} disabled={draft.recorders.length === 0}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

interface Draft {
  readonly type: string;
  /** By the person's own clock. */
  readonly start: string;
  readonly source: string;
  readonly recorders: readonly string[];
}

/** Only what the person changed: the rest may have been changed by others meanwhile. */
function changesOf(before: Draft, draft: Draft) {
  const { type, start, source, recorders } = draft;
  return {
    ...(type === before.type ? {} : { meeting_type_id: type === none ? null : type }),
    ...(start === before.start ? {} : { start_datetime: dayjs(start).toISOString() }),
    ...(source === before.source ? {} : { source: source as keyof typeof sources }),
    ...(recorders.join() === before.recorders.join() ? {} : { recorder_ids: [...recorders] }),
  };
}
