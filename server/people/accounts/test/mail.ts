import { SMTPServer } from "smtp-server";

/** A real mail server that keeps the emails it receives. */
export interface TestMailServer {
  /** As PARLEY_SMTP_URL takes it. */
  readonly url: string;
  readonly mails: {
    readonly to: readonly string[];
    /** Headers and decoded text. */
    readonly text: string;
    /** Decoded; empty: there is none. */
    readonly html: string;
    readonly raw: string;
  }[];
  /** Refuses further emails with this status; null accepts them. */
  refuseWith(status: number | null): void;
  close(): Promise<void>;
}

/** Starts a mail server without TLS and authentication. */
export async function startMailServer(): Promise<TestMailServer> {
  const mails: { to: string[]; text: string; html: string; raw: string }[] = [];
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
        const [head = ""] = raw.split("\r\n\r\n", 1);
        mails.push({
          to: session.envelope.rcptTo.map(({ address }) => address),
          text: `${head}\n\n${partsOf(raw)[0] ?? ""}`,
          html: partsOf(raw)[1] ?? "",
          raw,
        });
        done();
      });
    },
  });
  // A client that ends may reset its connection; tests look at the emails that arrived.
  server.on("error", () => undefined);
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

/** The decoded parts of an email. */
function partsOf(raw: string): string[] {
  const [head = "", ...rest] = raw.split("\r\n\r\n");
  const body = rest.join("\r\n\r\n");
  const boundary = /boundary="([^"]+)"/.exec(head)?.[1];
  if (boundary !== undefined)
    return body
      .split(`--${boundary}`)
      .filter((part) => part.startsWith("\r\n"))
      .flatMap((part) => partsOf(part.trim()));
  if (/^content-transfer-encoding: base64$/im.test(head)) return [Buffer.from(body, "base64").toString()];
  if (!/^content-transfer-encoding: quoted-printable$/im.test(head)) return [body];
  const bytes = body
    .replace(/=\r\n/g, "")
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return [Buffer.from(bytes, "latin1").toString()];
}
