import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";

/** Asks for confirmation of an irreversible action, inside a dialog. */
export function ConfirmForm(props: {
  verb: string;
  children: ReactNode;
  act: () => Promise<unknown>;
  onDone: () => void;
  onCancel: () => void;
}) {
  const work = useMutation({ mutationFn: props.act, onSuccess: props.onDone });
  return (
    <Stack gap="md">
      <Text>{props.children}</Text>
      {work.isError ? (
        <Alert color="red" variant="light">
          {work.error.message}
        </Alert>
      ) : null}
      <Group justify="flex-end">
        <Button variant="default" onClick={props.onCancel} data-autofocus>
          Cancel
        </Button>
        <Button color="red.9" loading={work.isPending} onClick={() => work.mutate()}>
          {props.verb}
        </Button>
      </Group>
    </Stack>
  );
}
