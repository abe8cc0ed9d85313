import { Button, type ButtonProps, Modal, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { ReactNode } from "react";
import { Form, type FormAction, useForm } from "./form.tsx";

interface Question<Result> extends Omit<FormAction<Result>, "draft"> {
  /** The consequences, shown before the user confirms. */
  readonly children: ReactNode;
  /** The label of the button that confirms. */
  readonly label: string;
  /** Whether the action is harmless; otherwise the button is red. */
  readonly isHarmless?: boolean;
  readonly isDisabled?: boolean;
}

/** Asks for confirmation inside a dialog, runs the action, and stays with the error if it fails. */
export function ConfirmForm<Result>(props: Question<Result> & { onCancel: () => void }) {
  const { children, label, isHarmless = false, isDisabled = false, onCancel, ...action } = props;
  const form = useForm(action);
  return (
    <Form
      form={form}
      label={label}
      color={isHarmless ? undefined : "red.9"}
      isCautious
      isDisabled={isDisabled}
      onCancel={onCancel}
    >
      <Text component="div" size="sm">
        {children}
      </Text>
    </Form>
  );
}

interface DialogQuestion<Result> extends Question<Result> {
  readonly title: string;
}

/** A dialog that asks for confirmation. */
export function Confirm<Result>({
  opened,
  onClose,
  title,
  onDone,
  ...question
}: DialogQuestion<Result> & { opened: boolean; onClose: () => void }) {
  return (
    <Modal opened={opened} onClose={onClose} title={title} centered>
      <ConfirmForm
        {...question}
        onCancel={onClose}
        onDone={(result) => {
          onClose();
          onDone?.(result);
        }}
      />
    </Modal>
  );
}

/** A button that asks for confirmation first. */
export function ConfirmButton<Result>({
  text,
  button,
  ...question
}: DialogQuestion<Result> & { text: string; button?: ButtonProps & { "aria-label"?: string } }) {
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
