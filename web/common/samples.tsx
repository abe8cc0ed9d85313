import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { loadSamples, removeSamples, samplesQuery } from "../api/library/samples.ts";
import { useAction } from "./actions.tsx";
import { ConfirmButton } from "./forms/confirm.tsx";

/** Loads the sample recordings with one click, and removes them. For admins. */
export function SamplesButton() {
  const { t } = useLingui();
  const client = useQueryClient();
  const { data } = useQuery(samplesQuery);
  const refresh = [samplesQuery.queryKey, ["recordings"]];
  const load = useAction({
    run: () => loadSamples(),
    done: t`Loading sample recordings. You can remove them in Settings → General.`,
    refresh,
  });
  // Once all are processed: with the first recording, the checklist around this button disappears.
  const isLoaded = data !== undefined && data.loaded > 0 && data.pending === 0;
  useEffect(() => {
    if (isLoaded) void client.invalidateQueries({ queryKey: ["recordings"] });
  }, [client, isLoaded]);
  if (data === undefined) return null;
  const isBusy = load.isPending || data.pending > 0;
  return (
    <Group gap="xs">
      {data.loaded < data.total ? (
        <Button size="xs" variant="light" loading={isBusy} onClick={() => load.mutate()}>
          <Trans>Load sample recordings</Trans>
        </Button>
      ) : null}
      {data.loaded > 0 && !isBusy ? (
        <ConfirmButton
          text={t`Remove sample recordings`}
          button={{ size: "xs", variant: "default", color: "gray" }}
          title={t`Remove sample recordings?`}
          label={t`Delete permanently`}
          run={() => removeSamples()}
          done={t`Sample recordings removed.`}
          refresh={refresh}
        >
          <Trans>
            The sample recordings are deleted permanently for everyone, with their highlights and notes.
          </Trans>
        </ConfirmButton>
      ) : null}
    </Group>
  );
}
