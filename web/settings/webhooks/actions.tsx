import { Button, Group, Select, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconKey, IconPlayerPlay, IconRepeat, IconSend } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import {
  deleteHook,
  disableHook,
  enableHook,
  type Hook,
  rotateSecret,
  testHook,
} from "../../api/settings/webhooks.ts";
import { FormError, useAction } from "../../common/actions.tsx";
import { FormDialog } from "../../common/dialogs/form-dialog.tsx";
import { SecretOnce } from "../../common/dialogs/secret-once.tsx";
import { ConfirmButton } from "../../common/forms/confirm.tsx";
import { Replay } from "./replay.tsx";

/** The actions of a webhook. */
export function WebhookActions({ hook }: { hook: Hook }) {
  const navigate = useNavigate();
  const [replays, replayDialog] = useDisclosure();
  const [rotates, rotateDialog] = useDisclosure();
  const refresh = [["hook", hook.id], ["hooks"]];
  const enable = useAction({ run: () => enableHook(hook.id), done: "Webhook enabled.", refresh });
  const test = useAction({ run: () => testHook(hook.id), done: "Test event sent.", refresh });
  return (
    <Group gap="xs">
      {hook.enabled ? (
        <>
          <Button
            variant="default"
            leftSection={<IconSend size={16} />}
            loading={test.isPending}
            onClick={() => test.mutate()}
          >
            Send test
          </Button>
          <Button variant="default" leftSection={<IconRepeat size={16} />} onClick={replayDialog.open}>
            Replay
          </Button>
        </>
      ) : (
        <Button
          leftSection={<IconPlayerPlay size={16} />}
          loading={enable.isPending}
          onClick={() => enable.mutate()}
        >
          Enable
        </Button>
      )}
      <Button variant="default" leftSection={<IconKey size={16} />} onClick={rotateDialog.open}>
        Rotate secret
      </Button>
      {hook.enabled ? (
        <ConfirmButton
          text="Disable"
          button={{ variant: "default", size: "sm", color: "gray" }}
          title="Disable webhook?"
          label="Disable"
          run={() => disableHook(hook.id)}
          done="Webhook disabled."
          refresh={refresh}
        >
          No events are sent or queued while it is disabled. You can enable it again.
        </ConfirmButton>
      ) : null}
      <ConfirmButton
        text="Delete"
        button={{ variant: "subtle", size: "sm" }}
        title="Delete webhook?"
        label="Delete webhook"
        run={() => deleteHook(hook.id)}
        done="Webhook deleted."
        refresh={[["hooks"]]}
        onDone={() => navigate({ to: "/settings/webhooks" })}
      >
        No more events are sent, and its delivery log is deleted. This can't be undone.
      </ConfirmButton>
      <Replay hook={hook} opened={replays} onClose={replayDialog.close} />
      <Rotate hook={hook} opened={rotates} onClose={rotateDialog.close} />
    </Group>
  );
}

const overlaps = [
  { value: "86400", label: "For 24 hours" },
  { value: "604800", label: "For 7 days" },
  { value: "0", label: "Stops working now" },
];

function Rotate({ hook, opened, onClose }: { hook: Hook; opened: boolean; onClose: () => void }) {
  const [overlap, setOverlap] = useState("86400");
  const rotate = useAction({
    run: () => rotateSecret(hook.id, Number(overlap)),
    refresh: [["hook", hook.id]],
    showsError: true,
  });
  const close = () => {
    rotate.reset();
    onClose();
  };
  return (
    <FormDialog
      opened={opened}
      onClose={close}
      title={rotate.data === undefined ? "Rotate secret?" : "New secret"}
      centered
    >
      {rotate.data === undefined ? (
        <Stack>
          <Text size="sm">
            Requests are signed with the new secret immediately. During the overlap they carry both
            signatures, so that you can update your server.
          </Text>
          <Select
            label="Current secret works"
            allowDeselect={false}
            data={overlaps}
            value={overlap}
            onChange={(value) => setOverlap(value ?? "86400")}
          />
          <FormError error={rotate.error} fields={[]} />
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button loading={rotate.isPending} onClick={() => rotate.mutate()}>
              Create secret
            </Button>
          </Group>
        </Stack>
      ) : (
        <SecretOnce label="Signing secret" value={rotate.data.secret} onDone={close} />
      )}
    </FormDialog>
  );
}
