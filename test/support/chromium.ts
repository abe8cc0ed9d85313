import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const withoutScrollbars = "--hide-scrollbars";

/**
 * The Chromium of the system where there is one; the one from npm otherwise.
 * @param hasScrollbars with the scrollbars of a desktop, which take room; without, it has none to be seen.
 */
export async function launchChromium({ hasScrollbars = false } = {}): Promise<Browser> {
  const installed = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(
    (path) => existsSync(path),
  );
  const args = ["--no-sandbox", "--autoplay-policy=no-user-gesture-required"];
  const ignoreDefaultArgs = hasScrollbars ? [withoutScrollbars] : [];
  if (installed !== undefined) return chromium.launch({ executablePath: installed, args, ignoreDefaultArgs });
  const { default: bundled } = await import("@sparticuz/chromium");
  return chromium.launch({
    executablePath: await bundled.executablePath(),
    args: [...bundled.args.filter((arg) => !ignoreDefaultArgs.includes(arg)), ...args],
    ignoreDefaultArgs,
  });
}
