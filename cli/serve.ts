import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { type Command, Option } from "commander";
import { startServer } from "../server/main.ts";
import type { FirstAccount } from "../server/people/accounts/service.ts";
import { type Config, ConfigError, readConfig, retiredSettings } from "../server/platform/config/config.ts";
import { preflight } from "../server/preflight.ts";
import { writeSecretFile } from "./support/secret-file.ts";

export function serveCommand(command: Command): Command {
  return command
    .addOption(
      new Option("--role <role>", "which part of the server to run").choices(["all", "api", "worker"]),
    )
    .addOption(new Option("--build-web", "build the web app first if it is out of date").default(false))
    .addOption(new Option("--web-folder <folder>", "serve the web app from this folder").hideHelp())
    .action(async (options: { role?: string; buildWeb: boolean; webFolder?: string }) => {
      const env = options.role === undefined ? process.env : { ...process.env, PARLEY_ROLE: options.role };
      const config = readConfig(env, process.cwd());
      for (const notice of retiredSettings(env)) console.error(`parley: ${notice}`);
      if (options.buildWeb && config.role !== "worker") {
        await preflight(config);
        await buildWeb();
      }
      await serve(config, options.webFolder ?? null);
    });
}

/**
 * In a separate process, because building takes much memory.
 * @throws ConfigError if the build fails; its own output says why.
 */
async function buildWeb(): Promise<void> {
  const script = fileURLToPath(new URL("../scripts/build-web.ts", import.meta.url));
  const child = spawn(process.execPath, [script], { stdio: ["ignore", 2, 2] });
  const [code] = await once(child, "exit");
  if (code !== 0)
    throw new ConfigError(
      "the web app could not be built, so the server did not start; see the output above",
    );
}

/** Under npm, one Ctrl-C arrives twice: from the terminal and from npm. */
const sameSignalMs = 1500;

/** Longer than the shutdown waits for requests and jobs after draining. */
const stopDeadlineMs = 60_000;

/** Runs until a signal stops it gracefully. A second signal exits immediately. */
async function serve(config: Config, webFolder: string | null): Promise<void> {
  const { promise: ended, resolve: end } = Promise.withResolvers<string>();
  let endingSince: number | null = null;
  const onSignal = (signal: string): void => {
    if (endingSince === null) {
      endingSince = Date.now();
      end(signal);
    } else if (Date.now() - endingSince > sameSignalMs) process.exit(1);
  };
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, onSignal);

  let signInFile: string | null = null;
  const server = await startServer(
    config,
    (error) => {
      console.error(`parley: ${error.message}`);
      process.exitCode = 1;
      onSignal("database lost");
    },
    async (account) => {
      signInFile = await writeSecretFile(
        process.stdout,
        config.dataDir,
        "first-sign-in.txt",
        firstSteps(config, account),
      );
    },
    webFolder,
  );
  if (config.role !== "worker") process.stdout.write(banner(config, server.firstAccount, signInFile));
  const reason = await ended;
  server.log.info({ reason }, "stopping");
  setTimeout(() => {
    server.log.error("shutdown timed out; exiting");
    process.exit(1);
  }, config.drainMs + stopDeadlineMs).unref();
  await server.stop();
  server.log.info("stopped");
  process.exit();
}

/** Start-up message. Prints secrets only on a terminal; otherwise the file that contains them. */
function banner(config: Config, first: FirstAccount | null, signInFile: string | null): string {
  const lines = [
    "",
    `  Parley is running at ${config.baseUrl}`,
    `  Sign in at           ${config.baseUrl}/sign-in`,
    `  API reference        ${config.baseUrl}/docs`,
    "",
  ];
  if (first && signInFile !== null)
    lines.push(
      "  The first admin's sign-in and an example request are in this file, readable only by the",
      "  server's system user. Delete it after signing in:",
      `    ${signInFile}`,
      "",
    );
  if (first === null)
    lines.push(
      "  Try it (replace YOUR_EMAIL):",
      curl(config, "$(npx parley token create --email YOUR_EMAIL --expires-in 1d)"),
      "",
    );
  const steps = first && signInFile === null ? firstSteps(config, first) : "";
  const demo = first ? "  Create a sample workspace: npx parley demo\n\n" : "";
  return `${lines.join("\n")}\n${steps}${demo}`;
}

/** The first admin's sign-in details and an example request. */
function firstSteps(config: Config, first: FirstAccount): string {
  return [
    "  Sign-in (not shown again, so save it):",
    `    email     ${first.email}`,
    `    password  ${first.password}`,
    "",
    "  Try it:",
    curl(config, first.token),
    "",
    "",
  ].join("\n");
}

function curl({ baseUrl }: Config, token: string): string {
  return `    curl -s -X POST ${baseUrl}/_/public-api/v2/users -H "Authorization: Bearer ${token}" -H 'Public-Api-Version: 2026-10-01'`;
}
