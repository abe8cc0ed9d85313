import { msg } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
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
  const { t } = useLingui();
  const navigate = useNavigate();
  const [replays, replayDialog] = useDisclosure();
  const [rotates, rotateDialog] = useDisclosure();
  const refresh = [["hook", hook.id], ["hooks"]];
  const enable = useAction({ run: () => enableHook(hook.id), done: t`Webhook enabled.`, refresh });
  const test = useAction({ run: () => testHook(hook.id), done: t`Test event sent.`, refresh });
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
            <Trans>Send test</Trans>
          </Button>
          <Button variant="default" leftSection={<IconRepeat size={16} />} onClick={replayDialog.open}>
            <Trans context="events">Replay</Trans>
          </Button>
        </>
      ) : (
        <Button
          leftSection={<IconPlayerPlay size={16} />}
          loading={enable.isPending}
          onClick={() => enable.mutate()}
        >
          <Trans>Enable</Trans>
        </Button>
      )}
      <Button variant="default" leftSection={<IconKey size={16} />} onClick={rotateDialog.open}>
        <Trans>Rotate secret</Trans>
      </Button>
      {hook.enabled ? (
        <ConfirmButton
          text={t`Disable`}
          button={{ variant: "default", size: "sm", color: "gray" }}
          title={t`Disable webhook?`}
          label={t`Disable`}
          run={() => disableHook(hook.id)}
          done={t`Webhook disabled.`}
          refresh={refresh}
        >
          <Trans>No events are sent or queued while it is disabled. You can enable it again.</Trans>
        </ConfirmButton>
      ) : null}
      <ConfirmButton
        text={t`Delete`}
        button={{ variant: "subtle", size: "sm" }}
        title={t`Delete webhook?`}
        label={t`Delete webhook`}
        run={() => deleteHook(hook.id)}
        done={t`Webhook deleted.`}
        refresh={[["hooks"]]}
        onDone={() => navigate({ to: "/settings/webhooks" })}
      >
        <Trans>No more events are sent, and its delivery log is deleted. This can't be undone.</Trans>
      </ConfirmButton>
      <Replay hook={hook} opened={replays} onClose={replayDialog.close} />
      <Rotate hook={hook} opened={rotates} onClose={rotateDialog.close} />
    </Group>
  );
}

const overlaps = [
  { value: "86400", label: msg`For 24 hours` },
  { value: "604800", label: msg`For 7 days` },
  { value: "0", label: msg`Stops working now` },
];

function Rotate({ hook, opened, onClose }: { hook: Hook; opened: boolean; onClose: () => void }) {
  const { t } = useLingui();
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
      title={rotate.data === undefined ? t`Rotate secret?` : t`New secret`}
      centered
    >
      {rotate.data === undefined ? (
        <Stack>
          <Text size="sm">
            <Trans>
              Requests are signed with the new secret immediately. During the overlap they carry both
              signatures, so that you can update your server.
            </Trans>
          </Text>
          <Select
            label={t`Current secret works`}
            allowDeselect={false}
            data={overlaps.map(({ value, label }) => ({ value, label: t(label) }))}
            value={overlap}
            onChange={(value) => setOverlap(value ?? "86400")}
          />
          <FormError error={rotate.error} fields={[]} />
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              <Trans>Cancel</Trans>
            </Button>
            <Button loading={rotate.isPending} onClick={() => rotate.mutate()}>
              <Trans>Create secret</Trans>
            </Button>
          </Group>
        </Stack>
      ) : (
        <SecretOnce label={t`Signing secret`} value={rotate.data.secret} onDone={close} />
      )}
    </FormDialog>
  );
}
