import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { launchChromium } from "../test/support/chromium.ts";

/* Renders web/public/icon.svg as the PNG files that installed apps need. Run again after the icon has changed. */

const folder = new URL("../web/public/", import.meta.url);
const svg = readFileSync(new URL("icon.svg", folder), "utf8");
/** Systems cut a maskable icon to a circle of 80 % of its width, and the icon for iOS to rounded corners. */
const icons = [
  { name: "icon-192.png", size: 192, share: 1 },
  { name: "icon-512.png", size: 512, share: 1 },
  { name: "icon-maskable-512.png", size: 512, share: 0.72 },
  { name: "apple-touch-icon.png", size: 180, share: 0.86 },
];

const browser = await launchChromium();
try {
  for (const { name, size, share } of icons) {
    const page = await browser.newPage({ viewport: { width: size, height: size } });
    const fill = share === 1 ? "transparent" : "#3b5bdb";
    const width = Math.round(size * share);
    await page.setContent(
      `<style>body { display: grid; place-items: center; height: 100vh; margin: 0; background: ${fill} }
        svg { width: ${width}px; height: ${width}px }</style>${svg}`,
    );
    await page.screenshot({ path: fileURLToPath(new URL(name, folder)), omitBackground: true });
    await page.close();
  }
} finally {
  await browser.close();
}
