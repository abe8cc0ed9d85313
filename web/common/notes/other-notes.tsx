import { Trans, useLingui } from "@lingui/react/macro";
import { Alert, Button, Group, Text } from "@mantine/core";
import { whenInLine } from "../format/time.ts";
import classes from "./notes.module.css";

/** Offers unsaved notes whose saved version has changed elsewhere. @param props.at Unix time in milliseconds. */
export function OtherNotes(props: { at: number; text: string; onUse: () => void; onDiscard: () => void }) {
  const { t } = useLingui();
  const { at, text, onUse, onDiscard } = props;
  const when = whenInLine(new Date(at).toISOString());
  return (
    <Alert role="status" variant="light" color="yellow" c="bright" title={t`Unsaved notes`}>
      <Text size="sm" mb="xs">
        <Trans>Your notes were changed elsewhere after you typed this ({when}):</Trans>
      </Text>
      <Text size="sm" mb="xs" dir="auto" className={classes.otherNotes ?? ""}>
        {text}
      </Text>
      <Group gap="xs">
        <Button size="compact-sm" onClick={onUse}>
          <Trans>Use this version</Trans>
        </Button>
        <Button size="compact-sm" variant="default" onClick={onDiscard}>
          <Trans>Discard</Trans>
        </Button>
      </Group>
    </Alert>
  );
}
