import { Button } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconDownload } from "@tabler/icons-react";
import { useEffect, useRef } from "react";
import { requestClip } from "../api/highlights.ts";
import { useAction } from "../common/actions.tsx";
import { follow } from "../common/save-as.ts";

/** How often to ask whether the clip is ready. */
const pollMs = 1000;

/** Downloads the clip of a highlight, once the server has rendered it. */
export function DownloadButton({ highlightId }: { highlightId: string }) {
  const isGone = useRef(false);
  useEffect(() => {
    isGone.current = false;
    return () => {
      isGone.current = true;
    };
  }, []);
  const download = useAction({
    run: () => waitForClip(highlightId, () => isGone.current),
    onDone: (clip) => {
      if (clip?.url != null) follow(clip.url, "");
      else if (clip !== null)
        notifications.show({ color: "red", title: "Couldn't render the clip", message: clip.error ?? "" });
    },
  });
  return (
    <Button
      size="xs"
      variant="default"
      leftSection={<IconDownload size={16} aria-hidden />}
      loading={download.isPending}
      onClick={() => download.mutate()}
    >
      Download clip
    </Button>
  );
}

/** @returns the clip once it is ready or has failed; null once nobody waits for it. */
async function waitForClip(highlightId: string, isGone: () => boolean) {
  while (!isGone()) {
    const clip = await requestClip(highlightId);
    if (clip.state !== "preparing") return clip;
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  return null;
}
