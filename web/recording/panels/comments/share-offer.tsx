import { Plural, Trans } from "@lingui/react/macro";
import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { IconEyeOff } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { ApiError } from "../../../api/client/api-error.ts";
import { refreshRecording } from "../../../api/recording/recording.ts";
import { FormError } from "../../../common/actions.tsx";
import { namesInLine } from "../../../common/format/names.ts";
import { useRecording } from "../../context.ts";
import type { User } from "./threads.ts";

/** The users whose mention was refused because they can't see the recording. */
export function refusedOf(error: unknown, sent: readonly User[]): User[] {
  if (!(error instanceof ApiError)) return [];
  return error.violations.flatMap(({ pointer }) => {
    const index = /^\/mentions\/(\d+)$/.exec(pointer)?.[1];
    return index === undefined ? [] : (sent[Number(index)] ?? []);
  });
}

/** Offers to share the recording with users who were mentioned and can't see it, and then sends the comment. */
export function ShareOffer(props: {
  users: readonly User[];
  onShared: () => void;
  /** Sends the comment with their names as plain text. */
  onWithout: () => void;
}) {
  const { users, onShared, onWithout } = props;
  const { id, view, actions } = useRecording();
  const client = useQueryClient();
  const names = namesInLine(
    users.map(({ name }) => name),
    5,
  );
  const count = users.length;
  const share = useMutation({
    mutationFn: async () => {
      for (const user of users) await actions.shareToUser(user.id);
    },
    onSettled: () => refreshRecording(client, id),
    onSuccess: onShared,
  });
  return (
    <Alert
      role="alert"
      color="yellow"
      variant="light"
      c="bright"
      mt={6}
      p="sm"
      icon={<IconEyeOff size={18} aria-hidden />}
    >
      <Stack gap="xs">
        <Text size="sm">
          <Plural
            value={count}
            one={
              <Trans>
                <b dir="auto">{names}</b> can't see this recording.
              </Trans>
            }
            other={
              <Trans>
                <b dir="auto">{names}</b> can't see this recording.
              </Trans>
            }
          />
          {view.can.share ? null : (
            <>
              {" "}
              <Trans>Ask its owner or an admin to share it.</Trans>
            </>
          )}
        </Text>
        <FormError error={share.error} fields={[]} />
        <Group gap="xs">
          {view.can.share ? (
            <Button size="compact-sm" loading={share.isPending} onClick={() => share.mutate()}>
              <Trans>Share with {names}</Trans>
            </Button>
          ) : null}
          <Button size="compact-sm" variant="default" disabled={share.isPending} onClick={onWithout}>
            <Trans>Send without mention</Trans>
          </Button>
        </Group>
      </Stack>
    </Alert>
  );
}
