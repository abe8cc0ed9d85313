import { Trans, useLingui } from "@lingui/react/macro";
import { Loader, Text } from "@mantine/core";
import { IconAlertTriangle, IconFileText } from "@tabler/icons-react";
import type { ReactNode } from "react";
import type { Transcript } from "../api/recording/recording.ts";
import type { MediaSource } from "../player/context.ts";
import { Player } from "../player/player.tsx";
import type { Item } from "./api.ts";
import classes from "./public-link.module.css";

/** The player, or a placeholder if there is nothing to play. */
export function ItemPlayer(props: {
  item: Item;
  source: MediaSource | null;
  transcript: Transcript | undefined;
  refreshSource: () => Promise<string | undefined>;
  isFilling?: boolean;
  head?: ReactNode;
  tools?: ReactNode;
}) {
  const { t } = useLingui();
  const { item, source, head, tools, ...rest } = props;
  if (source !== null) return <Player source={source} head={head} tools={tools} {...rest} />;
  return (
    <section className={classes.instead} aria-label={t`Player`} data-whole={rest.isFilling || undefined}>
      {head}
      <div role="status" className={classes.insteadWords}>
        <Reason state={item.state} />
      </div>
      {tools === undefined ? null : <div className={classes.insteadTools}>{tools}</div>}
    </section>
  );
}

function Reason({ state }: { state: Item["state"] }) {
  if (state === "preparing")
    return (
      <>
        <Loader size={28} aria-hidden />
        <Text fw={600}>
          <Trans>This clip is being prepared</Trans>
        </Text>
        <Text size="sm">
          <Trans>It will appear here, usually within a minute.</Trans>
        </Text>
      </>
    );
  if (state === "transcript_only")
    return (
      <>
        <IconFileText size={28} stroke={1.5} aria-hidden />
        <Text fw={600}>
          <Trans>Transcript only</Trans>
        </Text>
        <Text size="sm">
          <Trans>This recording has no audio or video.</Trans>
        </Text>
      </>
    );
  return (
    <>
      <IconAlertTriangle size={28} stroke={1.5} aria-hidden />
      <Text fw={600}>
        <Trans>Can't play this</Trans>
      </Text>
      <Text size="sm">
        <Trans>The clip couldn't be created. Ask the sender for help.</Trans>
      </Text>
    </>
  );
}
