import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Button } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconDownload } from "@tabler/icons-react";
import { pause } from "../api/client/pause.ts";
import { requestClip } from "../api/highlights.ts";
import { useAction } from "../common/actions.tsx";
import { follow } from "../common/save-as.ts";

/** How often to check whether the clip is ready: each second at first, later rarely, for half an hour. */
const maxPolls = 240;
const pollMs = (attempt: number): number => (attempt < 60 ? 1000 : 10_000);

/** Downloads the clip of a highlight once the server has rendered it, also if the button is gone by then. */
export function DownloadButton({ highlightId }: { highlightId: string }) {
  const download = useAction({ run: () => downloadClip(highlightId) });
  return (
    <Button
      size="xs"
      variant="default"
      leftSection={<IconDownload size={16} aria-hidden />}
      loading={download.isPending}
      onClick={() => download.mutate()}
    >
      <Trans>Download clip</Trans>
    </Button>
  );
}

async function downloadClip(highlightId: string): Promise<void> {
  for (let attempt = 0; attempt < maxPolls; attempt++) {
    const clip = await requestClip(highlightId);
    if (clip.url != null) return follow(clip.url, "");
    if (clip.state !== "preparing") return showFailure(clip.error ?? "");
    if (attempt === 0)
      notifications.show({ message: t`Preparing the clip. The download starts once it is ready.` });
    await pause(pollMs(attempt));
  }
  showFailure(t`It took too long. Try again later.`);
}

function showFailure(message: string): void {
  notifications.show({ color: "red", title: t`Couldn't render the clip`, message });
}
