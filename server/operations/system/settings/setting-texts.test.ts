import assert from "node:assert/strict";
import { after, test } from "node:test";
import "../../../../test/support/web-texts.ts";
import { shownSettings } from "../../../platform/config/settings.ts";
import { helpOf } from "./change.ts";

// By its URL: it is compiled with the types of browsers.
const texts = new URL("../../../../web/settings/system/setting-texts.ts", import.meta.url).href;
const {
  settingHelp,
  settingLabel,
}: { settingHelp: (name: string) => string | null; settingLabel: (name: string) => string } = await import(
  texts
);

// The app names its own URL where the server has `<base>`.
Object.defineProperty(globalThis, "location", { value: { origin: "<base>" }, configurable: true });
after(() => Reflect.deleteProperty(globalThis, "location"));

test("the web app's help of each setting is the server's, so that no setting lacks a text", () => {
  for (const setting of shownSettings) assert.equal(settingHelp(setting.name), helpOf(setting), setting.name);
});

test("each setting that the web app can change has a label", () => {
  const names = shownSettings.filter(({ where }) => where === "app").map(({ name }) => name);
  assert.ok(names.length > 30);
  assert.deepEqual(
    names.filter((name) => settingLabel(name) === name),
    [],
  );
});
