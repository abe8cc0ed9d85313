/** Player settings, stored on this device. */
export interface Preferences {
  readonly rate: number;
  readonly volume: number;
  readonly isMuted: boolean;
  readonly hasCaptions: boolean;
  readonly hasShortcuts: boolean;
  readonly skipsSilence: boolean;
}

const key = "parley.player";

const defaults: Preferences = {
  rate: 1,
  volume: 1,
  isMuted: false,
  hasCaptions: false,
  hasShortcuts: true,
  skipsSilence: false,
};

/** The playback rates to choose from. */
export const rates = [0.5, 0.75, 1, 1.25, 1.5, 1.75, 2, 2.5, 3] as const;

export function readPreferences(): Preferences {
  try {
    const raw: unknown = JSON.parse(localStorage.getItem(key) ?? "{}");
    if (typeof raw !== "object" || raw === null) return defaults;
    const { rate, volume, isMuted, hasCaptions, hasShortcuts, skipsSilence } = raw as Record<string, unknown>;
    return {
      rate: within(rate, 0.5, 3) ?? defaults.rate,
      volume: within(volume, 0, 1) ?? defaults.volume,
      isMuted: isMuted === true,
      hasCaptions: hasCaptions === true,
      hasShortcuts: hasShortcuts !== false,
      skipsSilence: skipsSilence === true,
    };
  } catch {
    // Storage is blocked or holds invalid data.
    return defaults;
  }
}

export function writePreferences(preferences: Preferences): void {
  try {
    localStorage.setItem(key, JSON.stringify(preferences));
  } catch {
    // Storage is blocked or full: the setting lasts until the page is left.
  }
}

function within(value: unknown, min: number, max: number): number | undefined {
  return typeof value === "number" && value >= min && value <= max ? value : undefined;
}
