import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Stack, Switch, Text, Textarea } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { IconCheck, IconCopy } from "@tabler/icons-react";
import { useState } from "react";
import type { LinkBody } from "../api/public-links.ts";
import { embedCode } from "./form-values.ts";
import classes from "./link-settings.module.css";

/** HTML that embeds a link in another page. */
export function EmbedCode({ link, title }: { link: LinkBody; title: string }) {
  const { t } = useLingui();
  const [hasTranscript, setTranscript] = useState(false);
  const clipboard = useClipboard({ timeout: 2500 });
  const code = embedCode(link.embed_url, title, hasTranscript);
  return (
    <Stack gap="xs" className={classes.panel ?? ""} align="flex-start">
      <Textarea
        w="100%"
        label={t`Embed code`}
        readOnly
        autosize
        minRows={3}
        value={code}
        classNames={{ input: classes.code ?? "" }}
        onFocus={(event) => event.currentTarget.select()}
        error={clipboard.error === null ? undefined : t`Couldn't copy. Select and copy it manually.`}
      />
      <Switch
        label={t`Include transcript`}
        checked={hasTranscript}
        onChange={(event) => setTranscript(event.currentTarget.checked)}
      />
      <Button
        size="xs"
        variant="light"
        leftSection={
          clipboard.copied ? <IconCheck size={16} aria-hidden /> : <IconCopy size={16} aria-hidden />
        }
        onClick={() => clipboard.copy(code)}
      >
        {clipboard.copied ? t`Code copied` : t`Copy code`}
      </Button>
      <Text size="xs" c="dimmed">
        <Trans>Stops working with the link.</Trans>
      </Text>
    </Stack>
  );
}
