import { Button, type ButtonProps, Group, Modal, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { ReactNode } from "react";
import { FormError, useAction } from "../actions.tsx";

interface Question<Result> {
  readonly title: string;
  /** The consequences, shown before the user confirms. */
  readonly children: ReactNode;
  /** The label of the button that confirms. */
  readonly label: string;
  readonly run: () => Promise<Result>;
  readonly done: string | ((result: Result) => string);
  readonly refresh?: readonly (readonly string[])[];
  readonly onDone?: () => void;
  /** Whether the action is harmless; otherwise the button is red. */
  readonly isHarmless?: boolean;
}

/** Asks for confirmation, runs the action, and stays open with the error if it fails. */
export function Confirm<Result>({
  opened,
  onClose,
  ...question
}: Question<Result> & { opened: boolean; onClose: () => void }) {
  const action = useAction({
    run: question.run,
    done: question.done,
    refresh: question.refresh ?? [],
    showsError: true,
    onDone: () => {
      onClose();
      question.onDone?.();
    },
  });
  const close = () => {
    action.reset();
    onClose();
  };
  return (
    <Modal opened={opened} onClose={close} title={question.title} centered>
      <Stack>
        <Text component="div" size="sm">
          {question.children}
        </Text>
        <FormError error={action.error} fields={[]} />
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={close} data-autofocus>
            Cancel
          </Button>
          <Button
            color={question.isHarmless ? "indigo" : "red.9"}
            loading={action.isPending}
            onClick={() => action.mutate()}
          >
            {question.label}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

/** A button that asks for confirmation first. */
export function ConfirmButton<Result>({
  text,
  button,
  ...question
}: Question<Result> & { text: string; button?: ButtonProps & { "aria-label"?: string } }) {
  const [opened, { open, close }] = useDisclosure();
  return (
    <>
      <Button variant="subtle" color="red" size="compact-sm" {...button} onClick={open}>
        {text}
      </Button>
      <Confirm opened={opened} onClose={close} {...question} />
    </>
  );
}
