import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { startMailServer } from "../test/mail.ts";
import { sendMail, sendQueuedMail, UnconfirmedMailError } from "./mailer.ts";

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

type Step = "MAIL" | "RCPT" | "DATA" | "end";

/** What a mail server does at one step of the dialogue; default: it accepts. */
type Behavior = Partial<Record<Step, (socket: Socket, accept: () => void) => void>>;

const replies: Record<Step, string> = {
  MAIL: "250 OK",
  RCPT: "250 OK",
  DATA: "354 Go ahead",
  end: "250 Queued",
};

/** Starts a mail server that behaves as described, and notes what it accepted. */
async function startPeer(behavior: Behavior) {
  const steps: string[] = [];
  const server = createServer((socket) => {
    let text = "";
    let isData = false;
    socket.on("error", () => undefined);
    const reach = (step: Step) => {
      const accept = () => {
        steps.push(step);
        isData = step === "DATA";
        socket.write(`${replies[step]}\r\n`);
      };
      const act = behavior[step];
      if (act === undefined) accept();
      else act(socket, accept);
    };
    socket.write("220 peer\r\n");
    const respond = (line: string) => {
      const command = line.slice(0, 4);
      if (isData) reach("end");
      else if (command === "MAIL" || command === "RCPT" || command === "DATA") reach(command);
      else if (command === "QUIT") socket.end("221 Bye\r\n");
      else socket.write("250 peer\r\n");
    };
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      for (;;) {
        const mark = isData ? "\r\n.\r\n" : "\r\n";
        const end = text.indexOf(mark);
        if (end === -1) return;
        const line = text.slice(0, end);
        text = text.slice(end + mark.length);
        respond(line);
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  after(() => server.close());
  const { port } = server.address() as { port: number };
  return { steps, smtp: { url: `smtp://127.0.0.1:${port}`, from: "parley@x.example" } };
}

const mail = { to: "jo@x.example", subject: "Hello", text: "Hello" };

/** Sends an email as a job does. @returns how it ended, and the mark as it stands then. */
async function sendMarked(behavior: Behavior) {
  const { smtp, steps } = await startPeer(behavior);
  let isMarked = false;
  let stepsBefore: string[] = [];
  const ended = await sendQueuedMail({ smtp, log: { warn() {} } }, mail, {
    async set() {
      stepsBefore = [...steps];
      isMarked = true;
    },
    async remove() {
      isMarked = false;
    },
  }).then(
    (isSent) => (isSent ? "sent" : "refused"),
    (error: Error) => error.message,
  );
  return { ended, isMarked, stepsBefore, steps };
}

test("an email is marked as sent only when the mail server has its text, so that a kill before that loses none", async () => {
  const { ended, isMarked, stepsBefore } = await sendMarked({
    MAIL: (_, accept) => setTimeout(accept, 50),
    DATA: (_, accept) => setTimeout(accept, 50),
  });
  assert.deepEqual([ended, isMarked, stepsBefore], ["sent", true, ["MAIL", "RCPT", "DATA"]]);
});

test("an email whose connection ends before its last line is sent again; one that may have been accepted is not", async () => {
  for (const step of ["MAIL", "RCPT", "DATA"] as const) {
    const { ended, isMarked } = await sendMarked({ [step]: (socket: Socket) => socket.destroy() });
    assert.match(ended, /could not be sent/, step);
    assert.equal(isMarked, false, step);
  }
  const { ended, isMarked } = await sendMarked({ end: (socket) => socket.destroy() });
  assert.deepEqual([ended, isMarked], ["sent", true]);
});

test("an email that a mail server refuses for now is sent again; one that it refuses for good is not", async () => {
  for (const step of ["MAIL", "RCPT", "DATA", "end"] as const) {
    const refuseWith = (status: number) =>
      sendMarked({ [step]: (socket: Socket) => socket.write(`${status} <jo@x.example> no\r\n`) });
    const later = await refuseWith(451);
    assert.match(later.ended, /could not be sent: .*\[recipient\]/, step);
    assert.equal(later.isMarked, false, step);
    const never = await refuseWith(550);
    assert.deepEqual([never.ended, never.isMarked], ["refused", false], step);
  }
});

test("a mail server may take long to accept an email that nobody waits for; one that never does gets it once", async () => {
  const limits = { sendMs: 300, acceptMs: 1500 };
  const slow = await startPeer({ end: (_, accept) => setTimeout(accept, 600) });
  await sendMail(slow.smtp, mail, { isPatient: true, limits });
  assert.deepEqual(slow.steps, ["MAIL", "RCPT", "DATA", "end"]);
  await assert.rejects(sendMail(slow.smtp, mail, { limits }), UnconfirmedMailError);
  const silent = await startPeer({ end: () => undefined });
  await assert.rejects(
    sendMail(silent.smtp, mail, { isPatient: true, limits: { ...limits, acceptMs: 300 } }),
    (error: Error) => error instanceof UnconfirmedMailError && /did not respond in time/.test(error.message),
  );
  const stuck = await startPeer({ RCPT: () => undefined });
  await assert.rejects(
    sendMail(stuck.smtp, mail, { isPatient: true, limits }),
    (error: Error) =>
      !(error instanceof UnconfirmedMailError) && /did not respond in time/.test(error.message),
  );
});

test("an email is discarded if it can't be marked, and a slow mark is waited for, also when the mail server hangs up", async () => {
  const { smtp, steps } = await startPeer({});
  const refuse = async () => Promise.reject(new Error("the email was removed meanwhile"));
  await assert.rejects(sendMail(smtp, mail, { beforeEnd: refuse, isPatient: true }), /removed meanwhile/);
  // Longer than the limit: the time that the database takes is not the mail server's.
  await sendMail(smtp, mail, {
    beforeEnd: () => sleep(500),
    isPatient: true,
    limits: { sendMs: 300, acceptMs: 2000 },
  });
  assert.deepEqual(steps.filter((step) => step === "end").length, 1);
  let isEnded = false;
  const hangingUp = await startPeer({
    DATA: (socket, accept) => {
      accept();
      setTimeout(() => socket.destroy(), 100);
    },
  });
  const markSlowly = async () => {
    await sleep(400);
    isEnded = true;
  };
  await assert.rejects(
    sendMail(hangingUp.smtp, mail, { beforeEnd: markSlowly, isPatient: true }),
    (error: Error) => !(error instanceof UnconfirmedMailError),
  );
  assert.ok(isEnded, "whether it is marked is known before the error");
});
