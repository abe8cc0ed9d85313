import { createHook } from "node:async_hooks";
import { test } from "node:test";
import { until } from "../../test/support/until.ts";
import { keepThreadPoolAwake } from "./thread-pool.ts";

test("the thread pool gets work again and again while nothing else happens", async () => {
  let operations = 0;
  const hook = createHook({
    init: (_id, type) => {
      if (type === "FSREQCALLBACK") operations++;
    },
  }).enable();
  keepThreadPoolAwake();
  await until("there were two operations", async () => operations >= 2);
  hook.disable();
});
