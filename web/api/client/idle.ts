/** How long after the user's last input requests count as caused by the user: longer than any page waits before it reads. */
const inUseMs = 60_000;

let lastInput = Number.POSITIVE_INFINITY;

/** Whether the user has done nothing for so long that requests are the page's own. Never before input was first noted. */
export function isIdle(): boolean {
  return Date.now() - lastInput > inUseMs;
}

export function noteInput(): void {
  lastInput = Date.now();
}
