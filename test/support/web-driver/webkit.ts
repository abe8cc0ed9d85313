import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../port.ts";
import { skipWithout } from "../programs.ts";
import { until } from "../until.ts";
import { asJson, type WebDriver } from "./driver.ts";
import { makeHome, type Program, startProgram, within } from "./program.ts";

/** The reason to skip tests with WebKit, or false. */
export const noWebKit: string | false = skipWithout("WebKitWebDriver", "Xvfb", "timeout");

/** Options of WebKit's MiniBrowser, each a setting of WebKitGTK. */
const browserArguments = ["--automation", "--enable-media-stream=true", "--enable-mock-capture-devices=true"];

/**
 * Keeps what the page reports, because the driver discards the browser's output. Stored, so that it survives when the page
 * changes.
 */
const keepComplaints = `(() => {
  // What a page was loading when the next one replaces it fails.
  let isLeaving = false;
  addEventListener("beforeunload", () => { isLeaving = true; });
  const keep = (text) => {
    if (isLeaving) return;
    const kept = JSON.parse(sessionStorage.getItem("complaints") ?? "[]");
    sessionStorage.setItem("complaints", JSON.stringify([...kept, String(text)]));
  };
  for (const level of ["error", "warn"]) console[level] = (...words) => keep(words.join(" "));
  addEventListener("error", ({ message }) => keep(message));
  addEventListener("unhandledrejection", ({ reason }) => keep(reason));
})()`;
const takeComplaints = `(() => {
  const kept = JSON.parse(sessionStorage.getItem("complaints") ?? "[]");
  sessionStorage.removeItem("complaints");
  return kept;
})()`;

/** Starts Debian's WebKitGTK on a virtual display. Its driver speaks WebDriver over HTTP. */
export async function startWebKit(): Promise<WebDriver> {
  const home = makeHome();
  // GTK's setting is what WebKit reports as prefers-reduced-motion.
  const settings = join(home.folder, ".config", "gtk-3.0");
  mkdirSync(settings, { recursive: true });
  writeFileSync(join(settings, "settings.ini"), "[Settings]\ngtk-enable-animations=false\n");
  // The bars must not be wider than a phone.
  writeFileSync(join(settings, "gtk.css"), "* { padding: 0; margin: 0; min-width: 0; font-size: 1px; }\n");
  const programs: Program[] = [];
  const close = async (): Promise<void> => {
    for (const program of programs.toReversed()) await program.stop();
    home.remove();
  };
  try {
    const screen = ["-displayfd", "1", "-screen", "0", "1600x1200x24", "-nolisten", "tcp"];
    const display = startProgram("Xvfb", screen, home.environment);
    programs.push(display);
    const [, number] = await display.line(/(\d+)\n/);
    const port = await freePort();
    const driver = startProgram("WebKitWebDriver", [`--port=${port}`], {
      ...home.environment,
      DISPLAY: `:${number}`,
      NO_AT_BRIDGE: "1",
      LIBGL_ALWAYS_SOFTWARE: "1",
      // Without a graphics card, sharing what is drawn as graphics memory takes a third of the browser's processor time.
      WEBKIT_DISABLE_DMABUF_RENDERER: "1",
      // The optimizing compiler takes a fifth of the browser's processor time, and saves less of it in short journeys.
      JSC_useDFGJIT: "0",
    });
    programs.push(driver);
    const url = `http://127.0.0.1:${port}`;
    await until("WebKit's driver responds", () =>
      fetch(`${url}/status`).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
    return { ...(await openSession(url)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openSession(url: string): Promise<Omit<WebDriver, "close">> {
  const { sessionId, capabilities } = await request("POST", `${url}/session`, {
    capabilities: { alwaysMatch: { "webkitgtk:browserOptions": { args: browserArguments } } },
  });
  const send = (method: string, path: string, body?: object) =>
    request(method, `${url}/session/${sessionId}${path}`, body);
  const evaluate = async <T>(expression: string): Promise<T> => {
    const script = `const done = arguments[0];
      ${asJson(expression)}.then((value) => done({ value }), (error) => done({ error: String(error) }));`;
    const { value, error } = await send("POST", "/execute/async", { script, args: [] });
    if (error !== undefined) throw new Error(error);
    return JSON.parse(value);
  };
  return {
    name: "WebKit",
    version: capabilities.browserVersion,
    evaluate,
    takeComplaints: () => evaluate<string[]>(takeComplaints),
    async navigate(url) {
      await send("POST", "/url", { url });
      await evaluate(keepComplaints);
    },
    async perform(actions) {
      await send("POST", "/actions", { actions });
    },
    async chooseFiles(selector, paths) {
      const element = await send("POST", "/element", { using: "css selector", value: selector });
      const [id] = Object.values(element);
      await send("POST", `/element/${id}/value`, { text: paths.join("\n") });
    },
    async resize(width, height) {
      // The window has bars around the page.
      const bars = await evaluate<number[]>("[outerWidth - innerWidth, outerHeight - innerHeight]");
      const [besides = 0, above = 0] = bars;
      await send("POST", "/window/rect", { width: width + besides, height: height + above });
      await until(`WebKit's page has ${width} × ${height}`, () =>
        evaluate<boolean>(`innerWidth === ${width} && innerHeight === ${height}`),
      );
    },
    async screenshot() {
      return Buffer.from(await send("GET", "/screenshot"), "base64");
    },
    async deleteCookies() {
      await send("DELETE", "/cookie");
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: each command has its own result.
async function request(method: string, url: string, body?: object): Promise<any> {
  const response = await within(
    `${method} ${url}`,
    fetch(url, {
      method,
      // Commands without parameters send an empty object. Source: W3C WebDriver, "Processing model".
      ...(method === "POST" ? { body: JSON.stringify(body ?? {}) } : {}),
    }).then(async (one) => ({ ok: one.ok, text: await one.text() })),
  );
  const { value } = JSON.parse(response.text);
  if (!response.ok) throw new Error(`${value.error}: ${value.message}`);
  return value;
}
