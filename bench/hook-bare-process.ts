import { Agent, fetch } from "undici";
import type { BarePosts, SentMessage } from "./hook-receiver.ts";

/** What posting costs at the very least: the same client, a loop for each request at a time, and nothing else. */
process.on("message", (task: BarePosts) => {
  post(task).then(
    () => process.send?.({ isDone: true }),
    (error: Error) => process.send?.({ error: error.message }),
  );
});
process.on("disconnect", () => process.exit());

const agent = new Agent({ connections: 64, pipelining: 1 });

async function post({ client, origin, path, count, concurrency, messages }: BarePosts): Promise<void> {
  const clients = {
    request: async (message: SentMessage): Promise<number> => {
      const { statusCode, body } = await agent.request({ origin, path, method: "POST", ...message });
      await body.dump();
      return statusCode;
    },
    fetch: async (message: SentMessage): Promise<number> => {
      const response = await fetch(origin + path, { dispatcher: agent, method: "POST", ...message });
      await response.arrayBuffer();
      return response.status;
    },
  };
  let next = 0;
  const loop = async (): Promise<void> => {
    while (next < count) {
      const message = messages[next % messages.length];
      next += 1;
      if (message === undefined) throw new Error("there is nothing to post");
      const status = await clients[client](message);
      if (status !== 200) throw new Error(`the receiver returned ${status}`);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, loop));
}
