import { Button, Group, Modal, Select, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconKey, IconPlayerPlay, IconRepeat, IconSend } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { deleteHook, disableHook, enableHook, type Hook, rotateSecret, testHook } from "../../api/hooks.ts";
import { FormError, useAction } from "../../common/actions.tsx";
import { ConfirmButton } from "../../common/confirm.tsx";
import { SecretOnce } from "../../common/secret-once.tsx";
import { Replay } from "./replay.tsx";

/** What can be done with a hook as a whole. */
export function HookActions({ hook }: { hook: Hook }) {
  const navigate = useNavigate();
  const [replays, replayDialog] = useDisclosure();
  const [rotates, rotateDialog] = useDisclosure();
  const refresh = [["hook", hook.id], ["hooks"]];
  const enable = useAction({ run: () => enableHook(hook.id), done: "The hook is on.", refresh });
  const test = useAction({ run: () => testHook(hook.id), done: "A test event is on its way.", refresh });
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
          Switch on
        </Button>
      )}
      <Button variant="default" leftSection={<IconKey size={16} />} onClick={rotateDialog.open}>
        New secret
      </Button>
      {hook.enabled ? (
        <ConfirmButton
          text="Switch off"
          button={{ variant: "default", size: "sm", color: "gray" }}
          title="Switch the hook off?"
          label="Switch off"
          run={() => disableHook(hook.id)}
          done="The hook is off."
          refresh={refresh}
        >
          Nothing is sent to it, and what happens meanwhile is not kept for it. It can be switched on again.
        </ConfirmButton>
      ) : null}
      <ConfirmButton
        text="Delete"
        button={{ variant: "subtle", size: "sm" }}
        title="Delete the hook?"
        label="Delete hook"
        run={() => deleteHook(hook.id)}
        done="The hook is deleted."
        refresh={[["hooks"]]}
        onDone={() => navigate({ to: "/settings/hooks" as string })}
      >
        Nothing more is sent to it, and its log goes with it. This can't be undone.
      </ConfirmButton>
      <Replay hook={hook} opened={replays} onClose={replayDialog.close} />
      <Rotate hook={hook} opened={rotates} onClose={rotateDialog.close} />
    </Group>
  );
}

const overlaps = [
  { value: "86400", label: "for a day more" },
  { value: "604800", label: "for a week more" },
  { value: "0", label: "not any more" },
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
    <Modal
      opened={opened}
      onClose={close}
      title={rotate.data === undefined ? "A new secret?" : "The new secret"}
      centered
      closeOnClickOutside={rotate.data === undefined}
    >
      {rotate.data === undefined ? (
        <Stack>
          <Text size="sm">
            Requests are signed with the new secret at once. For the time of the overlap they carry both
            signatures, so that your server can change over.
          </Text>
          <Select
            label="The old secret is good"
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
              Make new secret
            </Button>
          </Group>
        </Stack>
      ) : (
        <SecretOnce label="Signing secret" value={rotate.data.secret} onDone={close} />
      )}
    </Modal>
  );
}
