/** How long after the user's last input requests count as caused by the user: longer than any page waits before it reads. */
const inUseMs = 60_000;

let lastInput = Number.POSITIVE_INFINITY;

/** Whether the user has done nothing for so long that requests are the page's own. Never before `watchInput`. */
export function isIdle(): boolean {
  return Date.now() - lastInput > inUseMs;
}

/** Follows the input of the user, whatever stops its events. Scrolling by the page itself is none. */
export function watchInput(): void {
  if (lastInput !== Number.POSITIVE_INFINITY) return;
  const note = (): void => {
    lastInput = Date.now();
  };
  note();
  for (const event of ["pointerdown", "pointermove", "keydown", "wheel", "touchmove"])
    window.addEventListener(event, note, { capture: true, passive: true });
}
