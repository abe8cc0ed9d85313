import assert from "node:assert/strict";
import { test } from "node:test";
import { chooseLanguage } from "./languages.ts";

test("the first wanted language that is offered is chosen, also for a region", () => {
  const offered = ["en", "de", "ja", "en-XA"];
  assert.equal(chooseLanguage(["fr-CA", "de-AT", "en"], offered), "de");
  assert.equal(chooseLanguage(["en-XA"], offered), "en-XA");
  assert.equal(chooseLanguage(["en-GB", "de"], offered), "en");
  assert.equal(chooseLanguage(["DE"], offered), "de");
});

test("a language that only begins alike is not chosen, and English is the last resort", () => {
  assert.equal(chooseLanguage(["den", "jap", "", "*"], ["en", "de", "ja"]), "en");
  assert.equal(chooseLanguage([], ["en", "de"]), "en");
});
