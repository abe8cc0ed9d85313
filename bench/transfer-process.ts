import { createReadStream, statSync } from "node:fs";
import { request } from "node:http";
import { pipeline } from "node:stream/promises";

/** One file to send or to fetch. */
export interface TransferTask {
  readonly method: "GET" | "PUT";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** What is sent. */
  readonly path: string | null;
}

/** Does what its argument says and writes how many seconds it took. */
async function transfer({ method, url, headers, path }: TransferTask): Promise<number> {
  const startedAt = performance.now();
  const length = path === null ? {} : { "content-length": statSync(path).size };
  const sent = request(url, { method, headers: { ...headers, ...length } });
  const answered = new Promise<void>((resolve, reject) => {
    sent.on("error", reject);
    sent.on("response", (response) => {
      const status = response.statusCode ?? 0;
      if (status < 200 || status > 299) reject(new Error(`${url} returned ${status}`));
      response.resume().on("end", resolve).on("error", reject);
    });
  });
  if (path === null) sent.end();
  else await pipeline(createReadStream(path, { highWaterMark: 2 ** 20 }), sent);
  await answered;
  return (performance.now() - startedAt) / 1000;
}

process.stdout.write(String(await transfer(JSON.parse(process.argv[2] ?? "") as TransferTask)));
