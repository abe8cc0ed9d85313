import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Browser, type BrowserContext, chromium } from "playwright-core";
import { closeBrowser } from "./processor-time.ts";
import { memoryFolder } from "./quick-folder.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const packageFolder = dirname(dirname(fileURLToPath(import.meta.resolve("@sparticuz/chromium"))));

/** The reason to skip browser tests on this system, for a test's `skip` option; false where they run. */
export const noChromium: string | false =
  !(process.platform === "linux" && process.arch === "x64") &&
  `npm's Chromium runs on Linux x64 only, and this is ${process.platform} ${process.arch}`;

/** The package's font wherever it has the character, whatever fonts are installed, so that pages measure the same everywhere. */
const fontSettings = `<fontconfig>
  <dir prefix="relative">fonts</dir>
  <dir>/usr/share/fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
  <match><edit name="family" mode="append_last"><string>Open Sans</string></edit></match>
  <alias><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias>
</fontconfig>
`;

/** Pages of tests are used for too short a time to be worth optimizing: without, they take a twelfth less processor time. */
const withoutOptimizing = "--js-flags=--no-maglev,--no-turbofan";

/**
 * Starts the Chromium of the npm package, never an installed one, so that every machine tests the same browser.
 * Leaves out the package's own flags, which run the browser in one process that exits with its first context and disable
 * web security.
 * @param hasScrollbars show scrollbars that take up space, as on a desktop.
 * @param isOptimizing compile scripts that are used much once more, as users' browsers do: where time is measured.
 * @throws Error on systems without a browser in the package.
 */
export async function launchChromium({ hasScrollbars = false, isOptimizing = false } = {}): Promise<Browser> {
  const options = await launchOptions();
  if (!isOptimizing) options.args.push(withoutOptimizing);
  const ignoreDefaultArgs = [...options.ignoreDefaultArgs, ...(hasScrollbars ? ["--hide-scrollbars"] : [])];
  return counted(await chromium.launch({ ...options, ignoreDefaultArgs }));
}

/**
 * The same browser with a profile in a folder, which survives when it is killed, and with fake devices: a tab with a moving
 * picture, a camera, and a microphone. Tab and microphone play a WAV file again and again.
 */
export async function launchWithDevices(profile: string, microphone: string): Promise<BrowserContext> {
  const options = await launchOptions();
  const context = await chromium.launchPersistentContext(profile, {
    ...options,
    args: [
      ...options.args,
      "--use-fake-device-for-media-stream=display-media-type=browser",
      "--use-fake-ui-for-media-stream",
      `--use-file-for-fake-audio-capture=${microphone}`,
    ],
    locale: "en-GB",
    timezoneId: "UTC",
    reducedMotion: "reduce",
    viewport: { width: 1280, height: 800 },
  });
  return counted(context);
}

/** Has a browser's processor time counted when it is closed. */
function counted<T extends { close(): Promise<void> }>(browser: T): T {
  const close = browser.close.bind(browser);
  return Object.assign(browser, { close: () => closeBrowser(close) });
}

async function launchOptions() {
  const folder = await chromiumFolder();
  return {
    executablePath: join(folder, "chromium"),
    args: ["--no-sandbox", "--autoplay-policy=no-user-gesture-required"],
    // Playwright keeps shared memory in files on disk, which takes a sixth of the system's time.
    ignoreDefaultArgs: memoryFolder() === null ? [] : ["--disable-dev-shm-usage"],
    env: {
      ...process.env,
      // Systems without a desktop often lack NSS.
      LD_LIBRARY_PATH: join(folder, "al2023", "lib"),
      FONTCONFIG_FILE: fontSettingsFile(folder),
    },
  };
}

/** Not written with the package, which was extracted by an earlier version of this file. */
function fontSettingsFile(folder: string): string {
  const file = join(folder, "fonts.conf");
  if (existsSync(file) && readFileSync(file, "utf8") === fontSettings) return file;
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, fontSettings);
  renameSync(draft, file);
  return file;
}

/**
 * Extracts the npm package once per version, into a temporary folder that is then renamed, because test files run in
 * parallel and may be killed. The package itself would use any `chromium` in the temporary folder.
 * @returns the folder with the browser, its libraries and fonts.
 */
export async function chromiumFolder(): Promise<string> {
  if (noChromium !== false) throw new Error(noChromium);
  const { version } = JSON.parse(readFileSync(join(packageFolder, "package.json"), "utf8"));
  const cache = join(root, "node_modules", ".cache");
  const folder = join(cache, `chromium-${version}`);
  if (existsSync(folder)) return folder;
  mkdirSync(cache, { recursive: true });
  const draft = mkdtempSync(join(cache, "chromium-draft-"));
  try {
    const script = `import chromium, { inflate } from "@sparticuz/chromium";
      await chromium.executablePath();
      await inflate(${JSON.stringify(join(packageFolder, "bin", "al2023.tar.br"))});`;
    // The package extracts to the temporary folder of its process.
    await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script], {
      cwd: root,
      env: { ...process.env, TMPDIR: draft },
    });
    try {
      renameSync(draft, folder);
    } catch (error) {
      // Another process finished first with the same files.
      if (!existsSync(folder)) throw error;
    }
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return folder;
}
