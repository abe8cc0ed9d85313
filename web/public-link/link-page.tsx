import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Button, Spoiler, Text, Title } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconDownload, IconLink } from "@tabler/icons-react";
import { useRef } from "react";
import { dayAndTime, fullTime, lengthInWords } from "../common/format/time.ts";
import { lazyPart } from "../common/load-part.tsx";
import { useWider } from "../common/use-wider.ts";
import { PlayerContext, usePlayerContext } from "../player/context.ts";
import { ShortcutsHelp, useShortcuts } from "../player/shortcuts.ts";
import { SpeakerTimeline } from "../player/timeline/speaker-timeline.tsx";
import { bannerUrl, type Item, type View } from "./api.ts";
import { ItemPlayer } from "./item-player.tsx";
import { Brand, Notice } from "./notice.tsx";
import classes from "./public-link.module.css";
import { StoryItems, StorySteps } from "./story-items.tsx";
import { TranscriptPanel } from "./transcript-panel.tsx";
import { type PageProps, type Playlist, useItem, usePlaylist } from "./use-item.ts";

const SummaryPanel = lazyPart(async () => (await import("./summary.tsx")).SummaryPanel, null);

/** The page of a link to a recording, highlight or story. */
export function LinkPage(props: PageProps) {
  const playlist = usePlaylist(props);
  const { item } = playlist;
  if (item === undefined) return <EmptyStory title={props.view.title} />;
  return <ItemView {...props} item={item} playlist={playlist} />;
}

/** A story without visible highlights. */
export function EmptyStory({ title }: { title: string }) {
  return (
    <Notice title={title} icon={<IconLink size={30} stroke={1.5} />}>
      <Trans>There are no highlights to show.</Trans>
    </Notice>
  );
}

function ItemView(props: PageProps & { item: Item; playlist: Playlist }) {
  const { view, item, playlist } = props;
  const { player, transcript, source, refreshSource } = useItem(props);
  const hasPicture = item.state !== "transcript_only";
  const isStory = view.kind === "story";
  const { workspace } = view;
  return (
    <PlayerContext value={player}>
      <header className={classes.top}>
        <Brand />
        <Text span size="sm" c="dimmed" className={classes.from ?? ""} dir="auto">
          <Trans>Shared by {workspace}</Trans>
        </Text>
      </header>
      <main className={classes.page} data-words-alone={(!hasPicture && !isStory) || undefined}>
        {view.banner_image_url === null ? null : (
          <img
            className={classes.banner}
            src={bannerUrl(props.address.token, props.access, view.banner_image_url)}
            alt=""
          />
        )}
        <Heading view={view} item={item} />
        <Columns
          player={
            hasPicture || isStory ? (
              <ItemPlayer
                item={item}
                source={source}
                transcript={transcript.data}
                refreshSource={refreshSource}
              />
            ) : null
          }
          steps={isStory ? <StorySteps items={view.items} playlist={playlist} /> : null}
          summary={item.summary === null && item.chapters.length === 0 ? null : <SummaryPanel item={item} />}
          below={
            isStory ? (
              <StoryItems items={view.items} playlist={playlist} />
            ) : transcript.data === undefined || transcript.data.segments.length === 0 ? null : (
              <SpeakerTimeline transcript={transcript.data} />
            )
          }
          transcript={item.transcript_url === null ? null : transcript}
        />
      </main>
    </PlayerContext>
  );
}

function Heading({ view, item }: { view: View; item: Item }) {
  const { t } = useLingui();
  const { playback, copyLink, hasMedia } = usePlayerContext();
  const { kind, title, description, items } = view;
  const recordingTitle = item.recording_title;
  const length = items.reduce((sum, { duration }) => sum + duration, 0);
  return (
    <div className={classes.heading}>
      <div className={classes.words}>
        <Title order={1} className={classes.title ?? ""} dir="auto">
          {title}
        </Title>
        <div className={classes.facts}>
          {kind === "highlight" && recordingTitle !== null ? (
            <span dir="auto">
              <Trans>from {recordingTitle}</Trans>
            </span>
          ) : null}
          {kind === "story" ? (
            <span>
              <Plural value={items.length} one="# highlight" other="# highlights" />
            </span>
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
            showLabel={t`Show more`}
            hideLabel={t`Show less`}
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
            <Trans>Copy link to this moment</Trans>
          </Button>
        ) : null}
        {item.download_url === null ? null : (
          <Button
            component="a"
            href={item.download_url}
            download
            leftSection={<IconDownload size={18} stroke={1.6} aria-hidden />}
          >
            <Trans>Download</Trans>
          </Button>
        )}
      </div>
    </div>
  );
}

function Columns(props: {
  player: React.ReactNode;
  steps: React.ReactNode;
  summary: React.ReactNode;
  below: React.ReactNode;
  transcript: React.ComponentProps<typeof TranscriptPanel>["transcript"] | null;
}) {
  const { player, steps, summary, below, transcript } = props;
  const findField = useRef<HTMLInputElement>(null);
  const [isHelpOpen, help] = useDisclosure();
  const isWide = useWider("md");
  useShortcuts({
    onFind: () => {
      findField.current?.focus();
      findField.current?.select();
    },
    onHelp: help.open,
  });
  const transcriptPanel =
    transcript === null ? null : <TranscriptPanel transcript={transcript} findField={findField} />;
  const layout = player === null || transcriptPanel === null ? "one" : "two";
  return (
    <div className={classes.columns} data-layout={layout} data-steps={steps !== null || undefined}>
      {player === null ? null : (
        <div className={classes.watch}>
          <div className={classes.player}>{player}</div>
          {steps}
          {isWide ? (
            <div className={classes.below}>
              {below}
              {summary}
            </div>
          ) : (
            summary
          )}
        </div>
      )}
      {player === null && summary !== null ? <div className={classes.below}>{summary}</div> : null}
      {transcriptPanel === null ? null : <div className={classes.read}>{transcriptPanel}</div>}
      {isWide || player === null ? null : <div className={classes.below}>{below}</div>}
      <ShortcutsHelp isOpen={isHelpOpen} onClose={help.close} isReadOnly />
    </div>
  );
}
