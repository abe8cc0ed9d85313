import { Button, Stack, Switch, Text, Textarea } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { IconCheck, IconCopy } from "@tabler/icons-react";
import { useState } from "react";
import type { LinkBody } from "../api/links.ts";
import { frameCode } from "./form-values.ts";
import classes from "./links.module.css";

/** The code that shows a link in a page of one's own. */
export function EmbedCode({ link, title }: { link: LinkBody; title: string }) {
  const [hasWords, setWords] = useState(false);
  const clipboard = useClipboard({ timeout: 2500 });
  const code = frameCode(link.embed_url, title, hasWords);
  return (
    <Stack gap="xs" className={classes.panel ?? ""} align="flex-start">
      <Textarea
        w="100%"
        label="Embed code"
        readOnly
        autosize
        minRows={3}
        value={code}
        classNames={{ input: classes.code ?? "" }}
        onFocus={(event) => event.currentTarget.select()}
        error={clipboard.error === null ? undefined : "Could not copy: select it and copy it yourself."}
      />
      <Switch
        label="With the transcript beside it"
        checked={hasWords}
        onChange={(event) => setWords(event.currentTarget.checked)}
      />
      <Button
        size="xs"
        variant="light"
        leftSection={
          clipboard.copied ? <IconCheck size={16} aria-hidden /> : <IconCopy size={16} aria-hidden />
        }
        onClick={() => clipboard.copy(code)}
      >
        {clipboard.copied ? "Code copied" : "Copy code"}
      </Button>
      <Text size="xs" c="dimmed">
        It ends together with the link.
      </Text>
    </Stack>
  );
}
