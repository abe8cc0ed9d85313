import { Button, Spoiler, Text, Title } from "@mantine/core";
import { useDisclosure, useMediaQuery } from "@mantine/hooks";
import { IconDownload, IconLink } from "@tabler/icons-react";
import { useRef } from "react";
import { dayAndTime, fullTime, lengthInWords } from "../common/time.ts";
import { KeysHelp, useKeys } from "../recording/player/keys.ts";
import { Lanes } from "../recording/player/lanes.tsx";
import { useWatching, WatchingContext } from "../recording/watching.ts";
import type { Item, View } from "./api.ts";
import { Mark, Notice } from "./notice.tsx";
import { Screen } from "./screen.tsx";
import classes from "./shared.module.css";
import { StoryItems, StorySteps } from "./story-items.tsx";
import { type PageProps, type Turns, useItem, useTurns } from "./use-item.ts";
import { Words } from "./words.tsx";

/** The page of a link: a recording, a highlight, or a story that plays through. */
export function LinkPage(props: PageProps) {
  const turns = useTurns(props);
  const { item } = turns;
  if (item === undefined) return <EmptyStory title={props.view.title} />;
  return <Watched {...props} item={item} turns={turns} />;
}

/** A story that nothing is left in, or nothing of which may be shown. */
export function EmptyStory({ title }: { title: string }) {
  return (
    <Notice title={title} icon={<IconLink size={30} stroke={1.5} />}>
      There is nothing in it to be shown at the moment.
    </Notice>
  );
}

function Watched(props: PageProps & { item: Item; turns: Turns }) {
  const { view, item, turns } = props;
  const { watching, transcript, film, renew } = useItem(props);
  const hasPicture = item.state !== "transcript_only";
  const isStory = view.kind === "story";
  return (
    <WatchingContext value={watching}>
      <header className={classes.top}>
        <Mark />
        <Text span size="sm" c="dimmed" className={classes.from ?? ""} dir="auto">
          Shared by {view.workspace}
        </Text>
      </header>
      <main className={classes.page} data-words-alone={(!hasPicture && !isStory) || undefined}>
        {view.banner_image_url === null ? null : (
          <img className={classes.banner} src={view.banner_image_url} alt="" referrerPolicy="no-referrer" />
        )}
        <Heading view={view} item={item} />
        <Columns
          player={
            hasPicture || isStory ? (
              <Screen item={item} film={film} transcript={transcript.data} renew={renew} />
            ) : null
          }
          steps={isStory ? <StorySteps items={view.items} turns={turns} /> : null}
          below={
            isStory ? (
              <StoryItems items={view.items} turns={turns} />
            ) : transcript.data === undefined || transcript.data.segments.length === 0 ? null : (
              <Lanes transcript={transcript.data} />
            )
          }
          transcript={item.transcript_url === null ? null : transcript}
        />
      </main>
    </WatchingContext>
  );
}

function Heading({ view, item }: { view: View; item: Item }) {
  const { playback, copyLink, hasMedia } = useWatching();
  const { kind, title, description, items } = view;
  const length = items.reduce((sum, { duration }) => sum + duration, 0);
  return (
    <div className={classes.heading}>
      <div className={classes.words}>
        <Title order={1} className={classes.title ?? ""} dir="auto">
          {title}
        </Title>
        <div className={classes.facts}>
          {kind === "highlight" && item.recording_title !== null ? (
            <span dir="auto">from {item.recording_title}</span>
          ) : null}
          {kind === "story" ? (
            <span>{items.length === 1 ? "1 highlight" : `${items.length} highlights`}</span>
          ) : item.start_datetime === null ? null : (
            <time dateTime={item.start_datetime} title={fullTime(item.start_datetime)}>
              {dayAndTime(item.start_datetime)}
            </time>
          )}
          <span>{lengthInWords(length)}</span>
        </div>
        {description === null || description === "" ? null : (
          <Spoiler
            maxHeight={76}
            showLabel="Show more"
            hideLabel="Show less"
            className={classes.description ?? ""}
          >
            <Text dir="auto">{description}</Text>
          </Spoiler>
        )}
      </div>
      <div className={classes.actions}>
        {hasMedia ? (
          <Button
            variant="default"
            leftSection={<IconLink size={18} stroke={1.6} aria-hidden />}
            onClick={() => copyLink(playback.getState().timeMs)}
          >
            Copy link at this moment
          </Button>
        ) : null}
        {item.download_url === null ? null : (
          <Button
            component="a"
            href={item.download_url}
            download
            leftSection={<IconDownload size={18} stroke={1.6} aria-hidden />}
          >
            Download
          </Button>
        )}
      </div>
    </div>
  );
}

function Columns(props: {
  player: React.ReactNode;
  steps: React.ReactNode;
  below: React.ReactNode;
  transcript: React.ComponentProps<typeof Words>["transcript"] | null;
}) {
  const { player, steps, below, transcript } = props;
  const findField = useRef<HTMLInputElement>(null);
  const [isHelpOpen, help] = useDisclosure();
  const isWide = useMediaQuery("(min-width: 62em)", true, { getInitialValueInEffect: false });
  useKeys({
    onFind: () => {
      findField.current?.focus();
      findField.current?.select();
    },
    onHelp: help.open,
  });
  const words = transcript === null ? null : <Words transcript={transcript} findField={findField} />;
  const layout = player === null || words === null ? "one" : "two";
  return (
    <div className={classes.columns} data-layout={layout} data-steps={steps !== null || undefined}>
      {player === null ? null : (
        <div className={classes.watch}>
          <div className={classes.player}>{player}</div>
          {steps}
          {isWide ? <div className={classes.below}>{below}</div> : null}
        </div>
      )}
      {words === null ? null : <div className={classes.read}>{words}</div>}
      {isWide || player === null ? null : <div className={classes.below}>{below}</div>}
      <KeysHelp isOpen={isHelpOpen} onClose={help.close} isReadOnly />
    </div>
  );
}
