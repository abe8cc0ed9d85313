import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { decodeText } from "./text-encoding.ts";

const bytes = (...parts: readonly (string | readonly number[])[]): Uint8Array =>
  Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : Buffer.from(part))));

const utf16be = (text: string): Buffer => Buffer.from(text, "utf16le").swap16();

test("a byte order mark decides the encoding and is no part of the text", () => {
  const text = "Zoë: 会议 😀 \uFFFD\n";
  for (const [encoding, file] of [
    ["utf-8", bytes([0xef, 0xbb, 0xbf], text)],
    ["utf-16le", Buffer.from(`\uFEFF${text}`, "utf16le")],
    ["utf-16be", utf16be(`\uFEFF${text}`)],
  ] as const)
    assert.deepEqual(decodeText(file, { language: "ja" }), { text, encoding, isAssumed: false });
});

test("UTF-16 without a byte order mark is recognized by its zero bytes, in any language", () => {
  for (const text of [
    "1\r\n00:00:01,000 --> 00:00:02,000\r\nHi\r\n",
    "Где мы, и что дальше?\n",
    "一, 一人, 二.\n",
    "1\r\n00:00:01,000\r\n一下一次一起一个一样一天一年一月\u3000一些一点一定\r\n",
  ]) {
    assert.deepEqual(decodeText(Buffer.from(text, "utf16le")), {
      ...{ text, encoding: "utf-16le", isAssumed: false },
    });
    assert.deepEqual(decodeText(utf16be(text)), { text, encoding: "utf-16be", isAssumed: false });
  }
  assert.equal(decodeText(bytes("short\0 line\n")).encoding, "utf-8");
  const withZero = `${"many words ".repeat(20)}\0`;
  assert.equal(decodeText(bytes(withZero)).text, withZero);
});

test("text that isn't UTF-8 is read in the Windows code page of the language, and the result says so", () => {
  for (const [language, encoding, file, text] of [
    [undefined, "windows-1252", bytes("Zo", [0xeb], " ", [0x80, 0x93, 0x81]), "Zoë €“\u0081"],
    ["de-AT", "windows-1252", bytes("Gr", [0xfc, 0xdf], "e"), "Grüße"],
    ["ru", "windows-1251", bytes([0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2]), "Привет"],
    ["pl", "windows-1250", bytes([0xa3], "\u00f3d".slice(1), [0x9f]), "Łdź"],
    ["el", "windows-1253", bytes([0xc3, 0xe5, 0xe9, 0xdc]), "Γειά"],
    ["tr", "windows-1254", bytes("a", [0xf0], "a", [0xe7]), "ağaç"],
    ["he", "windows-1255", bytes([0xf9, 0xec, 0xe5, 0xed]), "שלום"],
    ["ar", "windows-1256", bytes([0xe3, 0xd1, 0xcd, 0xc8, 0xc7]), "مرحبا"],
    ["lt", "windows-1257", bytes([0xd0], "e"), "Še"],
    ["th", "windows-874", bytes([0xca, 0xc7, 0xd1, 0xca]), "สวัส"],
    ["ja", "shift_jis", bytes([0x89, 0xef, 0x8b, 0x63]), "会議"],
    ["ko", "euc-kr", bytes([0xc8, 0xb8, 0xc0, 0xc7]), "회의"],
    ["zh-CN", "gb18030", bytes([0xbb, 0xe1, 0xd2, 0xe9]), "会议"],
    ["zh_TW", "big5", bytes([0xb7, 0x7c, 0xc4, 0xb3]), "會議"],
    // Not all of it is in the code page: every byte is a character of windows-1252.
    ["ja", "windows-1252", bytes("Zo", [0xeb]), "Zoë"],
  ] as const)
    assert.deepEqual(decodeText(file, language === undefined ? {} : { language }), {
      ...{ text, encoding, isAssumed: true },
    });
});

test("a line of another encoding leaves the UTF-8 of the others intact", () => {
  const file = bytes("Zoë\nKöln\nGr", [0xfc, 0xdf], "e\n");
  const expected = { text: "Zoë\nKöln\nGrüße\n", encoding: "utf-8", isAssumed: true };
  assert.deepEqual(decodeText(file), expected);
  assert.deepEqual(decodeText(bytes([0xef, 0xbb, 0xbf], "Zoë\nKöln\nGr", [0xfc, 0xdf], "e\n")), expected);
});

test("no bytes decode to a replacement character that isn't in the file", () => {
  const languages = fc.constantFrom("und", "ru", "ja", "ko", "zh", "zh-TW", "th", "he", "vi");
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), languages, (file, language) => {
      const { text, encoding } = decodeText(file, { language });
      // These encodings have the character itself.
      assert.ok(!text.includes("\uFFFD") || /^(?:utf|gb18030)/.test(encoding));
      assert.ok(text.isWellFormed());
    }),
    { numRuns: 300 },
  );
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", minLength: 1 }), (text) => {
      assert.equal(decodeText(bytes([0xef, 0xbb, 0xbf], text)).text, text);
      assert.equal(decodeText(Buffer.from(`\uFEFF${text}`, "utf16le")).text, text);
    }),
    { numRuns: 100 },
  );
});
