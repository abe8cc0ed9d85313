import { Command, Option } from "commander";
import type { FirstAccount } from "../server/accounts/service.ts";
import { type Config, readConfig, unknownSettings } from "../server/config.ts";
import { startServer } from "../server/main.ts";

export function serveCommand(): Command {
  return new Command("serve")
    .description("run the server")
    .addOption(new Option("--role <role>", "which parts to run").choices(["all", "api", "worker"]))
    .action(async (options: { role?: string }) => {
      const env = options.role === undefined ? process.env : { ...process.env, PARLEY_ROLE: options.role };
      await serve(readConfig(env, process.cwd()));
    });
}

/** Ctrl-C under npm arrives twice, from the terminal and from npm: that is one wish. */
const sameSignalMs = 1500;

/** Longer than requests and jobs together are waited for. */
const stopDeadlineMs = 60_000;

/** Runs until a signal ends it. A second signal ends it at once. */
async function serve(config: Config): Promise<void> {
  for (const name of unknownSettings(process.env))
    console.error(`parley: ${name} is no setting of this version`);
  const { promise: ended, resolve: end } = Promise.withResolvers<string>();
  let endingSince: number | null = null;
  const onSignal = (signal: string): void => {
    if (endingSince === null) {
      endingSince = Date.now();
      end(signal);
    } else if (Date.now() - endingSince > sameSignalMs) process.exit(1);
  };
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, onSignal);

  const server = await startServer(config, (error) => {
    console.error(`parley: ${error.message}`);
    process.exitCode = 1;
    onSignal("database lost");
  });
  if (config.role !== "worker") process.stdout.write(banner(config, server.firstAccount));
  const reason = await ended;
  server.log.info({ reason }, "stopping");
  setTimeout(() => {
    server.log.error("could not stop in time; ending all the same");
    process.exit(1);
  }, stopDeadlineMs).unref();
  await server.stop();
  server.log.info("stopped");
  process.exit();
}

/** What a person needs to begin: address, sign-in, and a line to paste. */
function banner(config: Config, first: FirstAccount | null): string {
  const token = first?.token ?? `$(npx parley token create --email YOUR_EMAIL --expires-in 1d)`;
  const lines = [
    "",
    `  Parley is running at ${config.baseUrl}`,
    `  Sign in at           ${config.baseUrl}/sign-in`,
    `  API reference        ${config.baseUrl}/docs`,
    "",
    ...(first
      ? [
          "  Sign-in (shown only now, so keep it):",
          `    email     ${first.email}`,
          `    password  ${first.password}`,
          "",
        ]
      : []),
    first ? "  Try it:" : "  Try it (put your email in):",
    `    curl -s -X POST ${config.baseUrl}/_/public-api/v2/users -H "Authorization: Bearer ${token}" -H 'Public-Api-Version: 2026-10-01'`,
    "",
    first ? "  Fill a sample workspace: npx parley demo" : "",
    "",
  ];
  return `${lines.join("\n").replace(/\n{3,}/g, "\n\n")}\n`;
}
