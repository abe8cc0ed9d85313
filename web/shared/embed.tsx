import { ActionIcon, Anchor, Tooltip } from "@mantine/core";
import {
  IconArrowUpRight,
  IconLayoutSidebarRight,
  IconLayoutSidebarRightFilled,
  IconPlayerSkipBackFilled,
  IconPlayerSkipForwardFilled,
} from "@tabler/icons-react";
import { type ReactNode, useRef, useState } from "react";
import { KeysHelp, useKeys } from "../recording/player/keys.ts";
import { WatchingContext } from "../recording/watching.ts";
import { pageAddress } from "./address.ts";
import type { Item } from "./api.ts";
import classes from "./embed.module.css";
import { EmptyStory } from "./link-page.tsx";
import { Screen } from "./screen.tsx";
import { type PageProps, type Turns, useItem, useTurns } from "./use-item.ts";
import { Words } from "./words.tsx";

/** A frame that has room for words beside or below the picture. */
const roomForWords =
  "(min-width: 760px) and (min-height: 320px), (max-aspect-ratio: 1/1) and (min-height: 420px)";

/** A link in a frame of another page: the player fills it, with the words beside it when asked for. */
export function EmbedPage(props: PageProps) {
  const turns = useTurns(props);
  const { item } = turns;
  if (item === undefined) return <EmptyStory title={props.view.title} />;
  return <Watched {...props} item={item} turns={turns} />;
}

function Watched(props: PageProps & { item: Item; turns: Turns }) {
  const { view, address, item, turns } = props;
  const { watching, transcript, film, renew } = useItem(props);
  const findField = useRef<HTMLInputElement>(null);
  const [hasWords, setWords] = useState(
    () => address.hasTranscript ?? window.matchMedia(roomForWords).matches,
  );
  const [isHelpOpen, setHelpOpen] = useState(false);
  const isReadOnly = item.state === "transcript_only";
  const showsWords = item.transcript_url !== null && (hasWords || isReadOnly);
  const steps = view.kind === "story" ? <Steps count={view.items.length} turns={turns} /> : null;
  const head = (
    <div className={classes.head}>
      <Anchor
        href={pageAddress(address.token)}
        target="_blank"
        rel="noopener"
        underline="hover"
        className={classes.title ?? ""}
        dir="auto"
      >
        <span className={classes.name}>{view.title}</span>
        <IconArrowUpRight size={16} aria-label="opens in a new tab" />
      </Anchor>
      {isReadOnly ? <div className={classes.readTools}>{steps}</div> : null}
    </div>
  );
  const wordsTool =
    item.transcript_url === null ? null : (
      <Toggle isOn={hasWords} onClick={() => setWords(!hasWords)}>
        {hasWords ? (
          <IconLayoutSidebarRightFilled size={20} />
        ) : (
          <IconLayoutSidebarRight size={20} stroke={1.6} />
        )}
      </Toggle>
    );
  return (
    <WatchingContext value={watching}>
      <main
        className={classes.frame}
        data-words={showsWords || undefined}
        data-read-only={isReadOnly || undefined}
      >
        <h1 className={classes.heading}>{view.title}</h1>
        <div className={classes.watch}>
          {isReadOnly ? (
            head
          ) : (
            <Screen
              item={item}
              film={film}
              transcript={transcript.data}
              renew={renew}
              isFilling
              head={head}
              tools={
                <>
                  {steps}
                  {wordsTool}
                </>
              }
            />
          )}
        </div>
        {showsWords ? (
          <div className={classes.words}>
            <Words transcript={transcript} findField={findField} />
          </div>
        ) : null}
      </main>
      <Keys
        onFind={() => {
          findField.current?.focus();
          findField.current?.select();
        }}
        onHelp={() => setHelpOpen(true)}
      />
      <KeysHelp isOpen={isHelpOpen} onClose={() => setHelpOpen(false)} isReadOnly />
    </WatchingContext>
  );
}

function Keys(props: Parameters<typeof useKeys>[0]) {
  useKeys(props);
  return null;
}

function Toggle(props: { isOn: boolean; onClick: () => void; children: ReactNode }) {
  return (
    <Tooltip
      withinPortal={false}
      label={props.isOn ? "Hide the transcript" : "Show the transcript"}
      openDelay={400}
    >
      <ActionIcon
        variant="subtle"
        color="gray"
        size={36}
        aria-label="Transcript"
        aria-pressed={props.isOn}
        onClick={props.onClick}
      >
        {props.children}
      </ActionIcon>
    </Tooltip>
  );
}

function Steps({ count, turns }: { count: number; turns: Turns }) {
  const { at, go } = turns;
  return (
    <>
      <ActionIcon
        variant="subtle"
        color="gray"
        size={36}
        aria-label={`Previous, ${at + 1} of ${count}`}
        disabled={at === 0}
        onClick={() => go(at - 1)}
      >
        <IconPlayerSkipBackFilled size={16} />
      </ActionIcon>
      <span className={classes.place}>
        {at + 1}/{count}
      </span>
      <ActionIcon
        variant="subtle"
        color="gray"
        size={36}
        aria-label={`Next, ${at + 1} of ${count}`}
        disabled={at === count - 1}
        onClick={() => go(at + 1)}
      >
        <IconPlayerSkipForwardFilled size={16} />
      </ActionIcon>
    </>
  );
}
