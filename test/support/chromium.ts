import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

/** The Chromium of the system where there is one; the one from npm otherwise. */
export async function launchChromium(): Promise<Browser> {
  const installed = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(
    (path) => existsSync(path),
  );
  const args = ["--no-sandbox", "--autoplay-policy=no-user-gesture-required"];
  if (installed !== undefined) return chromium.launch({ executablePath: installed, args });
  const { default: bundled } = await import("@sparticuz/chromium");
  return chromium.launch({
    executablePath: await bundled.executablePath(),
    args: [...bundled.args, ...args],
  });
}
