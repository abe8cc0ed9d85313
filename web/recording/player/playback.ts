import { type Preferences, rates, readPreferences, writePreferences } from "./preferences.ts";

/** A part that plays by itself: playing stops at its end. */
export interface PlayedClip {
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
}

/** How playing stands. Times in milliseconds. */
export interface PlaybackState extends Preferences {
  readonly timeMs: number;
  /** Zero until the file's head is there. */
  readonly durationMs: number;
  readonly isPlaying: boolean;
  /** Wants to play and waits for data. */
  readonly isWaiting: boolean;
  readonly hasFailed: boolean;
  /** Played to its end, and nobody went elsewhere since. */
  readonly hasEnded: boolean;
  readonly buffered: readonly (readonly [startMs: number, endMs: number])[];
  /** The part that is played; null: all of it. */
  readonly clip: PlayedClip | null;
  /** What a key just did, for the eye and for screen readers. */
  readonly hint: { readonly text: string; readonly number: number } | null;
}

export type Playback = ReturnType<typeof createPlayback>;

/** Often enough for the eye, seldom enough for the battery. */
const frameMs = 80;

/**
 * Holds what the page knows of a media element, and does what its controls ask. Parts of the page follow the parts of
 * the state that they show.
 * @param preferences where they can't be kept on the device: those of what was shown before.
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
  const listeners = new Set<() => void>();

  const set = (change: Partial<PlaybackState>): void => {
    state = { ...state, ...change };
    for (const listener of listeners) listener();
  };
  const prefer = (change: Partial<Preferences>): void => {
    set(change);
    const { rate, volume, isMuted, hasCaptions, hasKeys } = state;
    writePreferences({ rate, volume, isMuted, hasCaptions, hasKeys });
    applyPreferences();
  };
  const applyPreferences = (): void => {
    if (element === null) return;
    element.playbackRate = state.rate;
    element.volume = state.volume;
    element.muted = state.isMuted;
  };
  const hint = (text: string): void => set({ hint: { text, number: (state.hint?.number ?? 0) + 1 } });

  /** At the end of a clip, playing stops there. @returns whether it did. */
  const stopAtEnd = (timeMs: number): boolean => {
    if (state.clip === null || element === null || element.paused || element.seeking) return false;
    if (timeMs < state.clip.endMs) return false;
    element.pause();
    set({ timeMs: Math.max(timeMs, state.clip.endMs) });
    return true;
  };

  /** Follows the clock while playing: the element tells it four times a second at most. */
  const tick = (): void => {
    if (element === null || element.paused) return;
    const timeMs = element.currentTime * 1000;
    if (stopAtEnd(timeMs)) return;
    if (Math.abs(timeMs - state.timeMs) >= frameMs) set({ timeMs });
    frame = requestAnimationFrame(tick);
  };
  const readTime = (): void => {
    if (element === null || pendingMs !== null) return;
    const timeMs = element.currentTime * 1000;
    // Frames come only while the page is seen.
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
    // Who goes elsewhere has left the clip.
    if (state.clip !== null && (ms < state.clip.startMs || ms >= state.clip.endMs)) set({ clip: null });
    const most = state.durationMs > 0 ? state.durationMs : Number.POSITIVE_INFINITY;
    const target = Math.min(Math.max(0, ms), most);
    if (element === null || element.readyState < HTMLMediaElement.HAVE_METADATA) pendingMs = target;
    else element.currentTime = target / 1000;
    set({ timeMs: target, hasEnded: false });
  };
  // Refused by browsers that want a click first, and stopped by a new source: neither is a fault.
  const play = (): void => {
    // At a clip's end, to play is to go on.
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
    /** Takes the element that plays. @returns what lets go of it. */
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
    /** Where to go on once a new source is there. */
    keepPlace: () => {
      pendingMs = state.timeMs;
      set({ hasFailed: false });
    },
    /** Loads the same source again. */
    reload: () => {
      pendingMs = state.timeMs;
      set({ hasFailed: false });
      element?.load();
    },
    seek,
    /** Plays one part and stops at its end. */
    playClip: (clip: PlayedClip) => {
      set({ clip: null });
      seek(clip.startMs);
      set({ clip });
      play();
    },
    /** Leaves the clip and plays what comes after. */
    playOn: () => {
      set({ clip: null });
      play();
    },
    leaveClip: () => set({ clip: null }),
    skip: (ms: number) => {
      seek(state.timeMs + ms);
      hint(`${ms < 0 ? "Back" : "On"} ${Math.abs(ms) / 1000} s`);
    },
    play,
    pause,
    toggle: () => (element?.paused === false ? pause() : play()),
    setRate: (rate: number) => prefer({ rate }),
    /** The next faster or slower one. */
    stepRate: (direction: 1 | -1) => {
      const next =
        direction > 0 ? rates.find((rate) => rate > state.rate) : rates.findLast((rate) => rate < state.rate);
      prefer({ rate: next ?? state.rate });
      hint(`Speed ${state.rate}×`);
    },
    setVolume: (volume: number) => prefer({ volume, isMuted: volume === 0 }),
    toggleMute: () => {
      prefer({ isMuted: !state.isMuted, ...(state.isMuted && state.volume === 0 ? { volume: 0.5 } : {}) });
      hint(state.isMuted ? "Muted" : "Sound on");
    },
    toggleCaptions: () => {
      prefer({ hasCaptions: !state.hasCaptions });
      hint(state.hasCaptions ? "Captions on" : "Captions off");
    },
    setKeys: (hasKeys: boolean) => prefer({ hasKeys }),
  };
}
