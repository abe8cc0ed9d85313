import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { openS3Store, type S3StoreOptions } from "../s3/s3.ts";
import type { ObjectStore } from "../store.ts";

/** A fake server: it handles each request as the test says. */
export async function withServer(
  answer: (incoming: IncomingMessage, response: ServerResponse) => void,
  use: (store: ObjectStore) => Promise<void>,
  options: Partial<S3StoreOptions> = {},
): Promise<void> {
  const fake: Server = createServer(answer);
  fake.listen(0, "127.0.0.1");
  await once(fake, "listening");
  const { port } = fake.address() as AddressInfo;
  const broken = openS3Store({
    bucket: "b",
    endpoint: `http://127.0.0.1:${port}`,
    forcePathStyle: true,
    ...options,
  });
  try {
    await use(broken);
  } finally {
    await broken.close();
    fake.closeAllConnections();
    fake.close();
  }
}
