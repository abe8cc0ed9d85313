import { Button, Group, Modal, Radio, Stack } from "@mantine/core";
import { DateTimePicker } from "@mantine/dates";
import "@mantine/dates/styles.css";
import { useState } from "react";
import { type Hook, type ReplayBody, replay } from "../../api/hooks.ts";
import { FormError, fieldErrors, useAction } from "../../common/actions.tsx";

const dayMs = 86_400_000;

const choices = [
  { value: "failed", label: "What failed", description: "Every attempt failed, or the receiver said gone" },
  {
    value: "undelivered",
    label: "What was never delivered",
    description: "Also what happened while the hook was off or not made yet",
  },
  { value: "all", label: "Everything", description: "Delivered or not" },
] as const;

/** Asks which events of which time are to be sent again. */
export function Replay({ hook, opened, onClose }: { hook: Hook; opened: boolean; onClose: () => void }) {
  return (
    <Modal opened={opened} onClose={onClose} title="Replay events" centered>
      <ReplayForm hook={hook} onDone={onClose} />
    </Modal>
  );
}

function ReplayForm({ hook, onDone }: { hook: Hook; onDone: () => void }) {
  const [since, setSince] = useState<string | null>(localText(new Date(Date.now() - dayMs)));
  const [until, setUntil] = useState<string | null>(null);
  const [which, setWhich] = useState<NonNullable<ReplayBody["which"]>>("failed");
  const send = useAction({
    run: () =>
      replay(hook.id, {
        since: toIso(since) ?? "",
        ...(until === null ? {} : { until: toIso(until) ?? "" }),
        which,
      }),
    done: ({ count }) => (count === 1 ? "1 event is sent again." : `${count} events are sent again.`),
    refresh: [["hook", hook.id], ["hooks"]],
    showsError: true,
    onDone,
  });
  const faults = fieldErrors(send.error);
  const earliest = localText(new Date(Date.now() - 30 * dayMs));
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        send.mutate();
      }}
    >
      <Stack>
        <DateTimePicker
          label="From"
          description="At most 30 days back"
          required
          minDate={earliest.slice(0, 10)}
          value={since}
          onChange={setSince}
          error={faults.since}
        />
        <DateTimePicker
          label="Until"
          placeholder="Now"
          clearable
          value={until}
          onChange={setUntil}
          error={faults.until}
        />
        <Radio.Group label="Which" value={which} onChange={(value) => setWhich(value as typeof which)}>
          <Stack gap="xs" mt={6}>
            {choices.map((choice) => (
              <Radio key={choice.value} {...choice} />
            ))}
          </Stack>
        </Radio.Group>
        <FormError error={send.error} fields={["since", "until"]} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onDone}>
            Cancel
          </Button>
          <Button type="submit" loading={send.isPending}>
            Send again
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** A moment as the picker writes it, by the person's own clock. */
function localText(date: Date): string {
  const shifted = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 19).replace("T", " ");
}

function toIso(local: string | null): string | undefined {
  return local === null ? undefined : new Date(local.replace(" ", "T")).toISOString();
}
