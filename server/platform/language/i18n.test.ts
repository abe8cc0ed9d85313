import assert from "node:assert/strict";
import { test } from "node:test";
import { html } from "../html.ts";
import { createI18n, i18nFor } from "./i18n.ts";
import { acceptedLanguages } from "./request-language.ts";

const files = "{count, plural, one {# file} other {# files}} of <b>{name}</b>";
const german = await createI18n(
  "de",
  new Map([
    ["Hello {name},", "Hallo {name},"],
    ["Bye", ""],
    [files, "{count, plural, one {# Datei} other {# Dateien}} von {name}"],
    ["Broken", "{broken"],
  ]),
);

test("English is shown as written, with values and plurals", async () => {
  const i18n = await i18nFor(null);
  assert.equal(i18n.t("Don't add {name}", { name: "Ada {count}" }), "Don't add Ada {count}");
  assert.equal(i18n.t("{count, plural, one {# file} other {# files}}", { count: 1200 }), "1,200 files");
});

test("values and texts in HTML are escaped, and stay as they are in plain text", async () => {
  const i18n = await i18nFor("en");
  const name = "<i>\\u003cscript> {x}";
  assert.equal(i18n.t("By {name}", { name }), `By ${name}`);
  assert.deepEqual(
    i18n.t("Q&A by <b>{name}</b>, see <link>{title}</link>", {
      name,
      title: html`<i>Ti&amp;tle</i>`,
      b: (inner) => html`<b>${inner}</b>`,
      link: (inner) => html`<a href="/">${inner}</a>`,
    }),
    { html: 'Q&amp;A by <b>&lt;i&gt;\\u003cscript&gt; {x}</b>, see <a href="/"><i>Ti&amp;tle</i></a>' },
  );
});

test("pseudo-locales change the texts, but not values or tags", async () => {
  const i18n = await i18nFor("en-XA");
  assert.equal(i18n.t("Hello {name},", { name: "Ada" }), "Héļļó ~~Ada,~");
  assert.deepEqual(i18n.t("By <b>{name}</b>", { name: "Ada", b: (inner) => html`<b>${inner}</b>` }), {
    html: "Bý ~<b>Ada</b>",
  });
  assert.equal((await i18nFor("ar-XB")).t("Bye"), "\u202eBye\u202c");
});

test("a missing or unusable translation is shown in English and reported once", async () => {
  const reported: string[] = [];
  const listen = ({ name, message }: Error): unknown =>
    name === "TranslationWarning" && reported.push(message);
  process.on("warning", listen);
  assert.equal(german.t("Hello {name},", { name: "Ada" }), "Hallo Ada,");
  for (let time = 0; time < 2; time++) {
    assert.equal(german.t("Bye"), "Bye");
    assert.equal(german.t("Broken"), "Broken");
    assert.equal(german.t("Unknown"), "Unknown");
  }
  await new Promise(setImmediate);
  process.off("warning", listen);
  assert.deepEqual(
    reported.map((text) => text.replace(/:[^:]*$/, "")),
    ["there is no text in de", "the text in de can't be used: Broken", "there is no text in de"],
  );
});

test("a language that isn't offered is English", async () => {
  assert.equal((await i18nFor("xx")).language, "en");
  assert.equal((await i18nFor("../en")).language, "en");
});

test("Accept-Language is read by weight; what is malformed or refused counts for nothing", () => {
  assert.deepEqual(acceptedLanguages("fr-CH, fr;q=0.9, en;q=0.8, de;q=0.95, *;q=0.5"), [
    "fr-CH",
    "de",
    "fr",
    "en",
  ]);
  assert.deepEqual(acceptedLanguages("de;q=0, en ; Q=0.3,ja;q=x,<b>,,"), ["en"]);
  assert.deepEqual(acceptedLanguages(undefined), []);
  assert.deepEqual(acceptedLanguages("de,".repeat(1000)), []);
});
