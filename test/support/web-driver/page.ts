import { until } from "../until.ts";
import type { WebDriver } from "./driver.ts";

/** What to look for: a CSS selector, and the accessible name or a part of it. */
export type Target = readonly [selector: string, name: string];

/** Selectors by role. */
export const button = (name: string): Target => ['button, [role="button"]', name];
export const link = (name: string): Target => ["a[href]", name];
export const field = (name: string): Target => ["input, textarea", name];
export const heading = (name: string): Target => ["h1, h2, h3", name];
/** The innermost element with a text. */
export const text = (words: string): Target => ["body *:not(:has(*))", words];

/** Source: W3C WebDriver, "Keyboard actions". */
export const keys = { enter: "\uE007", escape: "\uE00C", control: "\uE009" } as const;

/**
 * Where an element is that can be clicked: visible, enabled, at rest, and nothing covers it. Elements with exactly the name
 * come before those whose name contains it.
 */
const locate = `async (selector, name) => {
  const clean = (text) => (text ?? "").replace(/\\s+/g, " ").trim();
  const nameOf = (element) => {
    const ids = element.getAttribute("aria-labelledby")?.split(" ") ?? [];
    if (ids.length > 0) return clean(ids.map((id) => document.getElementById(id)?.textContent).join(" "));
    return clean(element.getAttribute("aria-label") ?? element.labels?.[0]?.textContent ?? element.textContent);
  };
  const isShown = (element) =>
    element.checkVisibility({ visibilityProperty: true }) && !element.matches(":disabled");
  const isNamed = (element) => nameOf(element).includes(name);
  const found = [...document.querySelectorAll(selector)].filter((element) => isNamed(element) && isShown(element));
  const pointOf = (element) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    return { x: Math.round(x + width / 2), y: Math.round(y + height / 2) };
  };
  const isHit = (element) => {
    const { x, y } = pointOf(element);
    const hit = document.elementFromPoint(x, y);
    return hit !== null && [element, ...(element.labels ?? [])].some((one) => one.contains(hit) || hit.contains(one));
  };
  for (const element of found.toSorted((a, b) => (nameOf(b) === name) - (nameOf(a) === name))) {
    if (!isHit(element)) element.scrollIntoView({ block: "center", behavior: "instant" });
    if (!isHit(element)) continue;
    const before = pointOf(element);
    await new Promise((resolve) => setTimeout(resolve, 50));
    const { x, y } = pointOf(element);
    if (x === before.x && y === before.y && isHit(element)) return { x, y };
  }
  return null;
}`;

interface Point {
  readonly x: number;
  readonly y: number;
}

export type DrivenPage = ReturnType<typeof createPage>;

/** The tab of a browser, for tests that read as what a user does. */
export function createPage(driver: WebDriver, baseUrl: string) {
  const { evaluate } = driver;
  /** While the page changes to another one, nothing can be read. */
  const attempt = <T>(expression: string): Promise<T | undefined> =>
    evaluate<T | undefined>(expression).catch(() => undefined);
  /** Adds what the page shows instead, or why it can't be read. */
  const withPage = async (error: Error): Promise<never> => {
    const shown = await evaluate<string>(
      "location.href + ' shows ' + document.body.innerText.slice(0, 500)",
    ).catch(({ message }: Error) => `nothing can be read: ${message}`);
    throw new Error(`${error.message}; ${shown}`, { cause: error });
  };
  const waitFor = (what: string, expression: string): Promise<unknown> =>
    until(`${driver.name}: ${what}`, async () => (await attempt<unknown>(expression)) || undefined).catch(
      withPage,
    );
  const find = async ([selector, name]: Target, timeoutMs?: number): Promise<Point> =>
    until(
      `${driver.name}: ${selector} with the name ${name}`,
      async () => {
        const call = `(${locate})(${JSON.stringify(selector)}, ${JSON.stringify(name)})`;
        return (await attempt<Point | null>(call)) ?? undefined;
      },
      timeoutMs,
    ).catch(withPage);
  const open = (path: string) => driver.navigate(new URL(path, baseUrl).href);
  const move = ({ x, y }: Point) => ({ type: "pointerMove", x: Math.round(x), y: Math.round(y) });
  const pointer = (...actions: object[]) =>
    driver.perform([{ type: "pointer", id: "mouse", parameters: { pointerType: "mouse" }, actions }]);
  const [down, up] = [
    { type: "pointerDown", button: 0 },
    { type: "pointerUp", button: 0 },
  ];
  const strike = (...chords: (readonly string[])[]) =>
    driver.perform([
      {
        type: "key",
        id: "keyboard",
        actions: chords.flatMap((chord) => [
          ...chord.map((value) => ({ type: "keyDown", value })),
          ...chord.toReversed().map((value) => ({ type: "keyUp", value })),
        ]),
      },
    ]);
  return {
    driver,
    evaluate,
    waitFor,
    open,
    /** Opens a path that shows a target. A page that doesn't in 20 s is loaded once more, and `report` gets what it showed. */
    async openUntil(path: string, shows: Target, report: (problem: string) => void): Promise<void> {
      await open(path);
      const problem = await find(shows, 20_000).then(
        () => null,
        ({ message }: Error) => message,
      );
      if (problem === null) return;
      report(`loaded again: ${problem}`);
      await open(path);
      await find(shows);
    },
    /** Waits until the page shows a text. */
    sees: (words: string) =>
      waitFor(`the page shows "${words}"`, `document.body.innerText.includes(${JSON.stringify(words)})`),
    find,
    async click(target: Target): Promise<void> {
      await pointer(move(await find(target)), down, up);
    },
    /** Double-clicks until it has had its effect: on a busy machine, two clicks can be too far apart to count as one. */
    doubleClick: (target: Target, effect: Target): Promise<unknown> =>
      until(
        `${driver.name}: a double click on ${target[1]} shows ${effect[1]}`,
        async () => {
          const place = await find(target, 1000).catch(() => undefined);
          if (place !== undefined) await pointer(move(place), down, up, down, up);
          return find(effect, 3000).catch(() => undefined);
        },
        30_000,
      ),
    /** Selects what is between two points with the mouse. */
    drag: (from: Point, to: Point) => pointer(move(from), down, { ...move(to), duration: 100 }, up),
    /** Types into the focused field. */
    type: (words: string) => strike(...Array.from(words, (letter) => [letter])),
    /** Presses keys together, such as Control and A. */
    press: (...chord: string[]) => strike(chord),
  };
}
