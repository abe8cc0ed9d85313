/** Where a range of the recording is on the seek bar. */
export function span(start: number, end: number, durationMs: number): { left: string; width: string } {
  return { left: percent(start / durationMs), width: percent((end - start) / durationMs) };
}

export function percent(share: number): string {
  return `${(Math.min(1, Math.max(0, share)) * 100).toFixed(3)}%`;
}
