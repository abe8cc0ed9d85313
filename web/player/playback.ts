import { t } from "@lingui/core/macro";
import { number } from "../common/format/numbers.ts";
import type { SpokenRanges } from "../common/words.ts";
import { type Preferences, rates, readPreferences, writePreferences } from "./preferences.ts";

/** A range of the recording; playback stops at its end. */
export interface PlayedClip {
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
}

/** The state of playback. Times in milliseconds. */
export interface PlaybackState extends Preferences {
  readonly timeMs: number;
  /** 0 until the metadata is loaded. */
  readonly durationMs: number;
  readonly isPlaying: boolean;
  /** Playing, but waiting for data. */
  readonly isWaiting: boolean;
  readonly hasFailed: boolean;
  /** Played to the end, without a seek since. */
  readonly hasEnded: boolean;
  readonly buffered: readonly (readonly [startMs: number, endMs: number])[];
  /** The clip that is playing; null for the whole recording. */
  readonly clip: PlayedClip | null;
  /** What a shortcut just did, shown and announced. */
  readonly hint: { readonly text: string; readonly number: number } | null;
}

export type Playback = ReturnType<typeof createPlayback>;

/** Minimum change of the position between updates while playing. */
const frameMs = 80;

/** Silence plays for this long after speech and before it; less than the minimum is not skipped. */
const pauseAfterMs = 400;
const pauseBeforeMs = 300;
const minSkippedMs = 800;

/** Where speech continues if nobody speaks at a time; null: play on. */
function endOfSilence(spoken: SpokenRanges, timeMs: number): number | null {
  let [low, high] = [0, spoken.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    if ((spoken[middle]?.[0] ?? 0) <= timeMs) low = middle + 1;
    else high = middle - 1;
  }
  const [next, before] = [spoken[low], spoken[high]];
  if (next === undefined) return null;
  if (before !== undefined && timeMs < before[1] + pauseAfterMs) return null;
  const target = next[0] - pauseBeforeMs;
  return target - timeMs >= minSkippedMs ? target : null;
}

/** Rounded to milliseconds like transcripts: 4.35 s times 1000 is less than 4350, which would select the previous line. */
function positionOf(element: HTMLMediaElement): number {
  return Math.round(element.currentTime * 1000);
}

/**
 * The state and controls of a media element. Components subscribe to the parts of the state that they show.
 * @param preferences of the previous playback, for embeds where storage is blocked.
 */
export function createPlayback(initialMs: number | undefined, preferences = readPreferences()) {
  let state: PlaybackState = {
    ...preferences,
    timeMs: initialMs ?? 0,
    durationMs: 0,
    isPlaying: false,
    isWaiting: false,
    hasFailed: false,
    hasEnded: false,
    buffered: [],
    clip: null,
    hint: null,
  };
  let element: HTMLMediaElement | null = null;
  let pendingMs = initialMs ?? null;
  let frame = 0;
  let spoken: SpokenRanges = [];
  const listeners = new Set<() => void>();

  const set = (change: Partial<PlaybackState>): void => {
    state = { ...state, ...change };
    for (const listener of listeners) listener();
  };
  const prefer = (change: Partial<Preferences>): void => {
    set(change);
    const { rate, volume, isMuted, hasCaptions, hasShortcuts, skipsSilence } = state;
    writePreferences({ rate, volume, isMuted, hasCaptions, hasShortcuts, skipsSilence });
    applyPreferences();
  };
  const applyPreferences = (): void => {
    if (element === null) return;
    element.playbackRate = state.rate;
    element.volume = state.volume;
    element.muted = state.isMuted;
  };
  const hint = (text: string): void => set({ hint: { text, number: (state.hint?.number ?? 0) + 1 } });

  /** Pauses at the end of a clip. @returns whether it did. */
  const stopAtEnd = (timeMs: number): boolean => {
    if (state.clip === null || element === null || element.paused || element.seeking) return false;
    if (timeMs < state.clip.endMs) return false;
    element.pause();
    set({ timeMs: Math.max(timeMs, state.clip.endMs) });
    return true;
  };

  /** Updates the position on animation frames: `timeupdate` fires at most four times a second. */
  const tick = (): void => {
    if (element === null || element.paused) return;
    const timeMs = positionOf(element);
    if (stopAtEnd(timeMs)) return;
    const speechMs = state.skipsSilence && state.clip === null ? endOfSilence(spoken, timeMs) : null;
    if (speechMs !== null && !element.seeking) seek(speechMs);
    else if (Math.abs(timeMs - state.timeMs) >= frameMs) set({ timeMs });
    frame = requestAnimationFrame(tick);
  };
  const readTime = (): void => {
    if (element === null || pendingMs !== null) return;
    const timeMs = positionOf(element);
    // Animation frames stop while the page is hidden.
    if (!stopAtEnd(timeMs)) set({ timeMs });
  };
  const readBuffered = (): void => {
    if (element === null) return;
    const { buffered } = element;
    set({
      buffered: Array.from(
        { length: buffered.length },
        (_, i) => [buffered.start(i) * 1000, buffered.end(i) * 1000] as const,
      ),
    });
  };

  const handlers: Readonly<Record<string, () => void>> = {
    loadedmetadata: () => {
      if (element === null) return;
      set({ durationMs: element.duration * 1000, hasFailed: false });
      applyPreferences();
      if (pendingMs !== null) element.currentTime = pendingMs / 1000;
      pendingMs = null;
    },
    play: () => {
      set({ isPlaying: true, hasEnded: false });
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(tick);
    },
    pause: () => set({ isPlaying: false, isWaiting: false }),
    ended: () => set({ isPlaying: false, isWaiting: false, hasEnded: true }),
    waiting: () => set({ isWaiting: true }),
    playing: () => set({ isWaiting: false, hasFailed: false }),
    canplay: () => set({ isWaiting: false }),
    timeupdate: readTime,
    seeked: readTime,
    progress: readBuffered,
    error: () => set({ hasFailed: true, isPlaying: false, isWaiting: false }),
  };

  const seek = (ms: number): void => {
    // Seeking outside the clip leaves it.
    if (state.clip !== null && (ms < state.clip.startMs || ms >= state.clip.endMs)) set({ clip: null });
    const maxMs = state.durationMs > 0 ? state.durationMs : Number.POSITIVE_INFINITY;
    const target = Math.min(Math.max(0, ms), maxMs);
    if (element === null || element.readyState < HTMLMediaElement.HAVE_METADATA) pendingMs = target;
    else element.currentTime = target / 1000;
    set({ timeMs: target, hasEnded: false });
  };
  // play() rejects before the first click and when the source changes; neither is an error.
  const play = (): void => {
    // Playing at the end of a clip continues the recording.
    if (state.clip !== null && state.timeMs >= state.clip.endMs) set({ clip: null });
    void element?.play().catch(() => set({ isPlaying: false }));
  };
  const pause = (): void => element?.pause();

  return {
    getState: () => state,
    subscribe: (listener: () => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    /** Attaches the media element. @returns a function that detaches it. */
    attach: (media: HTMLMediaElement) => {
      element = media;
      for (const [name, handler] of Object.entries(handlers)) media.addEventListener(name, handler);
      if (media.readyState >= HTMLMediaElement.HAVE_METADATA) handlers.loadedmetadata?.();
      return () => {
        for (const [name, handler] of Object.entries(handlers)) media.removeEventListener(name, handler);
        cancelAnimationFrame(frame);
        pendingMs ??= state.timeMs;
        if (element === media) element = null;
      };
    },
    /** Keeps the position for the next source. */
    keepPosition: () => {
      pendingMs = state.timeMs;
      set({ hasFailed: false });
    },
    /** Reloads the same source. */
    reload: () => {
      pendingMs = state.timeMs;
      set({ hasFailed: false });
      element?.load();
    },
    seek,
    /** Plays a clip and stops at its end. */
    playClip: (clip: PlayedClip) => {
      set({ clip: null });
      seek(clip.startMs);
      set({ clip });
      play();
    },
    /** Leaves the clip and keeps playing. */
    keepPlaying: () => {
      set({ clip: null });
      play();
    },
    leaveClip: () => set({ clip: null }),
    skip: (ms: number) => {
      seek(state.timeMs + ms);
      hint(ms < 0 ? t`Back ${{ seconds: -ms / 1000 }} s` : t`Forward ${{ seconds: ms / 1000 }} s`);
    },
    play,
    pause,
    toggle: () => (element?.paused === false ? pause() : play()),
    setRate: (rate: number) => prefer({ rate }),
    /** Sets the next faster or slower rate. */
    stepRate: (direction: 1 | -1) => {
      const next =
        direction > 0 ? rates.find((rate) => rate > state.rate) : rates.findLast((rate) => rate < state.rate);
      prefer({ rate: next ?? state.rate });
      hint(t`Speed ${{ rate: number(state.rate) }}×`);
    },
    setVolume: (volume: number) => prefer({ volume, isMuted: volume === 0 }),
    toggleMute: () => {
      prefer({ isMuted: !state.isMuted, ...(state.isMuted && state.volume === 0 ? { volume: 0.5 } : {}) });
      hint(state.isMuted ? t`Muted` : t`Unmuted`);
    },
    toggleCaptions: () => {
      prefer({ hasCaptions: !state.hasCaptions });
      hint(state.hasCaptions ? t`Captions on` : t`Captions off`);
    },
    /** When someone speaks. */
    setSpoken: (ranges: SpokenRanges) => {
      spoken = ranges;
    },
    toggleSilence: () => {
      prefer({ skipsSilence: !state.skipsSilence });
      hint(state.skipsSilence ? t`Skipping silence` : t`Playing silence`);
    },
    setShortcuts: (hasShortcuts: boolean) => prefer({ hasShortcuts }),
  };
}
