import assert from "node:assert/strict";
import { after, test } from "node:test";
import { startMailServer } from "../test/mail.ts";
import { sendMail } from "./mailer.ts";

const server = await startMailServer();
after(() => server.close());
const smtp = { url: server.url, from: "Parley <parley@münchen.example>" };
const link = `https://parley.example.com/invitation/${"x".repeat(200)}?next=/a=b`;

test("mail: a long link stays in one piece, however a program reads the message", async () => {
  for (const [text, isPlain] of [
    [`Open this link:\n\n${link}\n\n.\nBye\n`, true],
    [`Jörg invites you:\n\n${link}\n`, false],
  ] as const) {
    await sendMail(smtp, { to: "ada@example.com", subject: "Grüße", text });
    const mail = server.mails.at(-1);
    assert.equal(mail?.text.split("\n\n").slice(1).join("\n\n").replaceAll("\r\n", "\n"), text);
    assert.equal(mail?.raw.includes(link), isPlain);
    assert.doesNotMatch(mail?.raw ?? "", /quoted-printable/i);
    assert.match(mail?.raw ?? "", /^Subject: =\?UTF-8\?/im);
  }
});

test("mail: international domains are sent in their ASCII form to servers without SMTPUTF8", async () => {
  await sendMail(smtp, { to: "ada@Bücher.example", subject: "Hello", text: "Hello\n" });
  const mail = server.mails.at(-1);
  assert.match(mail?.raw ?? "", /^To: ada@xn--bcher-kva\.example$/m);
  assert.match(mail?.raw ?? "", /^From: Parley <parley@xn--mnchen-3ya\.example>$/m);
});
