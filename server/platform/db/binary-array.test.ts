import assert from "node:assert/strict";
import { test } from "node:test";
import { startTestApp } from "../../../test/support/app.ts";
import { bigintArray, integerArray, textArray, timestampArray } from "./binary-array.ts";

const { db } = await startTestApp();

test("binary arrays: PostgreSQL reads what it would have read as text", async () => {
  const texts = ["", "a", null, 'quoted "{,}\\', "Grüße, 会議 🎙", "x".repeat(100_000)];
  const bigints = ["0", "-1", "9223372036854775807", "-9223372036854775808"];
  const integers = [0, null, -2147483648, 2147483647];
  const times = [new Date("2030-01-01T00:00:00.123Z"), null, new Date("1969-12-31T23:59:59.999Z")];
  const { rows } = await db.pool.query(
    "select $1::text[] as texts, $2::text[] as bytes, $3::bigint[] as bigints, $4::integer[] as integers, $5::timestamptz[] as times",
    [
      textArray(texts),
      textArray(texts.map((text) => (text === null ? null : Buffer.from(text)))),
      bigintArray(bigints),
      integerArray(integers),
      timestampArray(times),
    ],
  );
  assert.deepEqual(rows[0], { texts, bytes: texts, bigints, integers, times });
});

test("binary arrays: one of nothing is empty", async () => {
  const { rows } = await db.pool.query(
    "select cardinality($1::text[]) as texts, cardinality($2::bigint[]) as bigints",
    [textArray([]), bigintArray([])],
  );
  assert.deepEqual(rows[0], { texts: 0, bigints: 0 });
});
