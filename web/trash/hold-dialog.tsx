import { Button, Group, Stack, Text, Textarea } from "@mantine/core";
import { useState } from "react";
import type { TrashedRecording } from "../api/library/trash.ts";
import { placeHold } from "../api/settings/retention.ts";
import { FormError, fieldErrors, useAction } from "../common/actions.tsx";
import { FormDialog } from "../common/dialogs/form-dialog.tsx";

export interface HoldDialogProps {
  readonly isOpen: boolean;
  readonly recording: TrashedRecording;
  readonly onClose: () => void;
}

/** Places a legal hold on a recording in the trash, which then stays until the hold is released. */
export function HoldDialog({ isOpen, recording, onClose }: HoldDialogProps) {
  const [reason, setReason] = useState("");
  const place = useAction({
    run: () => placeHold(recording.id, reason),
    done: "Hold placed.",
    refresh: [["trash"], ["legal holds"]],
    showsError: true,
    onDone: onClose,
  });
  return (
    <FormDialog opened={isOpen} onClose={onClose} title="Place hold" centered>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          place.mutate();
        }}
      >
        <Stack>
          <Text size="sm">
            <b dir="auto">{recording.title}</b> stays in the trash until the hold is released.
          </Text>
          <Textarea
            label="Reason"
            description="Shown to admins before they release the hold."
            required
            autosize
            minRows={2}
            maxRows={8}
            maxLength={1000}
            data-autofocus
            value={reason}
            onChange={(event) => setReason(event.currentTarget.value)}
            error={fieldErrors(place.error).reason}
          />
          <FormError error={place.error} fields={["reason"]} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={place.isPending} disabled={reason.trim() === ""}>
              Place hold
            </Button>
          </Group>
        </Stack>
      </form>
    </FormDialog>
  );
}
