import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { useClipboard } from "../recording/clipboard.ts";
import { createPlayback, type Playback } from "../recording/player/playback.ts";
import { createMoments, type Film, type Watching } from "../recording/watching.ts";
import { pageAddress, type SharedAddress } from "./address.ts";
import { type Item, sharedQuery, sharedTranscriptQuery, type View } from "./api.ts";
import { useStillShown } from "./use-still-shown.ts";

/** What each page of a link is given. */
export interface PageProps {
  readonly view: View;
  readonly address: SharedAddress;
  readonly access: string | null;
}

/** Which of the things is on, and how its playing stands. */
interface Turn {
  readonly id: string;
  readonly playback: Playback;
  /** Begins by itself: the person has begun to watch. */
  readonly isOnItsOwn: boolean;
}

/** What of a link is watched: one thing, or those of a story one after the other. */
export function useTurns({ view, address }: PageProps) {
  const { items } = view;
  const [turn, setTurn] = useState((): Turn => {
    const first = items.find(({ id }) => id === address.itemId) ?? items[0];
    const startMs = address.startMs ?? view.start ?? undefined;
    return { id: first?.id ?? "", playback: createPlayback(startMs), isOnItsOwn: false };
  });
  // One that was taken out of the story in the meantime makes place for the first.
  const at = Math.max(
    0,
    items.findIndex(({ id }) => id === turn.id),
  );
  const go = (place: number): void => {
    const next = items[place];
    if (next === undefined) return;
    turn.playback.pause();
    // Preferences come along: in a frame there may be nowhere to keep them.
    setTurn({ id: next.id, playback: createPlayback(0, turn.playback.getState()), isOnItsOwn: true });
  };
  const goOn = (): void => {
    // What could not be cut is passed over; the rest is shown, to be played, read or waited for.
    const next = items.findIndex(({ state }, place) => place > at && state !== "failed");
    if (next >= 0) go(next);
  };
  return { item: items[at], at, turn, go, goOn };
}

export type Turns = ReturnType<typeof useTurns>;

/** Everything that player and transcript need of one thing that a link shows. */
export function useItem(props: PageProps & { item: Item; turns: Turns }) {
  const { view, address, access, item, turns } = props;
  const { token } = address;
  const { playback, isOnItsOwn } = turns.turn;
  const client = useQueryClient();
  const copy = useClipboard();
  const transcript = useQuery(sharedTranscriptQuery(token, access, item));
  const hasMedia = item.state === "ready" && item.media_url !== null;
  const { id, title, duration } = item;
  const hasWords = item.transcript_url !== null;
  const isStory = view.kind === "story";
  const watching = useMemo(
    (): Watching => ({
      id: `${token}/${id}`,
      title,
      durationMs: duration,
      hasWords,
      hasMedia,
      marks: [],
      playback,
      copyLink: (ms) => copy.link(pageAddress(token, isStory ? id : undefined), ms),
      ...createMoments(playback),
    }),
    [token, id, title, duration, hasWords, hasMedia, playback, copy, isStory],
  );
  const film = useMemo((): Film | null => (hasMedia ? filmOf(item) : null), [item, hasMedia]);
  useEffect(() => {
    if (isOnItsOwn && hasMedia) playback.play();
  }, [isOnItsOwn, hasMedia, playback]);
  const hasEnded = useSyncExternalStore(playback.subscribe, () => playback.getState().hasEnded);
  const look = useCallback(
    () => client.refetchQueries({ queryKey: sharedQuery(token, access).queryKey, exact: true }),
    [client, token, access],
  );
  useStillShown(playback, hasMedia ? item.media_url : null, look);
  const { goOn } = turns;
  // biome-ignore lint/correctness/useExhaustiveDependencies: only the end itself leads on.
  useEffect(() => {
    if (hasEnded) goOn();
  }, [hasEnded]);
  return {
    watching,
    transcript,
    film,
    renew: async () => {
      await look();
      const now = client
        .getQueryData(sharedQuery(token, access).queryKey)
        ?.items.find((one) => one.id === id);
      return now?.media_url ?? undefined;
    },
  };
}

function filmOf(item: Item): Film {
  return {
    isVideo: item.content_type === "video/mp4",
    src: item.media_url ?? undefined,
    poster: item.thumbnail_url,
    storyboard: item.storyboard,
    waveformUrl: item.waveform_url,
  };
}
