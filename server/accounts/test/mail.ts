import { SMTPServer } from "smtp-server";

/** A real mail server that keeps the emails it receives. */
export interface TestMailServer {
  /** As PARLEY_SMTP_URL takes it. */
  readonly url: string;
  readonly mails: { readonly to: readonly string[]; readonly text: string }[];
  /** Refuses further emails with this status; null accepts them. */
  refuseWith(status: number | null): void;
  close(): Promise<void>;
}

/** Starts a mail server without TLS and authentication. */
export async function startMailServer(): Promise<TestMailServer> {
  const mails: { to: string[]; text: string }[] = [];
  let refusal: number | null = null;
  const server = new SMTPServer({
    authOptional: true,
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
        // Quoted-printable, as far as links go.
        const text = Buffer.concat(chunks)
          .toString()
          .replace(/=\r?\n/g, "")
          .replace(/=3D/g, "=");
        mails.push({ to: session.envelope.rcptTo.map(({ address }) => address), text });
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
