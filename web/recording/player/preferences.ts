/** What a person set once and finds again at the next recording, on this device. */
export interface Preferences {
  readonly rate: number;
  readonly volume: number;
  readonly isMuted: boolean;
  readonly hasCaptions: boolean;
  readonly hasKeys: boolean;
}

const key = "parley.player";

const defaults: Preferences = { rate: 1, volume: 1, isMuted: false, hasCaptions: false, hasKeys: true };

/** Slowest and fastest; between them in steps that people choose from. */
export const rates = [0.5, 0.75, 1, 1.25, 1.5, 1.75, 2, 2.5, 3] as const;

export function readPreferences(): Preferences {
  try {
    const raw: unknown = JSON.parse(localStorage.getItem(key) ?? "{}");
    if (typeof raw !== "object" || raw === null) return defaults;
    const { rate, volume, isMuted, hasCaptions, hasKeys } = raw as Record<string, unknown>;
    return {
      rate: within(rate, 0.5, 3) ?? defaults.rate,
      volume: within(volume, 0, 1) ?? defaults.volume,
      isMuted: isMuted === true,
      hasCaptions: hasCaptions === true,
      hasKeys: hasKeys !== false,
    };
  } catch {
    // Storage is shut, or holds what is not ours.
    return defaults;
  }
}

export function writePreferences(preferences: Preferences): void {
  try {
    localStorage.setItem(key, JSON.stringify(preferences));
  } catch {
    // Storage is shut or full: the choice holds for this page alone.
  }
}

function within(value: unknown, least: number, most: number): number | undefined {
  return typeof value === "number" && value >= least && value <= most ? value : undefined;
}
