import { SMTPServer } from "smtp-server";

/** A real mail server that keeps the emails it receives. */
export interface TestMailServer {
  /** As PARLEY_SMTP_URL takes it. */
  readonly url: string;
  readonly mails: {
    readonly to: readonly string[];
    /** Headers and decoded text. */
    readonly text: string;
    readonly raw: string;
  }[];
  /** Refuses further emails with this status; null accepts them. */
  refuseWith(status: number | null): void;
  close(): Promise<void>;
}

/** Starts a mail server without TLS and authentication. */
export async function startMailServer(): Promise<TestMailServer> {
  const mails: { to: string[]; text: string; raw: string }[] = [];
  let refusal: number | null = null;
  const server = new SMTPServer({
    authOptional: true,
    hideSMTPUTF8: true,
    disabledCommands: ["STARTTLS"],
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        if (refusal !== null) {
          const to = session.envelope.rcptTo.map(({ address }) => `<${address}>`).join();
          done(Object.assign(new Error(`${to}: not now`), { responseCode: refusal }));
          return;
        }
        const raw = Buffer.concat(chunks).toString();
        const [head = "", ...body] = raw.split("\r\n\r\n");
        const isEncoded = /^content-transfer-encoding: base64$/im.test(head);
        const content = body.join("\r\n\r\n");
        mails.push({
          to: session.envelope.rcptTo.map(({ address }) => address),
          text: `${head}\n\n${isEncoded ? Buffer.from(content, "base64").toString() : content}`,
          raw,
        });
        done();
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.server.address() as { port: number };
  return {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    refuseWith(status) {
      refusal = status;
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
