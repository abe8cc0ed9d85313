import { useLingui } from "@lingui/react/macro";
import { ActionIcon, Anchor, Tooltip } from "@mantine/core";
import {
  IconArrowUpRight,
  IconLayoutSidebarRight,
  IconLayoutSidebarRightFilled,
  IconPlayerSkipBackFilled,
  IconPlayerSkipForwardFilled,
} from "@tabler/icons-react";
import { type ReactNode, useRef, useState } from "react";
import { PlayerContext } from "../player/context.ts";
import { ShortcutsHelp, useShortcuts } from "../player/shortcuts.ts";
import type { Item } from "./api.ts";
import classes from "./embed.module.css";
import { ItemPlayer } from "./item-player.tsx";
import { EmptyStory } from "./link-page.tsx";
import { TranscriptPanel } from "./transcript-panel.tsx";
import { linkPageUrl } from "./url.ts";
import { type PageProps, type Playlist, useItem, usePlaylist } from "./use-item.ts";

/** A frame with room for the transcript next to or below the player. */
const roomForTranscript =
  "(min-width: 760px) and (min-height: 320px), (max-aspect-ratio: 1/1) and (min-height: 420px)";

/** An embedded link: the player fills the frame, with the transcript on demand. */
export function EmbedPage(props: PageProps) {
  const playlist = usePlaylist(props);
  const { item } = playlist;
  if (item === undefined) return <EmptyStory title={props.view.title} />;
  return <ItemView {...props} item={item} playlist={playlist} />;
}

function ItemView(props: PageProps & { item: Item; playlist: Playlist }) {
  const { t } = useLingui();
  const { view, address, item, playlist } = props;
  const { player, transcript, source, refreshSource } = useItem(props);
  const findField = useRef<HTMLInputElement>(null);
  const [showsTranscript, setShowsTranscript] = useState(
    () => address.hasTranscript ?? window.matchMedia(roomForTranscript).matches,
  );
  const [isHelpOpen, setHelpOpen] = useState(false);
  const isReadOnly = item.state === "transcript_only";
  const isTranscriptShown = item.transcript_url !== null && (showsTranscript || isReadOnly);
  const steps = view.kind === "story" ? <Steps count={view.items.length} playlist={playlist} /> : null;
  const head = (
    <div className={classes.head}>
      <Anchor
        href={linkPageUrl(address.token)}
        target="_blank"
        rel="noopener"
        underline="hover"
        className={classes.title ?? ""}
        dir="auto"
      >
        <span className={classes.name}>{view.title}</span>
        <IconArrowUpRight size={16} aria-label={t`opens in a new tab`} />
      </Anchor>
      {isReadOnly ? <div className={classes.readTools}>{steps}</div> : null}
    </div>
  );
  const transcriptToggle =
    item.transcript_url === null ? null : (
      <Toggle isOn={showsTranscript} onClick={() => setShowsTranscript(!showsTranscript)}>
        {showsTranscript ? (
          <IconLayoutSidebarRightFilled size={20} />
        ) : (
          <IconLayoutSidebarRight size={20} stroke={1.6} />
        )}
      </Toggle>
    );
  return (
    <PlayerContext value={player}>
      <main
        className={classes.frame}
        data-words={isTranscriptShown || undefined}
        data-read-only={isReadOnly || undefined}
      >
        <h1 className={classes.heading}>{view.title}</h1>
        <div className={classes.watch}>
          {isReadOnly ? (
            head
          ) : (
            <ItemPlayer
              item={item}
              source={source}
              transcript={transcript.data}
              refreshSource={refreshSource}
              isFilling
              head={head}
              tools={
                <>
                  {steps}
                  {transcriptToggle}
                </>
              }
            />
          )}
        </div>
        {isTranscriptShown ? (
          <div className={classes.words}>
            <TranscriptPanel transcript={transcript} findField={findField} />
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
      <ShortcutsHelp isOpen={isHelpOpen} onClose={() => setHelpOpen(false)} isReadOnly />
    </PlayerContext>
  );
}

function Keys(props: Parameters<typeof useShortcuts>[0]) {
  useShortcuts(props);
  return null;
}

function Toggle(props: { isOn: boolean; onClick: () => void; children: ReactNode }) {
  const { t } = useLingui();
  return (
    <Tooltip
      withinPortal={false}
      label={props.isOn ? t`Hide transcript` : t`Show transcript`}
      openDelay={400}
    >
      <ActionIcon
        variant="subtle"
        color="gray"
        size={36}
        aria-label={t`Transcript`}
        aria-pressed={props.isOn}
        onClick={props.onClick}
      >
        {props.children}
      </ActionIcon>
    </Tooltip>
  );
}

function Steps({ count, playlist }: { count: number; playlist: Playlist }) {
  const { t } = useLingui();
  const { at, go } = playlist;
  const position = at + 1;
  return (
    <>
      <ActionIcon
        variant="subtle"
        color="gray"
        size={36}
        aria-label={t`Previous, ${position} of ${count}`}
        disabled={at === 0}
        onClick={() => go(at - 1)}
      >
        <IconPlayerSkipBackFilled size={16} />
      </ActionIcon>
      <span className={classes.counter}>
        {position}/{count}
      </span>
      <ActionIcon
        variant="subtle"
        color="gray"
        size={36}
        aria-label={t`Next, ${position} of ${count}`}
        disabled={at === count - 1}
        onClick={() => go(at + 1)}
      >
        <IconPlayerSkipForwardFilled size={16} />
      </ActionIcon>
    </>
  );
}
