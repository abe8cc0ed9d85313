import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { skipWithout } from "../programs.ts";
import { until } from "../until.ts";
import { asJson, type WebDriver } from "./driver.ts";
import { makeHome, type Program, startProgram, within } from "./program.ts";

/** The reason to skip tests with Firefox, or false. */
export const noFirefox: string | false = skipWithout("firefox-esr", "pulseaudio", "timeout");

const preferences = {
  "ui.prefersReducedMotion": 1,
  // Pictures a second: drawing sixty of them without a graphics card takes most of the browser's processor time.
  "layout.frame_rate": 5,
  // As in the other browsers, no optimizing compiler; and one process for all pages, started when it is needed.
  "javascript.options.ion": false,
  "fission.autostart": false,
  "dom.ipc.processPrelaunch.enabled": false,
  "browser.newtab.preload": false,
  // A microphone and a camera that need no permission: the microphone plays a tone.
  "media.navigator.streams.fake": true,
  "media.navigator.permission.disabled": true,
  "app.update.disabledForTesting": true,
  "browser.safebrowsing.malware.enabled": false,
  "network.captive-portal-service.enabled": false,
  "network.connectivity-service.enabled": false,
};

/** A sound output that plays to nowhere: without any, Firefox runs no AudioContext. */
const soundModules = (socket: string): string[] => [
  `--load=module-native-protocol-unix auth-anonymous=1 socket=${socket}`,
  "--load=module-null-sink",
];

export interface Firefox extends WebDriver {
  /** From now on, the browser is as on a computer without speakers and without the system's codecs. */
  removeMedia(): Promise<void>;
}

/** Starts Debian's Firefox, which speaks WebDriver BiDi. */
export async function startFirefox(): Promise<Firefox> {
  const home = makeHome();
  const socket = join(home.folder, "sound");
  const programs: Program[] = [];
  const profile = join(home.folder, "profile");
  mkdirSync(profile);
  writeFileSync(
    join(profile, "user.js"),
    Object.entries(preferences)
      .map(([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});\n`)
      .join(""),
  );
  const close = async (): Promise<void> => {
    for (const program of programs.toReversed()) await program.stop();
    home.remove();
  };
  try {
    const sound = ["-n", "--exit-idle-time=-1", "--use-pid-file=no", ...soundModules(socket)];
    const speakers = startProgram("pulseaudio", sound, home.environment);
    programs.push(speakers);
    await until("the sound output is there", () => existsSync(socket));
    const remote = ["--remote-debugging-port", "0", "--remote-allow-system-access"];
    const firefox = startProgram(
      "firefox-esr",
      ["--headless", "--no-remote", "--profile", profile, ...remote, "about:blank"],
      { ...home.environment, PULSE_SERVER: `unix:${socket}`, MOZ_CRASHREPORTER_DISABLE: "1" },
    );
    programs.push(firefox);
    const [, url] = await firefox.line(/WebDriver BiDi listening on (ws:\S+)/);
    const { setPreference, ...driver } = await openSession(`${url}/session`);
    const removeMedia = async (): Promise<void> => {
      await speakers.stop();
      await setPreference("media.mp4.enabled", false);
    };
    return { ...driver, removeMedia, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openSession(url: string) {
  const complaints: string[] = [];
  const send = await connect(url, ({ method, params }) => {
    if (method === "log.entryAdded" && (params.level === "error" || params.level === "warn"))
      complaints.push(String(params.text));
  });
  const { capabilities } = await send("session.new", { capabilities: {} });
  await send("session.subscribe", { events: ["log.entryAdded"] });
  const { contexts } = await send("browsingContext.getTree", {});
  const context = contexts[0].context as string;
  const evaluateIn = async <T>(context: string, expression: string): Promise<T> => {
    const { result, exceptionDetails } = await send("script.evaluate", {
      expression: asJson(expression),
      target: { context },
      awaitPromise: true,
    });
    if (exceptionDetails !== undefined) throw new Error(exceptionDetails.text);
    return JSON.parse(result.value);
  };
  const driver: Omit<WebDriver, "close"> = {
    name: "Firefox",
    version: capabilities.browserVersion,
    takeComplaints: () => Promise.resolve(complaints.splice(0)),
    async navigate(url) {
      await send("browsingContext.navigate", { context, url, wait: "complete" });
    },
    evaluate: (expression) => evaluateIn(context, expression),
    async perform(actions) {
      await send("input.performActions", { context, actions });
    },
    async chooseFiles(selector, files) {
      const { nodes } = await send("browsingContext.locateNodes", {
        context,
        locator: { type: "css", value: selector },
      });
      const element = { sharedId: nodes[0].sharedId };
      await send("input.setFiles", { context, element, files });
    },
    async resize(width, height) {
      await send("browsingContext.setViewport", { context, viewport: { width, height } });
    },
    async screenshot() {
      const { data } = await send("browsingContext.captureScreenshot", { context });
      return Buffer.from(data, "base64");
    },
    async deleteCookies() {
      await send("storage.deleteCookies", {});
    },
  };
  /** As on the page about:config. */
  const setPreference = async (name: string, value: boolean): Promise<void> => {
    const { contexts } = await send("browsingContext.getTree", { "moz:scope": "chrome" });
    await evaluateIn(contexts[0].context, `Services.prefs.setBoolPref(${JSON.stringify(name)}, ${value})`);
  };
  return { ...driver, setPreference };
}

// biome-ignore lint/suspicious/noExplicitAny: each command has its own fields.
type Fields = any;

/** Opens the connection. @returns a function that sends a command and waits for its result. */
async function connect(url: string, onEvent: (event: Fields) => void) {
  const socket = new WebSocket(url);
  const pending = new Map<number, PromiseWithResolvers<Fields>>();
  let number = 0;
  socket.onmessage = ({ data }) => {
    const message = JSON.parse(String(data));
    const waiting = pending.get(message.id);
    pending.delete(message.id);
    if (waiting === undefined) onEvent(message);
    else if (message.type === "error") waiting.reject(new Error(`${message.error}: ${message.message}`));
    else waiting.resolve(message.result);
  };
  socket.onclose = () => {
    for (const { reject } of pending.values()) reject(new Error("Firefox closed the connection"));
  };
  const opened = new Promise<void>((resolve, reject) => {
    socket.onopen = () => resolve();
    socket.onerror = () => reject(new Error(`no connection to ${url}`));
  });
  await within(`a connection to ${url}`, opened);
  return (method: string, params: object): Promise<Fields> => {
    const result = Promise.withResolvers<Fields>();
    number += 1;
    pending.set(number, result);
    socket.send(JSON.stringify({ id: number, method, params }));
    return within(method, result.promise);
  };
}
