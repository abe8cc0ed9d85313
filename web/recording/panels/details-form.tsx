import { msg } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { MultiSelect, Select, Text } from "@mantine/core";
import { DateTimePicker } from "@mantine/dates";
import "@mantine/dates/styles.css";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import dayjs from "dayjs";
import { useState } from "react";
import { meetingTypesQuery, usersQuery } from "../../api/directory.ts";
import { refreshRecording } from "../../api/recording/recording.ts";
import { sessionQuery } from "../../api/session.ts";
import { useDraft } from "../../common/drafts/use-draft.tsx";
import { timePickerProps } from "../../common/format/calendar.ts";
import { timeZoneAt } from "../../common/format/time-zone.ts";
import { Form, useForm } from "../../common/forms/form.tsx";
import { useRecording } from "../context.ts";
import { sourceName, sources } from "./sources.ts";

const automatic = "auto";
const none = "none";
const scopeNames = { internal: msg`For internal meetings`, external: msg`For meetings with guests` } as const;
const clockFormat = "YYYY-MM-DD HH:mm:ss";

/** Edits a recording's meeting type, start, source and owners. */
export default function DetailsForm({ onClose }: { onClose: () => void }) {
  const { t } = useLingui();
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
  const kept = useDraft(`details:${id}`, before);
  const { value: draft, change: set } = kept;
  const save = useForm({
    run: () => actions.change(changesOf(before, draft)),
    done: t`Details saved`,
    draft: kept,
    onDone: async () => {
      await refreshRecording(client, id);
      onClose();
    },
  });
  const people = new Map(
    // Deactivated users may still be owners.
    [...recording.recorders, ...(users.data?.users ?? [])].map((one) => [one.id, one] as const),
  );
  const isLeaving = me !== undefined && before.recorders.includes(me) && !draft.recorders.includes(me);
  return (
    <Form
      form={{ ...save, submit: () => (kept.isDirty ? save.submit() : onClose()) }}
      label={t`Save`}
      onCancel={onClose}
      isDisabled={draft.recorders.length === 0}
    >
      <Select
        label={t`Meeting type`}
        description={t`Automatic is based on participants.`}
        allowDeselect={false}
        searchable
        openOnFocus={false}
        data-autofocus
        data={[
          { value: automatic, label: t`Automatic` },
          { value: none, label: t({ message: "None", context: "meeting type" }) },
          ...(["internal", "external"] as const).map((scope) => ({
            group: t(scopeNames[scope]),
            items: (types.data?.meeting_types ?? [])
              .filter((type) => type.scope === scope)
              .map((type) => ({ value: type.id, label: type.name })),
          })),
        ]}
        value={draft.type}
        onChange={(type) => set({ type: type ?? automatic })}
        error={save.errorOf("meeting_type_id")}
      />
      <DateTimePicker
        {...timePickerProps({ withSeconds: true })}
        label={t`Start time`}
        description={t`Your time zone: ${{ zone: timeZoneAt(new Date(draft.start)) }}. End time shifts too.`}
        required
        maxDate={new Date()}
        value={draft.start}
        onChange={(start) => set({ start: start ?? before.start })}
        error={save.errorOf("start_datetime")}
      />
      <Select
        label={t`Source`}
        allowDeselect={false}
        data={sources.map((value) => ({ value, label: sourceName(value) }))}
        value={draft.source}
        onChange={(source) => set({ source: source ?? before.source })}
        error={save.errorOf("source")}
      />
      <MultiSelect
        label={t`Owners`}
        description={t`Owners always see the recording, and can change, share and delete it.`}
        searchable
        data={[...people.values()].map(({ id: value, name, email }) => ({
          value,
          label: email === name ? name : `${name} (${email})`,
        }))}
        value={draft.recorders}
        onChange={(recorders) => set({ recorders })}
        error={draft.recorders.length === 0 ? t`Choose at least one person.` : save.errorOf("recorder_ids")}
      />
      {isLeaving ? (
        <Text size="sm" role="status">
          <Trans>
            You are removing yourself. Unless you are an admin, you can no longer change this recording, and
            see it only if it is shared with you.
          </Trans>
        </Text>
      ) : null}
    </Form>
  );
}

interface Draft {
  readonly type: string;
  /** In the browser's time zone. */
  readonly start: string;
  readonly source: string;
  readonly recorders: readonly string[];
}

/** Only the changed fields: others may have changed the rest meanwhile. */
function changesOf(before: Draft, draft: Draft) {
  const { type, start, source, recorders } = draft;
  return {
    ...(type === before.type ? {} : { meeting_type_id: type === none ? null : type }),
    ...(start === before.start ? {} : { start_datetime: dayjs(start).toISOString() }),
    ...(source === before.source ? {} : { source: source as (typeof sources)[number] }),
    ...(recorders.join() === before.recorders.join() ? {} : { recorder_ids: [...recorders] }),
  };
}
