import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { numberNames, readAnyCase, readSentence, sentenceOf, sentences, splitSentence } from "./sentences.ts";

test("each sentence is read as itself, with its values", () => {
  for (const [code, text] of Object.entries(sentences)) {
    const names = [...text.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
    const values = Object.fromEntries(
      names.map((name) => [name, numberNames.has(name) ? "7" : `some.${name}`]),
    );
    const filled = text.replace(/\{(\w+)\}/g, (_all, name: string) => values[name] ?? "");
    assert.deepEqual(readSentence(filled), { code, values }, code);
  }
  assert.equal(sentenceOf("workers", { count: 3 }), "3 workers run background jobs.");
});

test("a sentence that is not in the table stays as it is, and its known remedy is divided from it", () => {
  assert.equal(readSentence("The disk is full."), null);
  assert.equal(readSentence("PostgreSQL responds in 3 ms."), null);
  assert.equal(readSentence("Some workers run background jobs."), null);
  assert.equal(splitSentence("The disk is full."), null);
  const remedy = sentences.engine_remedy;
  assert.deepEqual(splitSentence(`The disk is full. ${remedy}`), ["The disk is full.", remedy]);
  const [first, rest] = [sentences.backups_off, sentenceOf("backups_ok", { time: "2026-11-28 03:00" })];
  assert.deepEqual(splitSentence(`${first} ${rest}`), [first, rest]);
});

test("each reason that a trigger gives for disabling a webhook is in the table", async () => {
  const sql = await readFile(new URL("../migrations/current/hooks.sql", import.meta.url), "utf8");
  const reasons = [...sql.matchAll(/'(the [^']+)'/g)].map(([, reason = ""]) => reason);
  assert.ok(reasons.length > 5);
  for (const reason of reasons) assert.notEqual(readSentence(reason), null, reason);
});

test("a reason within a sentence is read apart from it, and other words with a colon are not a host", () => {
  const reason = sentenceOf("net_at_host", { host: "cal.example", reason: sentences.net_refused });
  const problem = sentenceOf("calendar_unreachable", { reason });
  assert.deepEqual(readSentence(problem), { code: "calendar_unreachable", values: { reason } });
  assert.deepEqual(readSentence(reason)?.values, { host: "cal.example", reason: sentences.net_refused });
  assert.equal(readSentence("Some error: it broke"), null);
});

test("a sentence with a capital, a period, a library's words or a remedy with values is read", () => {
  const seconds = "5";
  const unread = sentenceOf("check_no_response", { seconds });
  assert.deepEqual(readAnyCase(`T${unread.slice(1)}.`), { code: "check_no_response", values: { seconds } });
  assert.deepEqual(splitSentence(`${sentences.net_refused} (connect ECONNREFUSED ::1:9)`), [
    sentences.net_refused,
    "(connect ECONNREFUSED ::1:9)",
  ]);
  const remedy = sentenceOf("model_server_remedy", { setting: "PARLEY_LLM_URL" });
  assert.deepEqual(splitSentence(`Some words. ${remedy}`), ["Some words.", remedy]);
});

test("a long text, which may be another server's, is not read as sentences, so that it takes no time", () => {
  const reason = sentences.net_refused;
  for (const noise of ["A. ".repeat(6800), "a: ".repeat(6800)]) {
    assert.equal(readSentence(sentenceOf("net_at_host", { host: "cal.example", reason: noise })), null);
    assert.equal(splitSentence(`${noise}${reason}`), null);
    assert.equal(splitSentence(`${reason} ${noise}`), null);
  }
});
