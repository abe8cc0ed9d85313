import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Anchor, Button, List, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type ImportRun, importReportQuery } from "../../api/settings/imports.ts";
import { namesInSentence } from "../../common/format/names.ts";
import { ServerText } from "../../common/format/server-text.tsx";
import { Loaded } from "../parts.tsx";
import { omittedTexts } from "./omitted.ts";

/** What was not imported, and why. */
export function Report({ run }: { run: ImportRun }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Stack gap={4} mt={8}>
      <Text size="sm">{describe(run.omitted)}</Text>
      {isOpen ? (
        <Items id={run.id} />
      ) : (
        <div>
          <Button variant="subtle" size="compact-sm" onClick={() => setOpen(true)}>
            <Trans>Show report</Trans>
          </Button>
        </div>
      )}
    </Stack>
  );
}

function Items({ id }: { id: string }) {
  const report = useQuery(importReportQuery(id));
  return (
    <Loaded query={report}>
      {({ items }) => (
        <List size="sm" listStyleType="none">
          {items.map(({ old_id, recording_id, reason, omitted }) => (
            <List.Item key={old_id}>
              {recording_id === null ? (
                old_id
              ) : (
                <Anchor href={`/recordings/${recording_id}`}>{old_id}</Anchor>
              )}
              {": "}
              {reason === null ? (
                describe(omitted)
              ) : (
                <>
                  <Trans>Not imported:</Trans> <ServerText text={reason} />
                </>
              )}
            </List.Item>
          ))}
        </List>
      )}
    </Loaded>
  );
}

function describe(omitted: Readonly<Record<string, number>>): string {
  const list = namesInSentence(omittedTexts(omitted));
  return list === "" ? "" : t`Left out: ${list}`;
}
