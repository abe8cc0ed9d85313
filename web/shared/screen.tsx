import { Loader, Text } from "@mantine/core";
import { IconAlertTriangle, IconFileText } from "@tabler/icons-react";
import type { ReactNode } from "react";
import type { Transcript } from "../api/recording.ts";
import { Player } from "../recording/player/player.tsx";
import type { Film } from "../recording/watching.ts";
import type { Item } from "./api.ts";
import classes from "./shared.module.css";

/** The player, or what stands in its place while there is nothing to play. */
export function Screen(props: {
  item: Item;
  film: Film | null;
  transcript: Transcript | undefined;
  renew: () => Promise<string | undefined>;
  isFilling?: boolean;
  head?: ReactNode;
  tools?: ReactNode;
}) {
  const { item, film, head, tools, ...rest } = props;
  if (film !== null) return <Player film={film} head={head} tools={tools} {...rest} />;
  return (
    <section className={classes.instead} aria-label="Player" data-whole={rest.isFilling || undefined}>
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
        <Text fw={600}>This clip is being prepared</Text>
        <Text size="sm">It appears here by itself, usually within a minute.</Text>
      </>
    );
  if (state === "transcript_only")
    return (
      <>
        <IconFileText size={28} stroke={1.5} aria-hidden />
        <Text fw={600}>There is no picture or sound to this one</Text>
        <Text size="sm">What was said is here to be read.</Text>
      </>
    );
  return (
    <>
      <IconAlertTriangle size={28} stroke={1.5} aria-hidden />
      <Text fw={600}>This can't be played</Text>
      <Text size="sm">Its file could not be made. Whoever shared it can look into that.</Text>
    </>
  );
}
