import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { useClipboard } from "../common/clipboard.ts";
import { createSeeking, type MediaSource, type PlayerContextValue } from "../player/context.ts";
import { createPlayback, type Playback } from "../player/playback.ts";
import { useLineStart } from "../transcript/use-line-start.ts";
import { type Item, sharedQuery, sharedTranscriptQuery, type View } from "./api.ts";
import { type LinkUrl, linkPageUrl } from "./url.ts";
import { useRevocationCheck } from "./use-revocation-check.ts";

/** Properties of the link's pages. */
export interface PageProps {
  readonly view: View;
  readonly address: LinkUrl;
  readonly access: string | null;
}

/** The current item and its playback. */
interface PlaylistEntry {
  readonly id: string;
  readonly playback: Playback;
  /** Whether it plays automatically, after the user has started the story. */
  readonly autoPlays: boolean;
}

/** The items of a link: one, or those of a story in sequence. */
export function usePlaylist({ view, address }: PageProps) {
  const { items } = view;
  const [entry, setEntry] = useState((): PlaylistEntry => {
    const first = items.find(({ id }) => id === address.itemId) ?? items[0];
    const startMs = address.startMs ?? view.start ?? undefined;
    return { id: first?.id ?? "", playback: createPlayback(startMs), autoPlays: false };
  });
  // An item removed from the story meanwhile is replaced by the first.
  const at = Math.max(
    0,
    items.findIndex(({ id }) => id === entry.id),
  );
  const go = (index: number): void => {
    const next = items[index];
    if (next === undefined) return;
    entry.playback.pause();
    // Preferences are passed on, because embeds may have no storage.
    setEntry({ id: next.id, playback: createPlayback(0, entry.playback.getState()), autoPlays: true });
  };
  const playNext = (): void => {
    // Failed clips are skipped; others are shown even if they are not ready.
    const next = items.findIndex(({ state }, index) => index > at && state !== "failed");
    if (next >= 0) go(next);
  };
  return { item: items[at], at, entry, go, playNext };
}

export type Playlist = ReturnType<typeof usePlaylist>;

/** Everything that player and transcript need for one item. */
export function useItem(props: PageProps & { item: Item; playlist: Playlist }) {
  const { view, address, access, item, playlist } = props;
  const { token } = address;
  const { playback, autoPlays } = playlist.entry;
  const client = useQueryClient();
  const copy = useClipboard();
  const transcript = useQuery(sharedTranscriptQuery(token, access, item));
  const hasMedia = item.state === "ready" && item.media_url !== null;
  const { id, title, duration, chapters } = item;
  const hasTranscript = item.transcript_url !== null;
  const isStory = view.kind === "story";
  const player = useMemo(
    (): PlayerContextValue => ({
      id: `${token}/${id}`,
      title,
      durationMs: duration,
      hasTranscript,
      hasMedia,
      markers: [],
      chapters,
      playback,
      copyLink: (ms) => copy.link(linkPageUrl(token, isStory ? id : undefined), ms),
      ...createSeeking(playback),
    }),
    [token, id, title, duration, chapters, hasTranscript, hasMedia, playback, copy, isStory],
  );
  useLineStart(address.startMs, transcript.data?.segments, player);
  const source = useMemo((): MediaSource | null => (hasMedia ? mediaSourceOf(item) : null), [item, hasMedia]);
  useEffect(() => {
    if (autoPlays && hasMedia) playback.play();
  }, [autoPlays, hasMedia, playback]);
  const hasEnded = useSyncExternalStore(playback.subscribe, () => playback.getState().hasEnded);
  const refetchLink = useCallback(
    () => client.refetchQueries({ queryKey: sharedQuery(token, access).queryKey, exact: true }),
    [client, token, access],
  );
  useRevocationCheck(playback, hasMedia ? item.media_url : null, refetchLink);
  const { playNext } = playlist;
  // biome-ignore lint/correctness/useExhaustiveDependencies: only the end of playback starts the next item.
  useEffect(() => {
    if (hasEnded) playNext();
  }, [hasEnded]);
  return {
    player,
    transcript,
    source,
    refreshSource: async () => {
      await refetchLink();
      const now = client
        .getQueryData(sharedQuery(token, access).queryKey)
        ?.items.find((one) => one.id === id);
      return now?.media_url ?? undefined;
    },
  };
}

function mediaSourceOf(item: Item): MediaSource {
  return {
    isVideo: item.content_type === "video/mp4",
    src: item.media_url ?? undefined,
    poster: item.thumbnail_url,
    storyboard: item.storyboard,
    waveformUrl: item.waveform_url,
  };
}
