import { msg, plural } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
import { Radio, Stack } from "@mantine/core";
import { DateTimePicker } from "@mantine/dates";
import { timePickerProps } from "../../common/format/calendar.ts";
import "@mantine/dates/styles.css";
import { useState } from "react";
import { type Hook, type ReplayBody, replay } from "../../api/settings/webhooks.ts";
import { FormDialog } from "../../common/dialogs/form-dialog.tsx";
import { Form, useForm } from "../../common/forms/form.tsx";

const dayMs = 86_400_000;

const choices = [
  {
    value: "failed",
    label: msg`Failed only`,
    description: msg`Every attempt failed, or the receiver returned 410 Gone`,
  },
  {
    value: "undelivered",
    label: msg`Undelivered`,
    description: msg`Also events from before it was created or while it was disabled`,
  },
  { value: "all", label: msg`Everything`, description: msg`Delivered or not` },
] as const;

/** Sends past events again, by time and state. */
export function Replay({ hook, opened, onClose }: { hook: Hook; opened: boolean; onClose: () => void }) {
  const { t } = useLingui();
  return (
    <FormDialog opened={opened} onClose={onClose} title={t`Replay events`} centered>
      <ReplayForm hook={hook} onDone={onClose} />
    </FormDialog>
  );
}

function ReplayForm({ hook, onDone }: { hook: Hook; onDone: () => void }) {
  const { t } = useLingui();
  const [since, setSince] = useState<string | null>(localText(new Date(Date.now() - dayMs)));
  const [until, setUntil] = useState<string | null>(null);
  const [which, setWhich] = useState<NonNullable<ReplayBody["which"]>>("failed");
  const send = useForm({
    run: () =>
      replay(hook.id, {
        since: toIso(since) ?? "",
        ...(until === null ? {} : { until: toIso(until) ?? "" }),
        which,
      }),
    done: ({ count }) => plural(count, { one: "# event queued.", other: "# events queued." }),
    refresh: [["hook", hook.id], ["hooks"]],
    onDone,
  });
  const earliest = localText(new Date(Date.now() - 30 * dayMs));
  return (
    <Form form={send} label={t`Replay events`} onCancel={onDone}>
      <DateTimePicker
        {...timePickerProps()}
        label={t`From`}
        description={t`At most 30 days back`}
        required
        minDate={earliest.slice(0, 10)}
        value={since}
        onChange={setSince}
        error={send.errorOf("since")}
      />
      <DateTimePicker
        {...timePickerProps()}
        label={t`To`}
        placeholder={t`Now`}
        clearable
        value={until}
        onChange={setUntil}
        error={send.errorOf("until")}
      />
      <Radio.Group label={t`Events`} value={which} onChange={(value) => setWhich(value as typeof which)}>
        <Stack gap="xs" mt={6}>
          {choices.map(({ value, label, description }) => (
            <Radio key={value} value={value} label={t(label)} description={t(description)} />
          ))}
        </Stack>
      </Radio.Group>
    </Form>
  );
}

/** A date as date pickers take it, in the browser's time zone. */
function localText(date: Date): string {
  const shifted = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 19).replace("T", " ");
}

function toIso(local: string | null): string | undefined {
  return local === null ? undefined : new Date(local.replace(" ", "T")).toISOString();
}
