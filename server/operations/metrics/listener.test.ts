import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import { after, test } from "node:test";
import { freePort } from "../../../test/support/port.ts";
import { prepareServer } from "../../../test/support/server-process.ts";
import { until } from "../../../test/support/until.ts";
import { startServer } from "../../main.ts";
import { readConfig } from "../../platform/config/config.ts";

const { env, dispose } = await prepareServer();
after(dispose);

/** TCP ports that this process listens on. */
const listeners = (): number =>
  process.getActiveResourcesInfo().filter((resource) => resource === "TCPServerWrap").length;

for (const role of ["api", "worker", "all"])
  test(`role ${role} listens for metrics only with PARLEY_METRICS_ADDRESS`, async () => {
    const counts: number[] = [];
    for (const address of ["", String(await freePort())]) {
      await until("the ports of the test before are closed", () => listeners() === 0);
      const settings = {
        PARLEY_ROLE: role,
        PARLEY_METRICS_ADDRESS: address,
        PARLEY_LOG_LEVEL: "silent",
      };
      const server = await startServer(readConfig({ ...env, ...settings }, "."), (error) =>
        assert.fail(error),
      );
      counts.push(listeners());
      await server.stop();
    }
    const own = role === "worker" ? 0 : 1;
    assert.deepEqual(counts, [own, own + 1]);
  });

test("a port in use stops the start with one line that names the setting", async () => {
  const port = await freePort();
  const other = createServer().listen(port, "127.0.0.1");
  await once(other, "listening");
  const settings = { ...env, PARLEY_ROLE: "worker", PARLEY_METRICS_ADDRESS: String(port) };
  await assert.rejects(
    startServer(readConfig({ ...settings, PARLEY_LOG_LEVEL: "silent" }, "."), (error) => assert.fail(error)),
    /^Error: invalid setting: PARLEY_METRICS_ADDRESS can't be used: .*EADDRINUSE.*127\.0\.0\.1/,
  );
  other.close();
});
