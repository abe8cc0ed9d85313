import { Button } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { loadSamples, removeSamples, samplesQuery } from "../api/samples.ts";
import { useAction } from "./actions.tsx";

/** Loads or removes the sample recordings with one click. For admins. */
export function SamplesButton() {
  const client = useQueryClient();
  const { data } = useQuery(samplesQuery);
  const refresh = [samplesQuery.queryKey, ["recordings"]];
  const load = useAction({
    run: () => loadSamples(),
    done: "Loading sample recordings. You can remove them in Settings → General.",
    refresh,
  });
  const remove = useAction({ run: () => removeSamples(), done: "Sample recordings removed.", refresh });
  // Once all are processed: with the first recording, the checklist around this button disappears.
  const isLoaded = data !== undefined && data.loaded > 0 && data.pending === 0;
  useEffect(() => {
    if (isLoaded) void client.invalidateQueries({ queryKey: ["recordings"] });
  }, [client, isLoaded]);
  if (data === undefined) return null;
  const isBusy = load.isPending || remove.isPending || data.pending > 0;
  return data.loaded === data.total ? (
    <Button size="xs" variant="default" loading={isBusy} onClick={() => remove.mutate()}>
      Remove sample recordings
    </Button>
  ) : (
    <Button size="xs" variant="light" loading={isBusy} onClick={() => load.mutate()}>
      Load sample recordings
    </Button>
  );
}
