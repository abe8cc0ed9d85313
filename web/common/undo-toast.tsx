import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, Text } from "@mantine/core";
import { randomId } from "@mantine/hooks";
import { notifications } from "@mantine/notifications";
import { useState } from "react";
import { errorText } from "./actions.tsx";

/** Long enough to notice a mistake. */
const shownMs = 12_000;

/** Says what was done, with a button that undoes it. */
export function showUndoToast(options: {
  readonly message: string;
  /** A string that it returns is shown instead of `undone`. */
  readonly undo: () => Promise<unknown>;
  /** Shown once undone. */
  readonly undone: string;
}): void {
  const id = randomId();
  notifications.show({
    id,
    message: <UndoMessage {...options} onDone={() => notifications.hide(id)} />,
    autoClose: shownMs,
  });
}

function UndoMessage(props: {
  message: string;
  undo: () => Promise<unknown>;
  undone: string;
  onDone: () => void;
}) {
  const { t } = useLingui();
  const [isUndoing, setUndoing] = useState(false);
  const undo = async () => {
    setUndoing(true);
    try {
      const message = await props.undo();
      notifications.show({ message: typeof message === "string" ? message : props.undone });
    } catch (error) {
      notifications.show({ color: "red", title: t`Couldn't undo that`, message: errorText(error) });
    }
    props.onDone();
  };
  return (
    <Group justify="space-between" gap="sm" wrap="nowrap">
      <Text size="sm" style={{ overflowWrap: "anywhere" }}>
        {props.message}
      </Text>
      <Button size="compact-sm" variant="light" flex="none" loading={isUndoing} onClick={() => void undo()}>
        <Trans>Undo</Trans>
      </Button>
    </Group>
  );
}
